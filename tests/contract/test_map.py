"""The map in CONTRIBUTING.md: every room is on it, and every path on it exists."""

import re
from pathlib import Path

import pytest
from rooms import LEVELS

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "clusterforests"
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
MAP = TEXT[TEXT.index("## Where things are") : TEXT.index("## What a change needs")]
PARTS = re.split(r"\n\| room \| what is in it \|\n\|---\|---\|\n", MAP)[1:]
ROOMS = dict(zip(("src/clusterforests", "core", "tests"), PARTS, strict=True))
PATHS = sorted(set(re.findall(r"`((?:src|core|tests|docs|tools)/[\w/.]*)`", MAP)))


def first_cells(folder):
    """List what the first column of a table names."""
    rows = [line for line in ROOMS[folder].split("\n\n")[0].splitlines() if line.startswith("|")]
    return [name.rstrip("/") for row in rows for name in re.findall(r"`([^`]+)`", row.split("|")[1])]


def rooms_in(folder, suffixes):
    return {
        path.name
        for path in (ROOT / folder).iterdir()
        if (path.is_dir() and any(path.iterdir()) and path.name != "__pycache__") or path.suffix in suffixes
    }


def test_every_room_of_the_package_is_on_the_map():
    named = first_cells("src/clusterforests")
    below = {"__init__.py", "__main__.py", "_core.pyi"}  # named below the table
    assert all(f"`{name}`" in MAP for name in below)
    assert len(set(named)) == len(named)
    assert rooms_in("src/clusterforests", {".py", ".pyi"}) - set(named) - below == set()


def test_every_room_of_the_core_and_of_the_tests_is_on_the_map():
    assert rooms_in("core", ()) - set(first_cells("core")) == set()
    assert rooms_in("tests", ()) - set(first_cells("tests")) - set(first_cells("src/clusterforests")) == set()


def test_every_path_on_the_map_exists():
    named = {f"{folder}/{name}" for folder in ROOMS for name in first_cells(folder)}
    assert {path for path in {*PATHS, *named} if not (ROOT / path).exists()} == set()


def test_rooms_are_listed_in_the_order_of_their_imports():
    levels = [LEVELS[name.removesuffix(".py")] for name in first_cells("src/clusterforests")]
    assert levels == sorted(levels)


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("forest/growth.py", ["def grow(", "better"]),
        ("predictor.py", ["def predict("]),
        ("rows/dask/tasks.py", ["def cluster_errors("]),
    ],
)
def test_what_the_map_promises_in_a_file_is_there(path, names):
    text = (PACKAGE / path).read_text(encoding="utf-8")
    for name in names:
        assert name in text
        assert name.removeprefix("def ").rstrip("(") in MAP


NAMING = ["Makefile", "CONTRIBUTING.md", "benchmarks/gpu.sh"]
NAMING += [path.relative_to(ROOT).as_posix() for path in [*ROOT.glob("tools/*.py"), *ROOT.glob("docs/*.md")]]


@pytest.mark.parametrize("file", NAMING)
def test_every_test_file_that_is_named_exists(file):
    named = re.findall(r"(?<![\w/])tests/[\w/]+\.(?:py|json)", (ROOT / file).read_text(encoding="utf-8"))
    made_up = {"tests/test_x.py"}  # in the description of a report
    assert [path for path in named if not (ROOT / path).exists() and path not in made_up] == []
