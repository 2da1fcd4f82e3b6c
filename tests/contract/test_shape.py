"""The package stays easy to read: few files side by side, short files, short functions, a short way to the core."""

import ast
from pathlib import Path

import numpy as np
import pytest
from way_to_the_core import modules_before_the_core

from clusterforests import ClusterForest

PACKAGE = Path(__file__).parents[2] / "src" / "clusterforests"
FILES = sorted(PACKAGE.rglob("*.py"))
FILES_SIDE_BY_SIDE = 12
FILE_LINES = 500
FUNCTION_LINES = 45
MODULES_BEFORE_THE_CORE = 10  # one of them checks wishes for columns, one shows the progress


def length(function):
    """Count the lines of a function without its docstring."""
    lines = function.end_lineno - function.lineno + 1
    if ast.get_docstring(function) is None:
        return lines
    return lines - (function.body[0].end_lineno - function.body[0].lineno + 1)


def only_stores(function):
    """Whether it is a constructor as scikit-learn wants them: every argument is stored and nothing else happens."""
    return function.name == "__init__" and all(
        isinstance(line, ast.Assign) and ast.unparse(line.targets[0]) == f"self.{ast.unparse(line.value)}"
        for line in function.body
    )


def long_functions(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef) and length(node) > FUNCTION_LINES and not only_stores(node):
            yield path.relative_to(PACKAGE).as_posix(), node.name, length(node)


def test_few_files_lie_directly_in_the_package():
    assert len([path for path in PACKAGE.iterdir() if path.is_file()]) <= FILES_SIDE_BY_SIDE


def test_files_are_short():
    lines = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in FILES}
    assert {path.name: count for path, count in lines.items() if count > FILE_LINES} == {}


def test_functions_are_short():
    assert {(path, name): count for file in FILES for path, name, count in long_functions(file)} == {}


def test_a_fit_soon_reaches_the_core():
    X = np.random.default_rng(0).normal(size=(60, 4))
    entered = modules_before_the_core(lambda: ClusterForest(3).fit(X))
    assert entered[0] == "estimator"
    assert len(entered) <= MODULES_BEFORE_THE_CORE, ", ".join(entered)


def test_a_call_of_the_core_is_seen():
    assert modules_before_the_core(lambda: ClusterForest(3, n_jobs=1).fit(np.eye(9)))
    with pytest.raises(RuntimeError, match="never called"):
        modules_before_the_core(lambda: ClusterForest(3))
