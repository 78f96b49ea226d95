"""The machine that a benchmark ran on, for the head of its tables."""

import os


def machine_size() -> str:
    """Cores and memory in words: "2 cores, 23.4 GB of memory"."""
    memory_gb = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    return f"{len(os.sched_getaffinity(0))} cores, {memory_gb:.1f} GB of memory"
