"""What a release consists of: one version and the same dependencies everywhere, a licence for each of them."""

import re
import tomllib
from pathlib import Path

import yaml
from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
VERSION = PROJECT["project"]["version"]


def test_one_version():
    """Development versions, as ours end in .dev0, are the release for R and the changelog."""
    written = {
        "CITATION.cff": "version: (.+)",
        "r/DESCRIPTION": "Version: (.+)",
        "conda/recipe.yaml": ' +version: "(.+)"',
        "CHANGELOG.md": r"## (\S+).*",
    }
    allowed = VERSION, Version(VERSION).base_version
    for file, line in written.items():
        assert re.search(f"^{line}$", (ROOT / file).read_text(), re.M)[1] in allowed, file


def test_every_dependency_has_a_licence():
    project = PROJECT["project"]
    lists = [project["dependencies"], PROJECT["build-system"]["requires"], *project["optional-dependencies"].values()]
    needed = {Requirement(text).name for texts in lists for text in texts} - {"clusterforests"}
    rows = re.findall(r"^\| ([\w-]+) \| .+ \| .+ \|$", (ROOT / "docs/licences.md").read_text(), re.M)
    assert sorted(rows[1:]) == sorted(needed | {"robin-map"})


def test_conda_recipe_needs_what_the_package_needs():
    requirements = yaml.safe_load((ROOT / "conda/recipe.yaml").read_text())["requirements"]
    needed = [Requirement(text) for text in PROJECT["project"]["dependencies"]]
    everywhere = [f"{one.name} {one.specifier}" for one in needed if one.marker is None]
    windows = [f"{one.name} {one.specifier}" for one in needed if one.marker is not None]
    assert requirements["run"] == ["python", *everywhere, {"if": "win", "then": windows}]
    build = [f"{one.name} {one.specifier}" for one in map(Requirement, PROJECT["build-system"]["requires"])]
    assert set(build) <= set(requirements["host"])
