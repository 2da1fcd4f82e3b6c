"""Imports go one way: a room of the package imports only from the rooms below it.

A room is a folder or a file directly in the package. This file states the order of the rooms, who may call the C++
core, and which imports may wait until a function runs.
"""

import ast
import graphlib
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NAME = "clusterforests"
PACKAGE = ROOT / "src" / NAME

# From bottom to top. Rooms on one line do not import each other.
LAYERS = (
    ("_base",),
    ("backends", "datasets", "metrics"),
    ("tables",),
    ("forest", "kmeans"),
    ("combining",),
    ("diagnostics",),
    ("n_clusters",),
    ("rows",),
    ("persistence",),
    ("predictor",),
    ("estimator",),
    ("forest_view",),
    ("__init__",),
    ("baselines", "feature_selection", "plots", "report", "theory"),
    ("experiments",),
    ("cli",),
    ("__main__",),
)
LEVELS = {room: level for level, rooms in enumerate(LAYERS) for room in rooms}

CALL_THE_CORE = {"_base", "backends", "rows", "tables"}

# Libraries that not everybody has installed are imported by the functions that need them, and so are the modules of
# ours that need one.
OPTIONAL = {"cupy", "matplotlib", "pooch", "pyarrow"}
WAIT = {
    ("estimator", "rows.dask.collections"),
    ("experiments.reproduce", "experiments.figures"),
    ("experiments.reproduce", "experiments.theory_figures"),
    ("predictor", "rows.dask.collections"),
}

# Exceptions to be removed. Nothing may be added; a test says which are no longer needed.
UPWARD = {("backends.sklearn_clusterer", "tables.distinct_rows")}
CORE = {"combining.combine", "combining.placement", "forest.growth"}


@dataclass(frozen=True)
class Import:
    """One import: who, what, on which line, and whether only when a function runs."""

    importer: str
    imported: str  # a module of the package without the package's name, or a foreign library
    line: int
    inside: bool
    ours: bool

    @property
    def pair(self):
        return self.importer, self.imported

    @property
    def upward(self):
        above, below = room(self.importer), room(self.imported)
        return above != below and LEVELS[above] <= LEVELS[below]

    def __str__(self):
        path = self.importer.replace(".", "/")
        return f"{path}.py, line {self.line}, imports {self.imported}"


def room(module):
    return module.partition(".")[0]


def read_imports(package):
    """Yield every import in a package, wherever in a file it stands."""
    files = {_module(path.relative_to(package)): path for path in package.rglob("*.py")}
    for module, path in files.items():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
        inside = {node for function in functions for node in ast.walk(function)}
        for node in ast.walk(tree):
            for name in _imported(node):
                top, _, rest = name.partition(".")
                own = _existing(rest, files) if top == NAME else top
                yield Import(module, own, getattr(node, "lineno", 0), node in inside, top == NAME)


def _module(path):
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


def _existing(name, files):
    """Return the module of ours that a dotted name is, or is in; the core has no file of its own."""
    if name.partition(".")[0] == "_core":
        return "_core"
    if "*" in name:
        return name
    while name and name not in files:
        name = name.rpartition(".")[0]
    return name or "__init__"


def _imported(node):
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        assert node.level == 0, f"from {'.' * node.level}{node.module or ''} import ...: write the whole name"
        return [f"{node.module}.{alias.name}" for alias in node.names]
    if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
        return ["".join(_pieces(node.args[0]))]
    return []


def _pieces(text):
    """Yield the parts of a string, with a star for each inserted value."""
    for part in text.values if isinstance(text, ast.JoinedStr) else [text]:
        yield part.value if isinstance(part, ast.Constant) else "*"


IMPORTS = list(read_imports(PACKAGE))
OURS = [entry for entry in IMPORTS if entry.ours]
BETWEEN = [entry for entry in OURS if entry.imported != "_core"]


def show(entries):
    return "\n".join(sorted(map(str, entries)))


def test_every_room_has_its_place():
    rooms = {room(_module(path.relative_to(PACKAGE))) for path in PACKAGE.rglob("*.py")}
    assert rooms - LEVELS.keys() == set()
    assert LEVELS.keys() - rooms == set()


def test_imports_go_down():
    wrong = [entry for entry in BETWEEN if entry.upward and entry.pair not in UPWARD]
    assert not wrong, f"A lower room imports a higher one, or one of its own height:\n{show(wrong)}"


def test_few_rooms_call_the_core():
    wrong = [e for e in OURS if e.imported == "_core" and room(e.importer) not in CALL_THE_CORE]
    wrong = [entry for entry in wrong if entry.importer not in CORE]
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


def test_exceptions_are_still_needed():
    assert UPWARD - {entry.pair for entry in BETWEEN if entry.upward} == set()
    assert CORE - {entry.importer for entry in OURS if entry.imported == "_core"} == set()


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
