"""The page of promises: every test it names exists, and it reports what the tests recorded."""

import ast
import json
import os
import tomllib
from pathlib import Path

import mutations
import pytest
import reliability

ROOT = Path(__file__).parents[2]
AREAS = reliability.read_areas()
REPORT = """<testsuites><testsuite>
<testcase classname="tests.test_x" name="test_files[a]" file="tests/test_x.py">
  <properties><property name="files tried" value="1200"/><property name="largest growth, MB" value="1.5"/></properties>
</testcase>
<testcase classname="tests.test_x" name="test_files[b-1]" file="tests/test_x.py">
  <properties><property name="files tried" value="300"/><property name="largest growth, MB" value="0.25"/>
  <property name="kind" value="slow"/></properties>
</testcase>
<testcase classname="tests.test_x" name="test_files[c]" file="tests/test_x.py">
  <properties><property name="kind" value="fast"/></properties>
</testcase>
<testcase classname="tests.test_x.TestMore" name="test_in_class" file="tests/test_x.py"><failure/></testcase>
<testcase classname="tests.test_x" name="test_gpu" file="tests/test_x.py"><skipped/></testcase>
</testsuite></testsuites>"""


def functions(path):
    """Yield the names of the tests in a file, with their classes."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef):
            yield from (f"{node.name}::{inner.name}" for inner in node.body if isinstance(inner, ast.FunctionDef))
        elif isinstance(node, ast.FunctionDef):
            yield node.name


@pytest.mark.parametrize("area", AREAS, ids=lambda area: area.name)
def test_every_test_that_is_named_exists(area):
    assert area.promises
    for promise in area.promises:
        assert promise.says.endswith(".")
        assert promise.tests
        for test in promise.tests:
            file, _, name = test.partition("::")
            assert name in set(functions(ROOT / file)), test


def test_the_page_lists_every_promise_and_its_tests():
    page = reliability.PAGE.read_text(encoding="utf-8")
    for area in AREAS:
        assert f"## {area.title}\n" in page
        for promise in area.promises:
            assert promise.says in page
            assert all(f"`{test.removeprefix('tests/')}`" in page for test in promise.tests)
    assert "FAILED" not in page


def test_outcomes_and_figures_of_a_report():
    outcomes = reliability.read_report(REPORT)
    assert set(outcomes) == {f"tests/test_x.py::{n}" for n in ("test_files", "TestMore::test_in_class", "test_gpu")}
    files = outcomes["tests/test_x.py::test_files"]
    assert files.counts == {"passed": 3}
    assert list(reliability.gather(files.figures)) == [
        "files tried: 1,500",
        "largest growth, MB: 1.5",
        "kind: slow (b-1), fast (c)",
    ]
    told = {}
    for name in ("test_files", "TestMore::test_in_class", "test_gpu", "test_gone"):
        told[name] = reliability.verdict(reliability.Promise("", (f"tests/test_x.py::{name}",)), outcomes)
    assert told == {
        "test_files": "passed: 3 test cases",
        "TestMore::test_in_class": "FAILED: 1 of 1 cases",
        "test_gpu": "not run on this machine",
        "test_gone": "FAILED: 1 of 1 cases",
    }


def test_a_page_is_written(monkeypatch):
    monkeypatch.setattr(reliability, "written_with", lambda: "Run today.")
    area = reliability.Area("x", "Files", 1, (reliability.Promise("It reads.", ("tests/test_x.py::test_files",)),))
    page = reliability.write_page([area], reliability.read_report(REPORT))
    assert "## Files\n\nRun today.\n\n**It reads.**\n\n- passed: 3 test cases\n- files tried: 1,500\n" in page
    assert "tests: `test_x.py::test_files`" in page


def test_areas_that_were_not_run_stay_as_they_are():
    kept = reliability.read_sections("# Page\n\nText.\n\n## Files\n\nRun yesterday.\n\n- passed\n\n## Other\n\nMore.\n")
    assert kept == {"Files": "## Files\n\nRun yesterday.\n\n- passed\n", "Other": "## Other\n\nMore.\n"}
    area = reliability.Area("x", "Files", 1, (reliability.Promise("It reads.", ("tests/test_x.py::test_gone",)),))
    page = reliability.write_page([area], {}, kept)
    assert "## Files\n\nRun yesterday.\n\n- passed\n" in page
    assert "It reads." not in page
    assert "More." not in page


def test_modules_of_the_mutation_tests_exist():
    """So do the modules and tests in its explanations and in its recorded outcomes."""
    lines = ast.parse((ROOT / "tools" / "mutate.py").read_text(encoding="utf-8")).body
    assignments = {ast.unparse(line.targets[0]): line.value for line in lines if isinstance(line, ast.Assign)}
    tests = ast.literal_eval(assignments["TESTS"])
    for module, files in tests.items():
        assert (ROOT / "src" / "clusterforests" / f"{module.replace('.', '/')}.py").is_file(), module
        assert all((ROOT / file).is_file() for file in files), files
    explained = tomllib.loads((ROOT / "tools" / "survivors.toml").read_text(encoding="utf-8"))
    recorded = json.loads(reliability.MUTATION.read_text(encoding="utf-8"))
    assert set(explained) <= set(tests)
    assert set(recorded) == set(tests)


SOURCE = '''
def f(x: int, items, n=0):
    """A docstring."""
    if x < 3 and not items:
        raise ValueError(f"{x - 1} is bad")
    y = items[1:n]
    n += 1
    return max(x * 2, n)
'''


def test_mutants_are_single_small_changes():
    found = list(mutations.mutants(SOURCE))
    changes = [mutant.change for mutant in found]
    assert len(set(changes)) == len(changes)
    for expected in (
        "x < 3 -> x <= 3",
        "x < 3 -> x >= 3",
        "x < 3 and (not items) -> x < 3 or not items",
        "not items -> items",
        "3 -> 4",
        "0 -> 1",
        "1:n -> :n",
        "1:n -> 1:",
        "1:n -> 1:n + 1",
        "n += 1 -> n -= 1",
        "n += 1 -> nothing",
        "x * 2 -> x / 2",
        "max -> min",
        "return max(x * 2, n) -> return None",
    ):
        assert expected in changes
    assert not any("bad" in change or "docstring" in change or "int" in change for change in changes)
    originals = ast.dump(ast.parse(SOURCE))
    assert all(ast.dump(mutant.tree) != originals for mutant in found)
    assert len({ast.dump(mutant.tree) for mutant in found}) == len(found)
    assert {mutant.where for mutant in found} == {"f"}


def test_of_several_runs_the_newest_counts(tmp_path, monkeypatch):
    monkeypatch.setattr(reliability, "REPORTS", tmp_path)
    later = '<testsuite><testcase classname="tests.test_x" name="test_gpu" file="tests/test_x.py"/></testsuite>'
    for i, (name, text) in enumerate({"b": REPORT, "a": later}.items()):
        (tmp_path / f"{name}.xml").write_text(text)
        os.utime(tmp_path / f"{name}.xml", (i, i))
    outcomes = reliability.last_outcomes()
    assert outcomes["tests/test_x.py::test_gpu"].counts == {"passed": 1}
    assert outcomes["tests/test_x.py::test_files"].counts == {"passed": 3}
