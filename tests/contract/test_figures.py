"""Every committed figure names the commit that made it; those of an earlier algorithm are listed with the reason."""

import csv
import json
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import stamp

ROOT = Path(__file__).parents[2]
PAGES = [*ROOT.glob("benchmarks/*.md"), *ROOT.glob("benchmarks/*/RESULTS.md"), ROOT / "results" / "STAMP.md"]
ROWS = [path for path in ROOT.glob("benchmarks/*/*.csv") if path.name != "timing.csv"]  # its page names the commit
EXCEPTIONS = tomllib.loads((ROOT / "benchmarks" / "exceptions.toml").read_text(encoding="utf-8"))
COMMIT = re.compile(r"\bcommit ([0-9a-f]{9})\b")


def name(path):
    return str(path.relative_to(ROOT))


def git(*command):
    return subprocess.run(["git", "-C", str(ROOT), *command], capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def history():
    """Return the commits of this history by the first nine digits; skip, visibly, where it is not whole."""
    if git("rev-parse", "--is-shallow-repository").stdout.strip() != "false":
        pytest.skip(
            "This is no checkout with its whole history, so commits cannot be looked up (git fetch --unshallow)."
        )
    return {line[:9] for line in git("rev-list", "HEAD").stdout.split()}


def commits_of(path):
    with path.open(encoding="utf-8", newline="") as file:
        return [row["commit"] for row in csv.DictReader(file)]


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_a_page_of_figures_names_commits_of_this_history(path, history):
    found = set(COMMIT.findall(path.read_text(encoding="utf-8")))
    assert found, f"{name(path)} names no commit: write it with `stamp()` of benchmarks/stamp.py."
    assert found <= history


@pytest.mark.parametrize("path", ROWS, ids=name)
def test_every_row_names_a_commit_of_this_history(path, history):
    commits = commits_of(path)
    assert {commit.rstrip("+") for commit in commits} - {""} <= history


@pytest.mark.parametrize("path", ROWS, ids=name)
def test_rows_without_a_known_commit_are_listed(path):
    unknown = sum(commit == "" or commit.endswith("+") for commit in commits_of(path))
    assert unknown == EXCEPTIONS["unrecorded"].get(name(path), 0)


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_figures_of_an_earlier_algorithm_are_listed_with_the_reason(path):
    """Golden results that are today's tell that the algorithm is; those of the paper depend on its own cases."""
    reason = EXCEPTIONS["stale"].get(name(path))
    if stamp.shows_today(path):
        assert reason is None, f"{name(path)} is of today's algorithm: take it off benchmarks/exceptions.toml."
    else:
        assert reason, f"{name(path)} is of another algorithm: `make figures`, or give the reason in exceptions.toml."


def test_exceptions_are_of_files_that_exist():
    for listed, files in (("stale", PAGES), ("unrecorded", ROWS)):
        assert set(EXCEPTIONS[listed]) <= {name(path) for path in files}


def test_digests_tell_results_apart():
    assert stamp.golden_digest() != stamp.golden_digest(cases=stamp.PAPER)
    assert re.fullmatch(r"[0-9a-f]{12}", stamp.golden_digest())
    assert set(stamp.PAPER) <= set(json.loads((ROOT / stamp.GOLDEN).read_text(encoding="utf-8")))


def test_a_stamp_can_be_read_again(monkeypatch):
    monkeypatch.setenv("CLUSTERFORESTS_COMMIT", "0123456789"[:9])
    text = stamp.stamp()
    assert COMMIT.findall(text) == ["012345678"]
    assert stamp.DIGEST.findall(text) == [stamp.golden_digest()]
    assert "Python 3." in text
    assert "scikit-learn" in text


def test_a_figure_without_a_history_is_refused(monkeypatch, tmp_path):
    """An empty name in a table of results told nobody where its rows came from."""
    monkeypatch.delenv("CLUSTERFORESTS_COMMIT", raising=False)
    monkeypatch.setattr(stamp, "ROOT", tmp_path)
    with pytest.raises(ValueError, match="Figures need a git checkout, to name its commit"):
        stamp.current_commit()
