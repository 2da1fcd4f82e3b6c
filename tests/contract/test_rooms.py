"""Imports go one way: a room of the package imports only from the rooms below it.

A room is a folder or a file directly in the package. `docs/architecture.md` says what is in each.
"""

import ast
import subprocess
import sys
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


# What the application uses of the library beside its public names: tools, model files, and a few stages.
OPEN_TO_APP = frozenset(("_utils", "inspection", "persistence"))


def private_rooms(path):
    """Return the rooms of the library whose inside a module of the application imports."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(f"{NAME}."):
            found.add(node.module.split(".")[1])
    return found - OPEN_TO_APP - {"app"}


MODULES = [path for path in sorted(PACKAGE.rglob("*.py")) if path != PACKAGE / "__init__.py"]


def test_every_room_has_a_layer():
    rooms = {path.relative_to(PACKAGE).parts[0].removesuffix(".py") for path in MODULES}
    assert rooms == set(LEVELS)


def test_the_application_is_built_on_the_library():
    app = {path: private_rooms(path) for path in (PACKAGE / "app").rglob("*.py")}
    assert not [str(path) for path, rooms in app.items() if rooms]


def test_the_library_needs_neither_the_application_nor_pandas():
    command = "import sys; sys.modules['pandas'] = None; import clusterforests as c; c.ClusterForest, c.PaperForest;"
    command += " c.HartiganWongKMeans, c.consensus_clustering, c.inspection, c.feature_selection;"
    command += " print([name for name in sys.modules if name.startswith('clusterforests.app')])"
    run = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_imports_go_down():
    wrong = [line for path in MODULES for line in upward(path.relative_to(PACKAGE), path.read_text(encoding="utf-8"))]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("line", ["from clusterforests.app import description", "from clusterforests import app"])
def test_an_import_upward_is_seen(line):
    assert upward(Path("table/frames.py"), f"import numpy\n{line}\n") == ["table/frames.py, line 2: app"]
