"""Write docs/reliability.md: what the package promises, and the tests that check it.

    python tools/reliability.py [--quick] [AREA ...]

Each file in tools/promises is an area. Its promises name tests, which are run here, slow ones included; what they
record with pytest's `record_property` is printed below the promise. The exit status is 1 if a promise is broken.
If areas are named, only they are run and written anew; the others stay as they are on the page. Each says when and at
which commit it was run. `--print` shows the page instead of writing it. `--again` rewrites the page from the latest
outcome of each test and the latest figures of `make coverage` and `make mutate`, without running anything.
"""

import argparse
import json
import platform
import re
import subprocess
import sys
import tomllib
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "benchmarks"))
from stamp import current_commit  # noqa: E402

PROMISES = ROOT / "tools" / "promises"
PAGE = ROOT / "docs" / "reliability.md"
REPORTS = ROOT / "build" / "reliability"
MUTATION = ROOT / "results" / "tests" / "mutation.json"
COVERAGE = ROOT / "results" / "tests" / "coverage.json"

INTRODUCTION = """\
# Reliability

What you can rely on, and the evidence for it. Each promise below is checked by tests in this repository; the figures
are those that the tests recorded when this page was last written. `make reliability` runs the tests and rewrites the
page.
"""
QUICK = "Slow tests, and slow cases of other tests, were left out (`--quick`)."
LEFT_OUT = "left out"


@dataclass(frozen=True)
class Promise:
    """State what a user can rely on, and name the tests that fail if it does not hold."""

    says: str
    tests: tuple[str, ...]


@dataclass(frozen=True)
class Area:
    """Hold the promises about one subject, from one file."""

    name: str
    title: str
    order: int
    promises: tuple[Promise, ...]


@dataclass
class Outcome:
    """Count how the cases of one test ended, and keep the figures they recorded."""

    counts: Counter[str] = field(default_factory=Counter)
    figures: list[tuple[str, str, str]] = field(default_factory=list)  # (what, value, parameters)

    @property
    def cases(self) -> int:
        return self.counts.total()


def read_areas(folder: Path = PROMISES) -> list[Area]:
    """Read every area, sorted by its `order`, then by name."""
    areas = []
    for path in folder.glob("*.toml"):
        content = tomllib.loads(path.read_text(encoding="utf-8"))
        promises = tuple(Promise(" ".join(p["says"].split()), tuple(p["tests"])) for p in content["promise"])
        title = content.get("title", path.stem.replace("-", " ").replace("_", " ").capitalize())
        areas.append(Area(path.stem, title, content.get("order", 100), promises))
    return sorted(areas, key=lambda area: (area.order, area.name))


def run_tests(areas: Sequence[Area], *, quick: bool) -> dict[str, Outcome]:
    """Run all tests that are named in one session; if `quick`, without the slow ones."""
    tests = sorted({test for area in areas for promise in area.promises for test in promise.tests})
    report = REPORTS / f"{'_'.join(area.name for area in areas)}.xml"
    report.parent.mkdir(parents=True, exist_ok=True)
    report.unlink(missing_ok=True)
    command = [sys.executable, "-m", "pytest", "-q", f"--junitxml={report}", "-o", "junit_family=xunit1", *tests]
    subprocess.run([*command, *(["-m", "not slow"] if quick else [])], cwd=ROOT, check=False)
    outcomes = read_report(report.read_text(encoding="utf-8"))
    if quick:
        for test in tests:
            outcomes.setdefault(test, Outcome(Counter({LEFT_OUT: 1})))
    return outcomes


def last_outcomes() -> dict[str, Outcome]:
    """Read the latest outcome of each test from the reports of earlier runs."""
    outcomes: dict[str, Outcome] = {}
    for report in sorted(REPORTS.glob("*.xml"), key=lambda path: path.stat().st_mtime):
        outcomes |= read_report(report.read_text(encoding="utf-8"))
    return outcomes


def read_report(text: str) -> dict[str, Outcome]:
    """Read a JUnit report: outcomes by test, without parameters (tests/test_x.py::test_y)."""
    outcomes: dict[str, Outcome] = {}
    for case in ElementTree.fromstring(text).iter("testcase"):
        name, _, parameters = case.get("name", "").partition("[")
        *_, own_class = case.get("classname", "").rsplit(".", 1)
        middle = f"{own_class}::" if own_class.startswith("Test") else ""
        outcome = outcomes.setdefault(f"{case.get('file')}::{middle}{name}", Outcome())
        bad = case.find("failure") is not None or case.find("error") is not None
        outcome.counts["failed" if bad else "skipped" if case.find("skipped") is not None else "passed"] += 1
        for figure in case.iter("property"):
            outcome.figures.append((figure.get("name", ""), figure.get("value", ""), parameters.removesuffix("]")))
    return outcomes


def gather(figures: Sequence[tuple[str, str, str]]) -> Iterator[str]:
    """Summarise the figures, one line for each name.

    Counts from several cases are added up. A figure named "largest", "slowest" and so on takes the extreme value.
    Anything else is listed with the parameters of the cases.
    """
    for name in dict.fromkeys(name for name, _, _ in figures):
        found = [(value, parameters) for other, value, parameters in figures if other == name]
        values = [value for value, _ in found]
        if len(found) == 1 or (len(set(values)) == 1 and not _is_count(values[0])):
            yield f"{name}: {_thousands(values[0])}"
        elif all(_is_number(value) for value in values) and (extreme := _extreme(name)):
            yield f"{name}: {_thousands(extreme(values, key=float))}"
        elif all(_is_count(value) for value in values):
            yield f"{name}: {_thousands(str(sum(map(int, values))))}"
        else:
            yield f"{name}: " + ", ".join(f"{_thousands(value)} ({parameters})" for value, parameters in found)


def _extreme(name: str):
    words = name.lower().split()
    if {"largest", "slowest", "longest", "most", "highest", "worst", "maximum"} & set(words):
        return max
    if {"smallest", "fastest", "shortest", "least", "lowest", "minimum"} & set(words):
        return min
    return None


def _is_count(value: str) -> bool:
    return value.isdigit()


def _is_number(value: str) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True


def _thousands(value: str) -> str:
    if _is_count(value):
        return f"{int(value):,}"
    return f"{float(value):.3g}" if _is_number(value) else value


def verdict(promise: Promise, outcomes: dict[str, Outcome]) -> str:
    """Say in one line whether the tests passed, FAILED or were not run."""
    counts: Counter[str] = Counter()
    for test in promise.tests:
        counts += outcomes[test].counts if test in outcomes else Counter({"failed": 1})
    if counts["failed"]:
        return f"FAILED: {counts['failed']} of {counts.total()} cases"
    if not counts["passed"]:
        return "slow, not run for this page" if counts[LEFT_OUT] else "not run on this machine"
    skipped = f", {counts['skipped']} not run on this machine" if counts["skipped"] else ""
    skipped += f", {counts[LEFT_OUT]} slow {'test' if counts[LEFT_OUT] == 1 else 'tests'} not run for this page" * (
        counts[LEFT_OUT] > 0
    )
    return f"passed: {counts['passed']:,} test case{'s' * (counts['passed'] != 1)}{skipped}"


def write_page(areas: Sequence[Area], outcomes: dict[str, Outcome], kept: dict[str, str] | None = None) -> str:
    """Put the page together; `kept` are sections, by their titles, of areas that were not run."""
    kept = {} if kept is None else kept
    sections = [kept.get(area.title) or write_section(area, outcomes) for area in areas]
    parts = [INTRODUCTION, *sections, mutation_part(), coverage_part()]
    return "\n".join(part for part in parts if part)


def write_section(area: Area, outcomes: dict[str, Outcome], note: str = "") -> str:
    """Write the promises of an area with the outcomes of their tests, and what they were run with."""
    parts = [f"## {area.title}\n", f"{written_with()} {note}".strip() + "\n"]
    for promise in area.promises:
        lines = [f"**{promise.says}**", "", f"- {verdict(promise, outcomes)}"]
        for test in promise.tests:
            figures = outcomes[test].figures if test in outcomes else []
            lines += [f"- {line}" for line in gather(figures)]
        lines.append("- tests: " + ", ".join(f"`{test.removeprefix('tests/')}`" for test in promise.tests))
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


def read_sections(page: str) -> dict[str, str]:
    """Return the sections of a page by their titles."""
    found = re.split(r"^## (.+)\n", page, flags=re.MULTILINE)[1:]
    return {
        title: f"## {title}\n{text}".rstrip("\n") + "\n" for title, text in zip(found[::2], found[1::2], strict=True)
    }


def mutation_part() -> str:
    if not MUTATION.exists():
        return ""
    results = json.loads(MUTATION.read_text(encoding="utf-8"))
    rows = []
    for module, result in results.items():
        killed, tried = result["killed"], result["mutants"]
        rows.append(f"| `{module.replace('.', '/')}.py` | {tried} | {killed} | {killed / tried:.0%} |")
    table = "\n".join(["| module | bugs introduced | caught | share |", "|---|---:|---:|---:|", *rows])
    return f"""\
## Mutation tests

A program introduces one small bug at a time into the modules that implement the algorithm (a different comparison, a
different sign, a deleted line) and runs their tests (`make mutate`). The bugs that no test catches are listed, with the
reason, in `results/tests/mutation.json`; most have no visible effect.

{table}
"""


def coverage_part() -> str:
    if not COVERAGE.exists():
        return ""
    found = json.loads(COVERAGE.read_text(encoding="utf-8"))
    return f"""\
## Coverage

The tests cover {found["percent"]} % of the package: {found["lines"]:,} of {found["of_lines"]:,} statements and
{found["branches"]:,} of {found["of_branches"]:,} branches ({100 * found["branches"] / found["of_branches"]:.1f} %).
`make coverage` counts them; code that needs a GPU runs in an emulator.
"""


def written_with() -> str:
    names = ", ".join(f"{name} {version(name)}" for name in ("clusterforests", "numpy", "scipy", "scikit-learn"))
    made = f"on {date.today()} at commit {current_commit()} with {names}, Python {platform.python_version()}"
    return f"Run {made}, {_processor()}."


def _processor() -> str:
    """Name the processor model, but not the machine."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{len(names)} cores of {names[0]}" if names else platform.machine()


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("areas", nargs="*", metavar="AREA", help="run and write only these")
    parser.add_argument("--quick", action="store_true", help="leave out the slow tests; the section says so")
    parser.add_argument("--print", action="store_true", help="print the page instead of writing it")
    parser.add_argument(
        "--again", action="store_true", help="reuse the outcomes of earlier runs, without running tests"
    )
    given = parser.parse_args(arguments)
    areas = read_areas()
    chosen = [area for area in areas if not given.areas or area.name in given.areas]
    outcomes = last_outcomes() if given.again else run_tests(chosen, quick=given.quick)
    kept = read_sections(PAGE.read_text(encoding="utf-8")) if PAGE.exists() else {}
    kept |= {area.title: write_section(area, outcomes, QUICK if given.quick else "") for area in chosen}
    page = write_page(areas, outcomes, kept)
    if given.print:
        print(page)
    else:
        PAGE.write_text(page, encoding="utf-8")
    return int(any("FAILED" in verdict(promise, outcomes) for area in chosen for promise in area.promises))


if __name__ == "__main__":
    sys.exit(main())
