"""Mutation testing: change one thing at a time in the code and see whether the tests notice.

    python tools/mutate.py --out results/tests/mutation.json [MODULE ...]

Each mutant runs the module's tests in a fork of a process that has imported everything else, until the first failure.
Mutants that no test notices are explained in tools/survivors.toml; one without an explanation is an error, and so is a
share of killed mutants below 85 % in any module.
"""

import argparse
import ast
import contextlib
import gc
import importlib.abc
import importlib.util
import json
import math
import os
import pickle
import random
import resource
import signal
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

# Set before NumPy and SciPy are imported. On small problems threads would only wait for each other.
os.environ.setdefault("SCIPY_ARRAY_API", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import hypothesis
import mutations
import pytest

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "src" / "clusterforests"
EXPLAINED = ROOT / "tools" / "survivors.toml"
ENOUGH = 0.85  # of the mutants of a module
ROOM = 8 * 2**30  # bytes of memory for a mutant
PATIENCE = 5  # times as long as the unchanged tests take; a mutant that runs longer is killed

TESTS = {
    "metrics": ["tests/test_metrics.py"],
    "combining.affinity": ["tests/consensus/test_affinity.py"],
    "forest.growth": ["tests/trees/test_growth.py"],
    "combining.block_krylov": ["tests/consensus/test_block_krylov.py"],
    "combining.eigenvectors": ["tests/consensus/test_eigenvectors.py"],
    "combining.normalized_cut": ["tests/consensus/test_normalized_cut.py"],
}

# What the tests import besides the package, so that the forks find it loaded.
FOREIGN = ["scipy.cluster.hierarchy", "sklearn.cluster", "hypothesis.extra.numpy", "playwright.sync_api"]


@dataclass
class Loader(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Load one module from a changed tree."""

    name: str
    tree: ast.Module

    def find_spec(self, name, path=None, target=None):
        return importlib.util.spec_from_loader(name, self) if name == self.name else None

    def exec_module(self, module):
        exec(compile(self.tree, f"<{self.name}>", "exec"), module.__dict__)


def import_foreign() -> None:
    """Import everything the tests need except the package, whose modules are loaded anew for each mutant."""
    for name in ("clusterforests.app.command_line.program", *FOREIGN):
        importlib.import_module(name)
    for name in [name for name in sys.modules if name.startswith("clusterforests")]:
        if name != "clusterforests._core":
            del sys.modules[name]


class Calls:
    """A pytest plugin that notes which functions of a module each test calls, and how long the test takes."""

    def __init__(self, module: str) -> None:
        self.file = f"<{module}>"
        self.called: dict[str, set[str]] = {}
        self.seconds: dict[str, float] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item):
        def note(frame, event, _):
            if event == "call" and frame.f_code.co_filename == self.file:
                name = frame.f_code.co_qualname.replace(".<locals>", "")
                self.called.setdefault(name, set()).add(item.nodeid)

        began = time.process_time()
        sys.setprofile(note)
        try:
            return (yield)
        finally:
            sys.setprofile(None)
            self.seconds[item.nodeid] = time.process_time() - began

    def tests(self, function: str) -> list[str]:
        """List the tests that call the function, fastest first; all tests for code outside functions."""
        chosen = self.called.get(function, self.seconds)
        return sorted(chosen, key=self.seconds.__getitem__)


def in_fork(module: str, tree: ast.Module, tests: Sequence[str], seconds: int, plugin: Calls | None = None):
    """Run tests on a changed module in a fork, which ends after so many seconds of processor time.

    Returns "killed", "timeout" or "survived", the plugin and the processor time.
    """
    with tempfile.TemporaryFile() as back:
        gc.freeze()  # spares the fork's collector the objects made before it
        child = os.fork()
        if not child:
            status = 1
            with contextlib.suppress(BaseException):  # whatever goes wrong with a mutant kills it
                status = _test(module, tree, tests, seconds, plugin)
                pickle.dump(plugin, back)
                back.flush()
            os._exit(min(status, 100))
        _, status, used = os.wait4(child, 0)
        back.seek(0)
        code = os.waitstatus_to_exitcode(status)
        outcome = "timeout" if code == -signal.SIGXCPU else "killed" if code else "survived"
        return outcome, None if code else pickle.load(back), used.ru_utime + used.ru_stime


def _test(module: str, tree: ast.Module, tests: Sequence[str], seconds: int, plugin: Calls | None) -> int:
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
    resource.setrlimit(resource.RLIMIT_AS, (ROOM, ROOM))
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    sys.meta_path.insert(0, Loader(f"clusterforests.{module}", tree))
    hypothesis.settings.register_profile(
        "mutate", database=None, derandomize=True, phases=[hypothesis.Phase.explicit, hypothesis.Phase.generate]
    )
    hypothesis.settings.load_profile("mutate")
    # pytest warns if Hypothesis, one of its plugins, was imported before.
    options = ["-x", "-q", "-m", "not slow", "-p", "no:cacheprovider", "-W", "ignore:Module already imported"]
    options += ["--assert=plain", "--tb=no"]  # explaining how two arrays differ can take longer than all tests
    return int(pytest.main([*options, *tests], plugins=[plugin] if plugin else []))


def try_module(module: str, most: int) -> dict[str, object]:
    """Run the tests on the module as it is, then on its mutants."""
    source = (SOURCES / f"{module.replace('.', '/')}.py").read_text(encoding="utf-8")
    outcome, calls, usual = in_fork(module, ast.parse(source), TESTS[module], 600, Calls(f"clusterforests.{module}"))
    if outcome != "survived":
        sys.exit(f"The tests of {module} fail without a change.")
    possible = sum(1 for _ in mutations.mutants(source))
    chosen = set(random.Random(0).sample(range(possible), min(most, possible)))
    counts = Counter()
    survivors = []
    for number, mutant in enumerate(mutations.mutants(source)):
        if number not in chosen:
            continue
        tests = calls.tests(mutant.where)
        outcome, _, took = in_fork(module, mutant.tree, tests, PATIENCE * math.ceil(usual))
        counts[outcome] += 1
        if outcome == "survived":
            survivors.append({"line": mutant.line, "in": mutant.where, "change": mutant.change})
        print(f"{module}:{mutant.line} {mutant.change}: {outcome} ({len(tests)} tests, {took:.1f} s)", flush=True)
    return {
        "possible": possible,
        "mutants": len(chosen),
        "killed": counts["killed"] + counts["timeout"],
        "survivors": survivors,
    }


def explain(results: dict[str, dict]) -> Iterator[str]:
    """Add the explanations to the survivors and yield what is wrong with the results."""
    known = tomllib.loads(EXPLAINED.read_text(encoding="utf-8"))
    for module, result in results.items():
        whys = {(entry["in"], change): entry["why"] for entry in known.get(module, []) for change in entry["changes"]}
        for survivor in result["survivors"]:
            survivor["why"] = whys.get((survivor["in"], survivor["change"]), "")
            if not survivor["why"]:
                yield f"{module}:{survivor['line']} in {survivor['in']}, {survivor['change']}: survived, not explained"
        if result["killed"] < ENOUGH * result["mutants"]:
            yield f"{module}: only {result['killed']} of {result['mutants']} mutants were killed"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("modules", nargs="*", metavar="MODULE", help=f"of {', '.join(TESTS)}; all of them by default")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--most", type=int, default=10**6, help="of a module with more mutants a fixed random sample")
    given = parser.parse_args(arguments)
    os.chdir(ROOT)
    import_foreign()
    results = json.loads(given.out.read_text(encoding="utf-8")) if given.out.exists() else {}
    for module in given.modules or TESTS:
        results[module] = try_module(module, given.most)
        problems = list(explain(results))
        given.out.parent.mkdir(parents=True, exist_ok=True)
        given.out.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    for module, result in results.items():
        print(f"{module}: {result['killed']} of {result['mutants']} mutants killed")
    if problems:
        sys.exit("\n".join(problems))


if __name__ == "__main__":
    main()
