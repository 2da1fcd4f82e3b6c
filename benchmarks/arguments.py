"""What the command lines of the noise, shapes, quality and how_many benchmarks have in common."""

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from variants import BEFORE, DEFAULT, VARIANTS

if TYPE_CHECKING:
    from runner import Load, Task

GROUPS = ("peers", "ours")


def one_thread() -> None:
    """Give each fit one thread; to be called before NumPy is imported."""
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ[variable] = "1"
    os.environ["NUMBA_THREADING_LAYER"] = "workqueue"  # the others do not survive a fork


def common_parser(about: str | None, out: Path, methods: Sequence[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = [*GROUPS, *methods]
    parser.add_argument("--out", type=Path, default=out, help="folder of the results")
    parser.add_argument("--methods", nargs="+", choices=names, metavar="METHOD", help=f"of {', '.join(names)}")
    parser.add_argument("--jobs", type=int, default=1, help="processes, of one thread each")
    parser.add_argument("--again", action="store_true", help="compute anew what is there already")
    return parser


def parser_of(about: str | None, out: Path, peers: Sequence[str]) -> argparse.ArgumentParser:
    parser = common_parser(about, out, [*peers, *VARIANTS])
    parser.add_argument("--variants", action="store_true", help="ours with each part switched off in turn, too")
    parser.add_argument("--before", action="store_true", help=f"record the default of this checkout as {BEFORE!r}")
    return parser


def arguments_of(about: str | None, out: Path, seeds: list[int], peers: Sequence[str]) -> argparse.Namespace:
    """Parse the command line of a benchmark whose tables are drawn anew with each seed."""
    parser = parser_of(about, out, peers)
    parser.add_argument("--seeds", nargs="*", type=int, default=seeds, help="of the tables and of the methods")
    return parser.parse_args()


def chosen_methods(given: argparse.Namespace, peers: Sequence[str]) -> list[str]:
    """Return the methods that were asked for and can run here: all peers and the default if none was named."""
    from methods import check_methods

    named = named_methods(given, peers, [DEFAULT])
    if given.variants:
        named += [name for name in VARIANTS if name not in named]
    if given.before:
        named = [BEFORE if name == DEFAULT else name for name in named]
    return check_methods(named)


def named_methods(given: argparse.Namespace, peers: Sequence[str], ours: Sequence[str]) -> list[str]:
    """Return the methods that were asked for, groups spelt out: all if none was named."""
    groups = {"peers": peers, "ours": ours}
    return [name for group in given.methods or GROUPS for name in groups.get(group, [group])]


def run_methods(tasks: Sequence["Task"], given: argparse.Namespace, load: "Load") -> None:
    """Run the fits of peers and ours into their files."""
    from peers import PEERS
    from runner import run

    for file, theirs in (("peers.csv", True), ("ours.csv", False)):
        if some := [task for task in tasks if (task.method in PEERS) == theirs]:
            run(some, given.out / file, load, given.jobs, again=given.again)
