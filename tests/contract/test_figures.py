"""Every committed figure names the commit that made it; those of an earlier algorithm are listed with the reason."""

import csv
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import stamp

ROOT = Path(__file__).parents[2]
PAGES = [*ROOT.glob("benchmarks/*.md"), *ROOT.glob("benchmarks/*/RESULTS.md"), ROOT / "results" / "STAMP.md"]
ROWS = list(ROOT.glob("benchmarks/*/*.csv"))
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
def test_figures_of_an_earlier_algorithm_are_listed_with_the_reason(path, history):
    """Golden results of a page's commits that are today's tell that the algorithm is, in what the page depends on."""
    reason = EXCEPTIONS["stale"].get(name(path))
    if stamp.shows_today(path):
        assert reason is None, f"{name(path)} is of today's algorithm: take it off benchmarks/exceptions.toml."
    else:
        assert reason, f"{name(path)} is of another algorithm: `make figures`, or give the reason in exceptions.toml."


def test_exceptions_are_of_files_that_exist():
    for listed, files in (("stale", PAGES), ("unrecorded", ROWS)):
        assert set(EXCEPTIONS[listed]) <= {name(path) for path in files}


def test_cases_that_figures_depend_on_exist():
    assert {*stamp.PAPER, *stamp.CHOSEN} <= set(stamp.golden_results())
    assert set(stamp.CHOOSING) <= {name(path) for path in PAGES}
    assert {stamp.kind_of(path) for path in PAGES} == set(stamp.DEPENDS)


@pytest.mark.parametrize(
    ("changed", "current"),
    [
        ("", {"given", "chosen", "paper"}),
        ("number of clusters", {"given", "paper"}),
        ("default", {"paper"}),
        ("paper", set()),
    ],
)
def test_figures_are_out_of_date_if_a_case_changed_that_they_depend_on(monkeypatch, changed, current):
    """A case that one commit does not have is not compared, so that cases may be added."""
    now = stamp.golden_results()
    then = {case: {} if case == changed else now[case] for case in now if case != "many rows"}
    monkeypatch.setattr(stamp, "golden_results", lambda commit="": {"a": then, "b": {}, "": now}[commit])
    assert {kind for kind in stamp.DEPENDS if stamp.is_current("a+", kind)} == current
    assert not any(stamp.is_current(commit, kind) for commit in ("b", "") for kind in stamp.DEPENDS)
    monkeypatch.setattr(stamp, "golden_results", lambda commit="": now if commit else then)
    assert {kind for kind in stamp.DEPENDS if stamp.is_current("a", kind)} == current


def test_a_page_is_of_today_if_all_its_commits_are(monkeypatch, tmp_path):
    monkeypatch.setattr(stamp, "ROOT", tmp_path)
    monkeypatch.setattr(stamp, "is_current", lambda commit, kind: commit == "1" * 9)
    page = tmp_path / "PAGE.md"
    assert not stamp.shows_today(page)
    for commits, today in (("1", True), ("12", False), ("", False)):
        page.write_text(" ".join(f"commit {9 * digit} (golden results {12 * 'a'})," for digit in commits))
        assert stamp.shows_today(page) == today
    page.write_text(f"commit {9 * '1'}, whose golden results nobody wrote down")
    assert not stamp.shows_today(page)


def test_a_page_is_of_today_if_its_head_or_each_of_its_sections_is(monkeypatch, tmp_path):
    """A section that was measured anew does not make others current that have no stamp."""
    monkeypatch.setattr(stamp, "ROOT", tmp_path)
    monkeypatch.setattr(stamp, "is_current", lambda commit, kind: commit == "1" * 9)
    page, (new, old) = tmp_path / "PAGE.md", (f"commit {9 * d} (golden results {12 * 'a'})" for d in "12")
    for head, first, second, today in (
        ("", new, new, True),
        ("", new, "", False),
        ("", new, old, False),
        ("", new, f"commit {9 * '1'}", False),
        (new, "", "", True),
        (new, new, old, False),
        (old, new, new, False),
    ):
        page.write_text(f"# Title\n\n{head}\n\n## First\n\n{first}\n\n## Second\n\n{second}\n")
        assert stamp.shows_today(page) == today


def test_digests_tell_results_apart(monkeypatch):
    digest = stamp.golden_digest()
    assert re.fullmatch(r"[0-9a-f]{12}", digest)
    monkeypatch.setattr(stamp, "golden_results", lambda commit: {"default": {}})
    assert stamp.golden_digest() != digest
    monkeypatch.setattr(stamp, "golden_results", lambda commit: {})
    assert stamp.golden_digest() == ""


def test_a_stamp_can_be_read_again(monkeypatch):
    monkeypatch.setenv("CLUSTERFORESTS_COMMIT", "0123456789"[:9])
    text = stamp.stamp()
    assert COMMIT.findall(text) == ["012345678"]
    assert stamp.MADE_AT.findall(text) == ["012345678"]
    assert f"(golden results {stamp.golden_digest()})" in text
    assert "Python 3." in text
    assert "scikit-learn" in text


def test_a_figure_without_a_history_is_refused(monkeypatch, tmp_path):
    """An empty name in a table of results told nobody where its rows came from."""
    monkeypatch.delenv("CLUSTERFORESTS_COMMIT", raising=False)
    monkeypatch.setattr(stamp, "ROOT", tmp_path)
    with pytest.raises(ValueError, match="Figures need a git checkout, to name its commit"):
        stamp.current_commit()
