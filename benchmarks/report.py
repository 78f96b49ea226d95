"""The report's page: seconds and bytes by number of appliances, against 20 s and 5 MB.

    python benchmarks/report.py [--quick]

The weeks are those of the tests (`make_week` of tests/nilm/report/conftest.py): a simulated house of seven
days at two minutes, with ranges and doubts. Seconds are given as they passed and as the processor worked, for
other work on the machine stretches the first; the first page of the process, which loads fonts, is drawn
before that.
"""

import argparse
import runpy
import time
from pathlib import Path

from machine import machine_size

from nilm.report.page import render_report

MAKE_WEEK = Path(__file__).parents[1] / "tests" / "nilm" / "report" / "conftest.py"
LIMIT_S, LIMIT_BYTES = 20, 5_000_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="up to ten appliances")
    sizes = (1, 10) if parser.parse_args().quick else (1, 10, 30, 100)
    make_week = runpy.run_path(str(MAKE_WEEK))["make_week"]
    render_report(make_week(n_appliances=1))
    print(f"# Report on {machine_size()}; limits {LIMIT_S} s and {LIMIT_BYTES / 1e6:.0f} MB")
    print("appliances  seconds  processor seconds     MB")
    for n in sizes:
        week = make_week(n_appliances=n, ranges=True)
        passed, worked = time.perf_counter(), time.process_time()
        page = render_report(week)
        passed, worked = time.perf_counter() - passed, time.process_time() - worked
        print(f"{n:10d}  {passed:7.1f}  {worked:17.1f}  {len(page.encode()) / 1e6:5.2f}")


if __name__ == "__main__":
    main()
