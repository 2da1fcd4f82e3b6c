"""Fits and their summaries: what a method finds is counted, what it could not do is left out."""

import numpy as np
import pandas as pd
import pytest

from benchmarks import peer_methods
from benchmarks.fits import Fit, Table, Task, fit, precision, summarise
from benchmarks.pages import best_inputs, comparison, counted, difference, split_sections, switched_off, write_page
from benchmarks.peers import noise_apart


def blobs(n_groups, n_each=60):
    groups = np.repeat(np.arange(n_groups), n_each)
    X = np.random.default_rng(0).normal(size=(len(groups), 2)) + 12 * np.column_stack([groups, groups % 2])
    return Table(X, groups, n_groups)


def row(name, method, seed, ari, which="raw", seconds=1.0, error=""):
    return Fit(name, method, which, seed, ari, np.nan, seconds, 3, 100.0, 100.0, error)


@pytest.mark.parametrize("method", ["auto", "KMeans + silhouette", "GMM full + BIC", "GMM diag + BIC"])
def test_three_far_groups_are_counted(method):
    found = fit(Task("blobs", method, "raw", 0), blobs(3))
    assert (found.n_found, found.ari, found.right, found.error) == (3, 100.0, 100.0, "")


@pytest.mark.parametrize("method", ["KMeans + silhouette", "GMM diag + BIC"])
def test_more_rows_than_k_is_chosen_on_are_all_clustered(method, monkeypatch):
    monkeypatch.setattr(peer_methods, "MOST_ROWS", 60)
    found = fit(Task("blobs", method, "raw", 0), blobs(2))
    assert (found.n_found, found.ari) == (2, 100.0)


def test_one_group_is_one_for_mixtures():
    assert fit(Task("blobs", "GMM full + BIC", "raw", 0), blobs(1, 200)).n_found == 1


def test_noise_is_a_group_that_is_not_counted():
    found = noise_apart(np.array([0, -1, 1, -1]))
    assert (found.labels.tolist(), found.n_found) == ([0, 2, 1, 2], 2)
    assert noise_apart(np.array([-1, -1])).n_found == 1


def test_a_failed_fit_scores_nothing_and_says_why():
    found = fit(Task("blobs", "KMeans", "raw", 0), Table(np.full((5, 2), np.nan), np.arange(5), 2))
    assert (found.ari, found.right) == (0.0, 0.0)
    assert "NaN" in found.error


def test_precision_counts_ties_by_chance():
    assert precision(np.array([3.0, 2, 1, 0]), np.array([0, 1])) == 1
    assert precision(np.array([1.0, 1, 1, 1]), np.array([0, 1])) == 0.5


def test_summaries_are_means_over_seeds_without_what_was_too_slow():
    fits = [
        row("a", "KMeans", 0, 40.0),
        row("a", "KMeans", 1, 60.0),
        row("a", "Ward", 0, 0.0, error="too slow: stopped"),
    ]
    summary = summarise(pd.DataFrame([*fits, row("a", "Genie", 0, 0.0, error="ValueError: no")]))
    assert summary.loc[("ari", "a", "raw")].to_dict() == {"Genie": 0.0, "KMeans": 50.0}


def summary_of(scores):
    rows = [
        row(name, method, 0, ari, which) for (name, which), found in scores.items() for method, ari in found.items()
    ]
    return summarise(pd.DataFrame(rows))


def test_methods_get_their_better_input_and_are_compared_on_shared_sets():
    summary = summary_of(
        {
            ("a", "raw"): {"default": 50, "KMeans": 10, "Ward": 20},
            ("b", "raw"): {"default": 30, "KMeans": 90, "Ward": 8},
            ("a", "z"): {"KMeans": 60, "Ward": 5},
            ("b", "z"): {"KMeans": 50},
        }
    )
    scores, inputs = best_inputs(summary.loc["ari"], ["a", "b"], ["default", "KMeans", "Ward", "Genie"])
    assert inputs == {"default": "raw", "KMeans": "z", "Ward": "raw"}
    assert scores["KMeans"].tolist() == [60, 50]
    assert counted(scores) == ["a", "b"]
    assert difference(scores["default"], scores["Ward"]) == ["+26.0", "+22.0, +30.0", "2 / 0"]
    lines = comparison(scores, inputs).splitlines()
    assert [line.split(" | ")[0].strip("| *") for line in lines[2:]] == ["KMeans", "default", "Ward"]


def test_parts_switched_off_are_compared_on_what_all_of_them_have():
    found = {("a", "raw"): {"default": 50, "grown trees": 40}, ("b", "raw"): {"default": 30}}
    text = switched_off(summary_of(found), ["a", "b"], ["KMeans"])
    assert text.startswith("1 tables.")
    assert "| grown trees | 40.0 | -10.0 |" in text


def test_a_section_that_is_measured_replaces_its_own(tmp_path):
    page = tmp_path / "page.md"
    write_page(page, "# Old", {"One": "1", "Two": "2"})
    write_page(page, "# New", {"Two": "3"})
    assert page.read_text().startswith("# New\n")
    assert {title: text.strip() for title, text in split_sections(page.read_text()).items()} == {"One": "1", "Two": "3"}
