"""Imports go one way: a room of the package imports only from the rooms below it.

`rooms.py` has their order. This file also states who may call the C++ core and which imports may wait until a function
runs.
"""

import graphlib

import pytest
from rooms import LEVELS, PACKAGE, module_name, read_imports, room

CALL_THE_CORE = {"_base", "backends", "rows", "tables"}

# Libraries that not everybody has installed are imported by the functions that need them, and so are the modules of
# ours that need one. The package's public names are imported when they are used and the commands when they run, because
# scikit-learn takes a second.
OPTIONAL = {"anndata", "cupy", "matplotlib", "openpyxl", "pandas", "pooch", "pyarrow"}
WAIT = {
    ("__init__", "*"),
    ("__init__", "numpy"),
    ("__init__", "importlib"),
    ("__main__", "cli.program"),
    ("cli.program", "cli.commands.*"),
    ("experiments.reproduce", "experiments.figures"),
    ("experiments.reproduce", "experiments.theory_figures"),
    ("rows.open", "rows.*.open"),  # dask or gpu
    ("rows.results", "rows.dask.results"),
    ("rows.results", "rows.gpu.results"),
}

IMPORTS = list(read_imports(PACKAGE))
OURS = [entry for entry in IMPORTS if entry.ours]
BETWEEN = [entry for entry in OURS if entry.imported != "_core"]


def show(entries):
    return "\n".join(sorted(map(str, entries)))


def test_every_room_has_its_place():
    rooms = {room(module_name(path.relative_to(PACKAGE))) for path in PACKAGE.rglob("*.py")}
    assert rooms - LEVELS.keys() == set()
    assert LEVELS.keys() - rooms == set()


def test_imports_go_down():
    wrong = [entry for entry in BETWEEN if entry.upward]
    assert not wrong, f"A lower room imports a higher one, or one of its own height:\n{show(wrong)}"


def test_few_rooms_call_the_core():
    wrong = [e for e in OURS if e.imported == "_core" and room(e.importer) not in CALL_THE_CORE]
    assert not wrong, f"The core is for {', '.join(sorted(CALL_THE_CORE))} to call:\n{show(wrong)}"


def test_modules_do_not_import_each_other():
    """This holds within a room too. Imports inside functions do not count here; the next test lists them."""
    graph = {}
    for entry in BETWEEN:
        if not entry.inside and entry.importer != entry.imported:
            graph.setdefault(entry.importer, set()).add(entry.imported)
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        pytest.fail(f"Modules import each other: {' -> '.join(reversed(error.args[1]))}")


def test_imports_do_not_wait():
    waiting = [entry for entry in IMPORTS if entry.inside and (entry.ours or entry.imported not in OPTIONAL)]
    wrong = [entry for entry in waiting if entry.pair not in WAIT]
    assert not wrong, f"Import it at the top of the file:\n{show(wrong)}"
    assert WAIT - {entry.pair for entry in waiting} == set(), "these no longer wait"


@pytest.mark.parametrize(
    "line",
    [
        "from clusterforests.cli.program import main",
        "import clusterforests.cli.program",
        "from clusterforests.cli import program",
        "def f():\n    from clusterforests import cli",
        "import importlib\nimportlib.import_module('clusterforests.cli.program')",
    ],
)
def test_an_import_upward_is_seen(tmp_path, line):
    for name in ("cli", "tables"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").touch()
    (tmp_path / "cli" / "program.py").write_text("from clusterforests.tables import frames\n")
    (tmp_path / "tables" / "frames.py").write_text(f"import numpy\n{line}\n")
    (wrong,) = [entry for entry in read_imports(tmp_path) if entry.ours and entry.upward]
    assert str(wrong).startswith("tables/frames.py, line ")
    assert room(wrong.imported) == "cli"
    assert wrong.inside == line.startswith("def")
