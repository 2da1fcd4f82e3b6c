"""What a release consists of: one version everywhere, policies and lists in step, workflows that can run."""

import importlib.util
import json
import re
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

import clusterforests

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
VERSION = PROJECT["project"]["version"]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))


def tool(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_one_version():
    assert clusterforests.__version__ == VERSION
    written = {
        "CITATION.cff": "version: (.+)",
        "r/DESCRIPTION": "Version: (.+)",
        "conda/recipe.yaml": ' +version: "(.+)"',
    }
    for file, line in written.items():
        assert re.search(f"^{line}$", (ROOT / file).read_text(), re.M)[1] == VERSION, file
    first = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.M)[1]
    assert first == VERSION


def test_every_dependency_has_a_licence():
    project = PROJECT["project"]
    lists = [project["dependencies"], PROJECT["build-system"]["requires"], *project["optional-dependencies"].values()]
    needed = {Requirement(text).name for texts in lists for text in texts} - {"clusterforests"}
    rows = re.findall(r"^\| ([\w-]+) \| .+ \| .+ \|$", (ROOT / "docs/licences.md").read_text(), re.M)
    assert sorted(rows[1:]) == sorted(needed | {"robin-map"})


def test_supported_versions_are_those_of_the_package():
    policy = (ROOT / "docs/policy.md").read_text()
    oldest = [re.search(r">=([\d.]+)", text)[1] for text in PROJECT["project"]["dependencies"]]
    assert f"from {oldest[0]}, {oldest[1]} and {oldest[2]} on" in policy
    pythons = [c.rsplit(" ", 1)[1] for c in PROJECT["project"]["classifiers"] if re.search(r"Python :: 3\.\d+$", c)]
    assert f"| Python | {', '.join(pythons)};" in policy
    assert tuple(pythons) == tool("versions").PYTHONS
    assert PROJECT["project"]["requires-python"] == f">={pythons[0]}"
    assert yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())["jobs"]["test"]["strategy"]["matrix"] == {
        "python": pythons
    }


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows(path):
    workflow = yaml.safe_load(path.read_text())
    assert {"name", "permissions", "jobs"} <= set(workflow)
    assert True in workflow  # YAML 1.1 reads the key `on` as true
    assert workflow["permissions"] == {"contents": "read"}
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.M))
    for job in workflow["jobs"].values():
        if "uses" in job:
            assert (ROOT / job["uses"]).is_file()
            continue
        assert {"runs-on", "timeout-minutes", "steps"} <= set(job)
        for step in job["steps"]:
            assert ("uses" in step) != ("run" in step)
            assert "@" in step.get("uses", "@")
            for line in re.findall(r"^make (.+)$", step.get("run", ""), re.M):
                assert {word for word in line.split() if re.fullmatch(r"[a-z-]+", word)} <= targets
    needed = {need for job in workflow["jobs"].values() for need in [job.get("needs")] if need}
    assert needed <= set(workflow["jobs"])


def test_wheels_of_every_system_are_built_and_published():
    jobs = yaml.safe_load((ROOT / ".github/workflows/wheels.yml").read_text())["jobs"]
    machines = " ".join(jobs["wheels"]["strategy"]["matrix"]["machine"])
    assert all(machine in machines for machine in ("ubuntu-24.04 ", "ubuntu-24.04-arm", "macos", "intel", "windows"))
    settings = PROJECT["tool"]["cibuildwheel"]
    assert settings["build"] == ["cp311-*", f"{PROJECT['tool']['scikit-build']['wheel']['py-api']}-*"]
    for command in settings["test-command"]:
        assert (ROOT / command.removeprefix("python {project}/")).is_file()
    publish = (ROOT / ".github/workflows/release.yml").read_text()
    assert "artifacts/wheels-*/*.whl" in publish
    assert jobs["wheels"]["steps"][-1]["with"]["name"].startswith("wheels-")


def test_conda_recipe():
    recipe = yaml.safe_load((ROOT / "conda/recipe.yaml").read_text())
    assert recipe["context"]["version"] == VERSION
    project = PROJECT["project"]
    needed = [Requirement(text) for text in project["dependencies"]]
    everywhere = [f"{one.name} {one.specifier}" for one in needed if one.marker is None]
    windows = [f"{one.name} {one.specifier}" for one in needed if one.marker is not None]
    assert recipe["requirements"]["run"] == ["python", *everywhere, {"if": "win", "then": windows}]
    build = [f"{one.name} {one.specifier}" for one in map(Requirement, PROJECT["build-system"]["requires"])]
    assert set(build) <= set(recipe["requirements"]["host"])
    assert recipe["about"]["summary"] == project["description"]
    assert recipe["about"]["license"] == project["license"]
    files = [*recipe["about"]["license_file"], *recipe["tests"][1]["files"]["source"]]
    assert all((ROOT / file).exists() for file in files)


def test_number_of_golden_cases_is_as_written():
    golden = json.loads((ROOT / "tests/contract/golden/results.json").read_text())
    assert f"The results of {len(golden)} fits with fixed seeds" in (ROOT / "docs/policy.md").read_text()


def test_bill_of_materials(record_property):
    bill = tool("sbom").bill(frozenset())
    names = {entry["name"] for entry in bill["components"]}
    assert {"numpy", "scipy", "scikit-learn", "joblib", "threadpoolctl"} <= names
    assert "matplotlib" not in names
    references = {entry["bom-ref"] for entry in [*bill["components"], bill["metadata"]["component"]]}
    assert {need for entry in bill["dependencies"] for need in entry["dependsOn"]} <= references
    assert all(entry["licenses"][0]["license"]["name"] for entry in bill["components"])
    record_property("packages in a plain installation", len(names))


def test_faulty_archives_are_seen():
    check = tool("dist_check")
    info = "clusterforests-0.1.0.dist-info"
    good = check.package_files() | {f"{info}/licenses/{name}" for name in check.LICENCES}
    good |= {f"{info}/METADATA", "clusterforests/_core.abi3.so"}
    assert check.wheel_faults(good) == []
    assert check.wheel_faults(good - {"clusterforests/py.typed"}) == ["lacks clusterforests/py.typed"]
    assert check.wheel_faults(good - {"clusterforests/_core.abi3.so"}) == ["has 0 compiled modules"]
    assert len(check.wheel_faults(good | {"tests/core/test_core.py"})) == 1
    source = {f"src/{name}" for name in check.package_files()} | {*check.NEEDED_TO_BUILD, *check.LICENCES}
    assert check.sdist_faults(source) == []
    kept = {name for name in check.run("git", "ls-files").split() if not name.startswith(check.NOT_PUBLISHED)}
    assert check.sdist_faults(source | kept) == []
    assert len(check.sdist_faults(source | {"results/forest.csv", "model.cf", "notes.txt"})) == 3


def test_an_audit_that_looked_nothing_up_is_none():
    verdict = tool("audit").verdict
    fine = {"name": "numpy", "version": "2.0", "vulns": []}
    weak = {"name": "jinja2", "version": "1.0", "vulns": [{"id": "CVE-1"}]}
    skipped = {"name": "scipy", "skip_reason": "not found"}
    assert verdict([fine, {"name": "clusterforests", "skip_reason": "not found"}])[1] == 0
    assert verdict([fine, weak]) == ("jinja2 1.0: CVE-1\n1 of 2 packages that were looked up have known weaknesses.", 1)
    assert verdict([fine, skipped])[1] == 2
    assert "NOT audited" in verdict([skipped])[0]
    assert verdict([])[1] == 2
