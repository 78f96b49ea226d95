"""The command line `nilm`: what may be asked, and how a mistake is answered.

What each command does is `flows.command_line.commands`'.
argparse and late imports, so that `nilm --help` answers at once (docs/decisions/0081-command-line.md).
Results go to standard output, log lines and errors to standard error. Exit codes: 0 done, 1 the work failed,
2 the command was wrong, 130 interrupted.
"""

import argparse
import atexit
import gc
import sys
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path

from nilm.choices import ESTIMATORS, FORMATS, MUSIC_ESTIMATORS

FAILED, WRONG, INTERRUPTED = 1, 2, 130
INTERRUPTED_WORDS = "interrupted; nothing half-written remains, run the same command to go on"


def main(arguments: Sequence[str] | None = None) -> int:
    """Return the exit code of one command."""
    options = parser().parse_args(arguments)
    from flows.command_line import commands, terminal
    from flows.command_line.interrupts import heeded
    from flows.failures import in_words, is_interrupt, is_wrong_option

    atexit.register(gc.freeze)  # else the interpreter looks for garbage before it ends, for half a second
    terminal.speak(verbose=options.verbose)
    try:
        with heeded():
            for line in getattr(commands, options.command)(options):
                print(line, flush=True)
    except KeyboardInterrupt:
        return _last_words(INTERRUPTED_WORDS, INTERRUPTED)
    except BrokenPipeError:  # `nilm … | head`
        sys.stdout = None
        return FAILED
    except Exception as error:
        if is_interrupt(error):
            return _last_words(INTERRUPTED_WORDS, INTERRUPTED)
        if options.verbose:
            raise
        return _last_words(in_words(error), WRONG if is_wrong_option(error) else FAILED)
    return 0


def _last_words(text: str, code: int) -> int:
    print(f"nilm: {text}", file=sys.stderr)
    return code


def parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    top = argparse.ArgumentParser(
        prog="nilm",
        description="Which appliances are in the house, when each was on, and how sure we are.",
        epilog="Settings come from nilm.toml or NILM_* variables. `nilm COMMAND --help` says more.",
    )
    top.add_argument("--version", action="version", version=f"nilm {version('nilm-hopper')}")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def command(name: str, summary: str, *roots: str) -> argparse.ArgumentParser:
        made = commands.add_parser(name, help=summary, description=summary)
        made.add_argument("--verbose", action="store_true", help="show Prefect's log and whole tracebacks")
        for root in roots:
            setting = root[2:].replace("-", "_")
            made.add_argument(root, type=Path, metavar="DIR", help=f"instead of the setting {setting}")
        return made

    _work(command)
    _use(command)
    return top


def _work(command: Callable[..., argparse.ArgumentParser]) -> None:
    """The commands that make something out of recordings."""
    data, outputs = "--data-root", "--outputs-root"
    _simulate(
        command(
            "simulate", "Write a week of a simulated house, with its truth, as UK-DALE lies on disk.", data
        )
    )
    ingest = command("ingest", "Turn a week's recordings into one Parquet file of phase-locked cycles.", data)
    _house_and_week(ingest)
    _workers(ingest, "recordings read at a time")
    run = command(
        "run", "Work out a week, from recordings to report; redo only what is out of date.", data, outputs
    )
    _house_and_week(run)
    _workers(run, "recordings read at a time")
    _method(run)
    backfill = command(
        "backfill", "Work out many weeks and houses; one that fails does not stop the others.", data, outputs
    )
    _houses(backfill)
    _weeks(backfill, default="new", words="latest, or new: all with work to do (the default)")
    _workers(backfill, "weeks at a time")
    backfill.add_argument("--dask", metavar="ADDRESS", help="run on this Dask scheduler, tcp://host:8786")
    _method(backfill)
    _piano(command("piano", "Transcribe a piece of music and write the report of its notes.", data, outputs))
    _experiments(command("experiments", "Compute the paper's figures and tables again.", data, outputs))
    command(
        "demo",
        "Simulate a week of a lifelike house, work it out, say how good it is, and show the hopper at work.",
        data,
        outputs,
    )


def _use(command: Callable[..., argparse.ArgumentParser]) -> None:
    """The commands for somebody who reads what was made."""
    data, outputs = "--data-root", "--outputs-root"
    diagnose = command("diagnose", "Say what a finished week's data can and cannot tell apart.")
    diagnose.add_argument("folder", type=Path, metavar="outputs/HOUSE/WEEK", help="as `nilm run` names it")
    export = command("export", "Write published weeks for nilmtk, spreadsheets or Home Assistant.", outputs)
    export.add_argument("--format", required=True, choices=FORMATS)
    _houses(export)
    _weeks(export, default="all", words="latest, or all that are published (the default)")
    export.add_argument("--to", type=Path, metavar="DIR", help="default: the folder export of the outputs")
    name = command("name", "Name an appliance of a house, for this and all later weeks.", data)
    _appliance(name)
    name.add_argument("name", metavar="NAME", help='"kitchen fridge"')
    alone = command("ungroup", "Undo the suggestion that an appliance is a part of another.", data)
    _appliance(alone)
    alone.add_argument("--undo", action="store_true", help="suggest it again")
    serve = command(
        "serve", "Show the pages in a browser on this machine, where appliances can be named.", data, outputs
    )
    serve.add_argument("--port", type=int, default=8050, help="8050 if not given; 0 takes a free one")
    serve.add_argument(
        "--host",
        default="127.0.0.1",
        help="an address of this machine other than loopback: whoever reaches it can read and name",
    )


def _house_and_week(command: argparse.ArgumentParser) -> None:
    command.add_argument("--house", required=True, help="a folder of data/raw, house_1")
    _weeks(command, default="latest", words="new: all with work to do, or latest (the default)")


def _houses(command: argparse.ArgumentParser) -> None:
    command.add_argument("--house", action="append", metavar="HOUSE", help="repeat for several; default: all")


def _weeks(command: argparse.ArgumentParser, *, default: str, words: str) -> None:
    command.add_argument(
        "--weeks",
        "--week",
        default=default,
        metavar="WEEKS",
        help=f"2015-wk01, a range 2015-wk01:2015-wk08, a list with commas, {words}",
    )


def _appliance(command: argparse.ArgumentParser) -> None:
    command.add_argument("--house", required=True, help="a house with a finished week, house_1")
    command.add_argument("appliance_id", metavar="ID", help="as in the report, A03")


def _workers(command: argparse.ArgumentParser, what: str) -> None:
    command.add_argument("--workers", type=int, metavar="N", help=f"{what}; default: one per core")


def _method(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--components", type=_components, metavar="K", help="most appliances, 1 to 64; or auto"
    )
    command.add_argument("--estimator", metavar="NAME", help=f"one of {', '.join(ESTIMATORS)}")
    _seed(command)


def _seed(command: argparse.ArgumentParser, default: int | None = None) -> None:
    command.add_argument("--seed", type=int, default=default, help="of everything random, 0 or more")


def _piano(command: argparse.ArgumentParser) -> None:
    command.add_argument("audio", type=Path, metavar="FILE", help="wav, flac, ogg or mp3")
    command.add_argument(
        "--components", type=int, default=40, metavar="K", help="most notes, 40 if not given"
    )
    command.add_argument("--estimator", default="meibp", choices=MUSIC_ESTIMATORS)
    _seed(command)
    command.add_argument("--window-s", type=float, metavar="S", help="length of a spectrum's window")
    command.add_argument("--hop-s", type=float, metavar="S", help="time from spectrum to spectrum")
    command.add_argument("--max-hz", type=float, metavar="HZ", help="highest frequency kept")


def _experiments(command: argparse.ArgumentParser) -> None:
    command.add_argument("--only", default="", metavar="NAMES", help="with commas: table1,fig3")
    command.add_argument("--quick", action="store_true", help="fewer trials, for a first look")
    command.add_argument("--real-data", type=Path, metavar="DIR", help="recorded appliances and pianos")
    command.add_argument(
        "--labels", type=Path, action="append", metavar="FILE", help="more for table2; repeat"
    )


def _components(text: str) -> int | str:
    if text == "auto":
        return text
    if text.isascii() and text.isdigit() and int(text) > 0:
        return int(text)
    raise argparse.ArgumentTypeError(f"a whole number above 0, or auto; got {text!r}")


def _simulate(command: argparse.ArgumentParser) -> None:
    command.add_argument("--house", default="house_sim", help="its folder below data/raw; house_sim")
    _weeks(command, default="2015-wk01", words="2015-wk01 if not given")
    _seed(command, default=0)
    command.add_argument("--days", type=float, default=7.0, help="from Monday on, up to 7 (the default)")
    command.add_argument("--clean", action="store_true", help="loads that are on or off, ten of them")
    command.add_argument("--appliances", type=int, metavar="N", help="the same with so many, 1 to 100")
    command.add_argument(
        "--waveforms", type=Path, metavar="FILE.npz", help="real cycles instead of made ones"
    )
    command.add_argument("--habits", type=Path, metavar="FILE.npz", help="measured watts of a real house")
    command.add_argument("--continuous", action="store_true", help="the whole signal, about 200 MB an hour")
    command.add_argument(
        "--fault", action="append", default=[], metavar="KIND:HOUR", help="missing:5, clipped:7, …; repeat"
    )
    command.add_argument("--solar", action="store_true", help="with panels on the roof")


if __name__ == "__main__":
    sys.exit(main())
