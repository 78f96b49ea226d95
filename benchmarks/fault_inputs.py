"""Mutated files through every reader: an answer or an error of our own, within ten seconds and 1 GB."""

import io
import json
import multiprocessing
import random
import resource
import time
import warnings
from collections.abc import Iterator
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path
from typing import Any

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from fault_bench import Failures, numbers_of, scratch
from fault_readers import Cases, readers

from lfm import LfmError
from nilm.errors import NilmError

LONGEST_S = 10.0  # of CPU, for one file
HANGS_S = 120.0  # of the clock on a busy machine
MOST_BYTES = 10**9
ADDRESS_SPACE = 12 * 10**9  # so that a mistake here costs one process and not the machine
START_S = 240.0  # to import and to make the sound files, on a busy machine
_HOSTILE_TEXT = [
    b"NaN",
    b"-1",
    b"1e999",
    b"null",
    b"[" * 2000,
    b"\x00",
    b"9" * 400,
    b"\xff",
    b"\n",
    b"=",
    b",",
]
_HOSTILE_VALUES: list[Any] = [
    None,
    True,
    -1,
    0,
    10**30,
    1e308,
    -0.0,
    "",
    "x" * 3000,
    "../x",
    "\ud800",
    [],
    {},
]
_HOSTILE_VALUES += [[[]], {"a": None}, float("nan"), float("inf"), "A01", "2015-wk01", "9999-wk52"]
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


def mutated_inputs(seed: int, trials: range) -> Failures:
    """What a reader answered a mutated file with that is not ours, or took too long or too much for.

    The readers run in a process of their own. When one hangs or takes too much memory that process is ended,
    and another goes on with the next trial.
    """
    failures: Failures = []
    context = multiprocessing.get_context("spawn")
    at = trials.start
    while at < trials.stop:
        beat, found = context.Value("q", -1), context.SimpleQueue()
        worker = context.Process(target=_work, args=(seed, range(at, trials.stop), beat, found))
        worker.start()
        last, since = -1, time.monotonic()
        while worker.is_alive():
            worker.join(0.2)
            if beat.value != last:
                last, since = beat.value, time.monotonic()
            if time.monotonic() - since > (HANGS_S if last >= 0 else START_S):
                worker.kill()
                worker.join()
                failures.append(f"trial {last}: does not end")
        while not found.empty():
            failures.append(found.get())
        if last < at:
            raise RuntimeError("the readers did not start")
        if worker.exitcode and last < trials.stop:
            failures.append(f"trial {last}: the process ended with {worker.exitcode}")
        at = trials.stop if worker.exitcode == 0 and last == trials.stop else last + 1
    return failures


def _work(seed: int, trials: range, beat: "Synchronized[int]", found: Any) -> None:
    """Try each trial; ends early, after a word, when one took too much memory."""
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    warnings.simplefilter("ignore")
    import logging

    logging.disable(logging.CRITICAL)
    with scratch() as folder:
        cases = readers(folder)
        names = sorted(cases)
        target = folder / "mutated"
        for trial in trials:
            beat.value = trial
            rng = numbers_of(seed, "mutation", trial)
            name = names[trial % len(names)]
            wrong = _tried(target / name, _mutated(cases, name, rng), cases)
            if wrong:
                found.put(f"trial {trial}, {name}: {wrong}")
            if resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 > MOST_BYTES:
                found.put(f"trial {trial}, {name}: more than 1 GB")
                return
    beat.value = trials.stop


def _tried(path: Path, content: bytes, cases: Cases) -> str:
    """What went wrong with one file, in words; empty if it was read, or refused with an error of our own."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    started = time.process_time()
    name = next(n for n in cases if str(path).endswith(f"mutated/{n}"))
    try:
        cases[name][1](path)
    except (NilmError, LfmError):
        pass
    except Exception as error:  # noqa: BLE001 - whatever it is, it is a finding
        return f"{error!r:.200} for {content[:60]!r}"
    took_s = time.process_time() - started
    return f"took {took_s:.0f} s" if took_s > LONGEST_S else ""


def _mutated(cases: Cases, name: str, rng: random.Random) -> bytes:
    """A file that is near a sound one, or JSON of any shape where JSON is expected."""
    sound = cases[name][0]
    if name.endswith(".json"):
        kind = rng.random()
        if kind < 0.4:
            return json.dumps(_changed_inside(json.loads(sound), rng)).encode("utf-8", "surrogatepass")
        if kind < 0.5:
            return json.dumps(next(_any_json(rng.randrange(2**32)))).encode("utf-8", "surrogatepass")
    if name.endswith(".npz") and rng.random() < 0.4:
        return _with_other_arrays(sound, rng)
    if name.endswith(".parquet") and rng.random() < 0.4:
        return _with_other_rows(sound, rng)
    return _changed_bytes(sound, rng)


def _with_other_arrays(sound: bytes, rng: random.Random) -> bytes:
    """A sound npz file in which one array is gone, or is another."""
    with np.load(io.BytesIO(sound)) as file:
        arrays = {name: file[name] for name in file.files}
    name = rng.choice(sorted(arrays))
    array = arrays.pop(name)
    others = [
        array[:0] if array.ndim else array,
        array.ravel(),
        array[None],
        array.astype(str),
        np.array("x"),
    ]
    others += [np.full(array.shape, value) for value in (np.nan, np.inf, -1, 2**63, 1e300)]
    others += [array[::-1] if array.ndim else array, np.zeros((0, 0)), np.array(["a"]), np.array([b"{}"])]
    if rng.random() < 0.9:
        arrays[name] = rng.choice(others)
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def _with_other_rows(sound: bytes, rng: random.Random) -> bytes:
    """A sound Parquet file with other rows, or without a column."""
    table = pq.read_table(io.BytesIO(sound))
    kind, n = rng.randrange(5), len(table)
    if kind == 0:
        table = table.drop_columns([rng.choice(table.column_names)])
    elif kind == 1:
        table = table.slice(0, rng.randrange(2))
    elif kind == 2:
        table = table.take(pa.array([rng.randrange(n) for _ in range(n)]))
    elif kind == 3:
        name = rng.choice(table.column_names)
        at = table.column_names.index(name)
        table = table.set_column(at, table.schema.field(at), pa.nulls(n, table.schema.field(at).type))
    else:
        at = rng.randrange(table.num_columns)
        table = table.set_column(at, table.column_names[at], pa.array(["x"] * n))
    buffer = io.BytesIO()
    try:
        pq.write_table(table, buffer)
    except pa.ArrowException:  # such a file cannot even be written
        return sound[: n // 2]
    return buffer.getvalue()


def _any_json(seed: int) -> Iterator[Any]:
    """Values that hypothesis draws."""
    drawn: list[Any] = []

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=3,
        database=None,
        deadline=None,
        phases=[hypothesis.Phase.generate],
        derandomize=False,
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.given(_JSON)
    def collect(value: Any) -> None:
        drawn.append(value)

    collect()
    yield from reversed(drawn)


def _changed_inside(value: Any, rng: random.Random) -> Any:
    """A JSON value in which one thing, somewhere, is another."""
    if isinstance(value, dict) and value and rng.random() < 0.85:
        key = rng.choice(sorted(value))
        if rng.random() < 0.1:
            return {k: v for k, v in value.items() if k != key}
        if rng.random() < 0.1:
            return {
                (rng.choice(["", "../x", "A1", "2015-wk99"]) if k == key else k): v for k, v in value.items()
            }
        return value | {key: _changed_inside(value[key], rng)}
    if isinstance(value, list) and value and rng.random() < 0.85:
        at = rng.randrange(len(value))
        return [*value[:at], _changed_inside(value[at], rng), *value[at + 1 :]]
    return rng.choice(_HOSTILE_VALUES)


def _changed_bytes(content: bytes, rng: random.Random) -> bytes:
    """The content with one to four changes of the kinds that disks, copies and people make."""
    data = bytearray(content)
    for _ in range(rng.randint(1, 4)):
        kind = rng.randrange(6)
        at = rng.randrange(len(data) + 1)
        if kind == 0 and data:
            data[at % len(data)] ^= 1 << rng.randrange(8)
        elif kind == 1:
            del data[at:]
        elif kind == 2:
            data[at:at] = rng.randbytes(rng.randint(1, 40))
        elif kind == 3:
            del data[at : at + rng.randint(1, 200)]
        elif kind == 4:
            data[at:at] = rng.choice(_HOSTILE_TEXT)
        else:
            data[at : at + 8] = bytes(8)
    return bytes(data)
