"""The rooms of the package, in the order of their imports, and a reader of those imports.

A room is a folder or a file directly in the package.
"""

import ast
from dataclasses import dataclass
from pathlib import Path

NAME = "clusterforests"
PACKAGE = Path(__file__).parents[2] / "src" / NAME

# From bottom to top. Rooms on one line do not import each other.
LAYERS = (
    ("_base",),
    ("backends", "datasets", "metrics"),
    ("tables",),
    ("signal",),
    ("forest", "kmeans"),
    ("combining",),
    ("diagnostics",),
    ("n_clusters",),
    ("rows",),
    ("persistence",),
    ("forest_view",),
    ("story",),
    ("predictor",),
    ("estimator",),
    ("fitted",),
    ("__init__",),
    ("baselines", "feature_selection", "plots", "report", "theory", "tl"),
    ("experiments",),
    ("cli",),
    ("__main__",),
)
LEVELS = {room: level for level, rooms in enumerate(LAYERS) for room in rooms}


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
        if below == "*":  # a name that is looked up when it is used, as those of the package itself are
            return False
        return above != below and LEVELS[above] <= LEVELS[below]

    def __str__(self):
        path = self.importer.replace(".", "/")
        return f"{path}.py, line {self.line}, imports {self.imported}"


def room(module):
    return module.partition(".")[0]


def read_imports(package):
    """Yield every import in a package, wherever in a file it stands."""
    files = {module_name(path.relative_to(package)): path for path in package.rglob("*.py")}
    for module, path in files.items():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
        inside = {node for function in functions for node in ast.walk(function)}
        for node in ast.walk(tree):
            for name in _imported(node):
                top, _, rest = name.partition(".")
                own = _existing(rest, files) if top == NAME else top
                yield Import(module, own, getattr(node, "lineno", 0), node in inside, top == NAME)


def module_name(path):
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
