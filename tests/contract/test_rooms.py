"""Imports go one way: a room of the package imports only from the rooms below it.

A room is a folder or a file directly in the package. `docs/architecture.md` says what is in each.
"""

import ast
from pathlib import Path

import pytest

NAME = "clusterforests"
PACKAGE = Path(__file__).parents[2] / "src" / NAME

# From bottom to top. Rooms on one line do not import each other.
LAYERS = (
    ("_utils",),
    ("backends",),
    ("table",),
    ("feature_screening",),
    ("trees", "kmeans"),
    ("consensus",),
    ("inspection",),
    ("judge",),
    ("rows",),
    ("gpu", "persistence"),
    ("fitted_forest",),
    ("estimator", "paper_forest"),
    ("fitted",),
    ("feature_selection", "plots", "tl"),
    ("app",),
    ("__main__",),
)
LEVELS = {room: level for level, rooms in enumerate(LAYERS) for room in rooms}


def imported_rooms(source):
    """Yield the rooms that a module imports at its top, with the line of each import."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == NAME:
            inside = node.module.partition(".")[2]
            for alias in node.names:
                yield (inside or alias.name).partition(".")[0], node.lineno


def upward(path, source):
    """List the imports of a module that do not go down."""
    own = path.parts[0].removesuffix(".py")
    return [
        f"{path}, line {line}: {room}"
        for room, line in imported_rooms(source)
        if room in LEVELS and room != own and LEVELS[room] >= LEVELS[own]
    ]


MODULES = [path for path in sorted(PACKAGE.rglob("*.py")) if path != PACKAGE / "__init__.py"]


def test_every_room_has_a_layer():
    rooms = {path.relative_to(PACKAGE).parts[0].removesuffix(".py") for path in MODULES}
    assert rooms == set(LEVELS)


def test_imports_go_down():
    wrong = [line for path in MODULES for line in upward(path.relative_to(PACKAGE), path.read_text(encoding="utf-8"))]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("line", ["from clusterforests.app import description", "from clusterforests import app"])
def test_an_import_upward_is_seen(line):
    assert upward(Path("table/frames.py"), f"import numpy\n{line}\n") == ["table/frames.py, line 2: app"]
