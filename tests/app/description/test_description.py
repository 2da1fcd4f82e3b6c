"""Descriptions of tables whose clusters are known: exact sentences, and nothing that is not so."""

import json
import re

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.pipeline import make_pipeline

from clusterforests import ClusterForest, TableReader, describe
from clusterforests.app.description.traits import Compared, find_traits, measure_effects, rank_columns
from clusterforests.app.description.words import ColumnWords
from clusterforests.app.table_reader.columns import Kind

SETTINGS = {"n_estimators": 40, "random_state": 0}


@pytest.fixture(scope="module")
def customers():
    """Draw three kinds of customers that no tree mistakes, with two columns of noise."""
    rng = np.random.default_rng(0)
    kind = np.repeat([0, 1, 2], [60, 50, 40])
    near = rng.uniform(-1, 1, 150)
    frame = pd.DataFrame(
        {
            "age": np.array([28, 45, 62])[kind] + near.round(),
            "income": 1000 * (np.array([60, 20, 40])[kind] + near),
            "channel": np.where(rng.random(150) < 0.8, np.array(["app", "store", "phone"])[kind], "web"),
            "newsletter": np.where(kind == 2, "no", "yes"),
            "visits": np.array([5, 30, 12])[kind] + near,
            "noise": rng.normal(size=150),
            "dice": rng.integers(1, 7, 150),
        }
    ).astype(dict.fromkeys(["channel", "newsletter"], "category"))
    return frame, ClusterForest(3, **SETTINGS).fit(frame)


def test_each_cluster_has_its_sentence_and_its_name(customers):
    frame, forest = customers
    found = describe(forest, frame)
    assert [cluster.text for cluster in found.clusters] == [
        "Younger (28 against 46), lower visits (5 against 29), higher income (60,085 against 20,912): 60 "
        "rows, recovered in 100 % of half forests.",
        "Lower income (20,249 against 59,285), higher visits (30 against 6), age always from 44 to 46 (100 % "
        "against 0 %): 50 rows, recovered in 90 % of half forests.",
        "Newsletter always no (100 % against 0 %), older (62 against 29), income mostly from 39,100 to 40,800 "
        "(82 % against 0 %): 40 rows, recovered in 100 % of half forests.",
    ]
    assert [cluster.name for cluster in found.clusters] == [
        "Younger, low visits",
        "Low income, high visits",
        "No newsletter, older",
    ]


def test_dates_units_and_orders_are_told_in_their_own_words():
    rng = np.random.default_rng(0)
    group, near = np.repeat([0, 1], [60, 40]), rng.uniform(-1, 1, 100)
    days = np.array([0, 700])[group] + rng.integers(0, 30, 100)
    frame = pd.DataFrame(
        {
            "signup": pd.Timestamp("2022-01-01") + pd.to_timedelta(days, unit="D"),
            "spend": [f"\u20ac{value:,.2f}" for value in np.array([1200, 90])[group] + 9 * near],
            "discount": [f"{value:.1f}%" for value in np.array([5, 25])[group] + near],
            "rim (cm)": np.array([10, 15])[group] + near,
        }
    )
    frame["mood"] = np.where(rng.random(100) < 0.1, "fair", np.array(["bad", "good"])[group])
    frame["answer"] = np.array(["ja", "nein"])[group]
    model = make_pipeline(TableReader({"mood": ["bad", "fair", "good"]}), ClusterForest(2, **SETTINGS)).fit(frame)
    found = describe(model, frame)
    texts = {trait.column: trait.text for trait in found.clusters[0].traits}
    assert re.fullmatch(r"earlier signup \(2022-01-\d\d against 2023-12-\d\d\)", texts["signup"])
    assert re.fullmatch(r"higher spend \(\u20ac1,\d\d\d against \u20ac\d\d\)", texts["spend"])
    assert re.fullmatch(r"lower discount \(5 against 25 %\)", texts["discount"].replace(".0", ""))
    assert re.fullmatch(r"lower rim \([\d.]+ against [\d.]+ cm\)", texts["rim (cm)"])
    assert texts["mood"] == "lower mood (bad against good)"
    assert texts["answer"].startswith("answer always ja (100 % against 0 %)")
    # The types of a frame say the same, but for units.
    typed = describe(model[-1], model[:-1].transform(frame))
    told = {trait.column: trait.text for trait in typed.clusters[0].traits}
    assert {name for name in texts if told[name] == texts[name]} == {"signup", "rim (cm)", "mood", "answer"}
    with pytest.raises(ValueError, match="rows are in another order"):
        describe(model, frame[::-1])


def test_words_of_a_sparse_table_are_those_of_its_topics():
    rng = np.random.default_rng(0)
    topic = np.repeat([0, 1, 2], [120, 100, 80])
    rates = np.full((3, 600), 0.02)
    for k in range(3):
        rates[k, 50 * k : 50 * (k + 1)] = 0.4
    X = scipy.sparse.csr_array(rng.poisson(rates[topic]).astype(float))
    forest = ClusterForest(3, **SETTINGS).fit(X)
    found = describe(forest, X)
    assert "The 600 columns were reduced to components, so none of them was tested alone." in found.answer
    assert (forest.labels_ == topic).mean() > 0.95
    for cluster in found.clusters:
        assert len(cluster.traits) == 8
        for trait in cluster.traits:
            assert (int(trait.column.split()[1]) - 1) // 50 == cluster.cluster
            assert trait.text.startswith(f"{trait.column} more often present (")
            assert cluster.name.startswith("Column ")


def test_a_large_difference_in_a_column_that_is_not_informative_hides_no_other():
    table = np.column_stack([np.repeat([0.0, 1], 20), np.arange(40) / 40, np.arange(40) / 40])
    labels, weights = np.repeat([0, 1], 20), np.ones(40)
    effects = measure_effects(rank_columns(table, weights), labels, weights, 2)
    columns = [ColumnWords(j, name, Kind.NUMBER) for j, name in enumerate("abc")]
    compared = Compared(table, weights, labels == 0)
    for informative in ([1, 2], [2]):
        found = find_traits(compared, columns, effects, 0, np.array(informative))
        assert [trait.column for trait in found] == ["abc"[j] for j in informative]


def test_the_parts_are_those_of_the_forest(customers):
    frame, forest = customers
    found = describe(forest, frame)
    assert [cluster.size for cluster in found.clusters] == [60, 50, 40]
    assert [cluster.recovered for cluster in found.clusters] == forest.stability().recovered.tolist()
    first = found.clusters[0].traits[0]
    assert (first.column, first.statistic, first.effect) == ("age", "median", -1)
    assert first.inside == frame["age"][:60].median()
    assert first.outside == frame["age"][60:].median()
    assert found.ambiguous.count == 0
    assert found.ambiguous.text == "No row is ambiguous: each has its highest membership in its own cluster."
    assert (found.n_rows, found.n_rows_read) == (150, 150)


def test_it_is_printed_shown_and_written_as_json(customers):
    frame, forest = customers
    found = describe(forest, frame)
    assert max(map(len, str(found).split("\n"))) <= 79
    told = " ".join(str(found).split())
    plain = json.loads(json.dumps(found.to_dict()))
    for cluster, entry in zip(found.clusters, plain["clusters"], strict=True):
        assert cluster.text in told
        assert (entry["text"], entry["name"], entry["rows"]) == (cluster.text, cluster.name, cluster.size)
        assert len(entry["traits"]) == len(cluster.traits)
    assert not [line for line in str(found).split("\n") if line.strip().startswith("%")]
    assert all(caveat in told for caveat in found.caveats)
    assert plain["caveats"] == list(found.caveats)
    assert len(found.cluster_lines(most=1)) < len(found.cluster_lines())
    assert "... and 2 more clusters" in found.cluster_lines(most=1)


def test_markup_is_escaped_in_notebooks():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(40, 2)) + 9 * np.repeat([[0], [1]], 20, axis=0), columns=["<b>", "x"])
    shown = describe(ClusterForest(2, **SETTINGS).fit(frame), frame)._repr_html_()
    assert "&lt;b&gt;" in shown
    assert "<b>igh" not in shown


def test_one_cluster_is_no_cluster():
    X = np.random.default_rng(0).normal(size=(60, 3))
    chosen = describe(ClusterForest(**SETTINGS).fit(X), X)
    assert str(chosen).startswith("There are no clusters: the 60 rows cannot be told from rows without clusters.")
    assert chosen.clusters == ()
    given = describe(ClusterForest(1, **SETTINGS).fit(X), X)
    assert given.answer == "The 60 rows form one cluster, as requested."


def test_clusters_of_noise_differ_in_nothing():
    X = np.random.default_rng(3).normal(size=(200, 6))
    found = describe(ClusterForest(3, **SETTINGS).fit(X), X)
    for cluster in found.clusters:
        assert cluster.text.startswith("Differs from the others in no informative column: ")
        assert cluster.name == f"Cluster {cluster.cluster}"


@pytest.mark.parametrize("seed", range(6))
def test_what_is_said_is_so_and_noise_is_never_mentioned(seed):
    """Directions, numbers and shares are compared with the table; noise is in no sentence."""
    rng = np.random.default_rng(seed)
    k = int(rng.integers(2, 6))
    truth = rng.integers(0, k, 300)
    frame = pd.DataFrame({f"noise {j}": rng.standard_t(3, 300) for j in range(10)})
    for j in range(4):
        frame[f"signal {j}"] = 6 * rng.normal(size=k)[truth] + rng.normal(size=300)
    frame["kind"] = np.where(rng.random(300) < 0.9, np.array(list("abcdef"))[truth], "z")
    frame[rng.random(frame.shape) < 0.03] = None
    frame["kind"] = frame["kind"].astype("category")
    forest = ClusterForest(k, **SETTINGS).fit(frame)
    for cluster in describe(forest, frame).clusters:
        assert "noise" not in cluster.text + cluster.name
        inside = forest.labels_ == cluster.cluster
        for trait in cluster.traits:
            here, there = frame[trait.column][inside].dropna(), frame[trait.column][~inside].dropna()
            if trait.interval is not None:
                shares = [cells.between(*trait.interval).mean() for cells in (here, there)]
            elif trait.level is not None:
                shares = [(cells == trait.level).mean() for cells in (here, there)]
            else:
                shares = [getattr(cells.astype(float), trait.statistic)() for cells in (here, there)]
                assert ("higher" in trait.text) == (shares[0] > shares[1]) == (trait.effect > 0)
                assert ("lower" in trait.text) == (shares[0] < shares[1])
            assert (trait.inside, trait.outside) == pytest.approx(shares)
            assert abs(trait.effect) >= 0.33


def test_weights_count():
    X = np.random.default_rng(0).normal(size=(80, 3)) + 9 * np.repeat([[0], [1]], 40, axis=0)
    weights = np.where(np.arange(80) % 4 == 0, 3.0, 1.0)
    forest = ClusterForest(2, **SETTINGS).fit(X, sample_weight=weights)
    copies = np.repeat(np.arange(80), weights.astype(int))
    for cluster in describe(forest, X).clusters:
        for trait in cluster.traits:
            x, inside = X[copies, int(trait.column[-1]) - 1], forest.labels_[copies] == cluster.cluster
            assert (trait.inside, trait.outside) == pytest.approx((np.median(x[inside]), np.median(x[~inside])))


def test_equal_medians_give_way_to_means():
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1], 100)
    frame = pd.DataFrame(rng.normal(size=(200, 3)) + 9 * group[:, None], columns=["x", "y", "z"])
    frame["returns"] = np.where(group == 1, rng.permutation(np.arange(200) % 20 // 11 * 4), 0)  # 45 % are not 0
    found = describe(ClusterForest(2, **SETTINGS).fit(frame), frame)
    said = [trait for cluster in found.clusters for trait in cluster.traits if trait.column == "returns"]
    assert {trait.statistic for trait in said} == {"mean"}
    assert said[0].text.startswith(("higher returns (on average ", "lower returns (on average 0.0 against "))


def test_columns_of_few_values_that_part_far_groups_are_informative():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, size=(60, 2)) + 50.0 * np.repeat([[0], [1]], 30, axis=0)
    forest = ClusterForest(2, **SETTINGS).fit(X)
    assert (forest.feature_importances_ > 0.9).all()
    texts = [cluster.text for cluster in describe(forest, X, names=["a", "b"]).clusters]
    assert all(re.match(r"(Higher|Lower) [ab] \((5[12] against 1|1 against 5[12])\), ", text) for text in texts)


def test_ambiguous_rows_are_named_with_their_clusters():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(120, 4)) + 1.5 * np.repeat([[0], [1], [2]], 40, axis=0)
    forest = ClusterForest(3, **SETTINGS).fit(X)
    found = describe(forest, X, ids=[f"r{i}" for i in range(120)])
    ambiguous = np.flatnonzero(forest.consensus_silhouette_ < 0)
    assert len(ambiguous) > 0
    assert found.ambiguous.count == len(ambiguous) == sum(cluster.ambiguous for cluster in found.clusters)
    named = [row for pair in found.ambiguous.pairs for row in pair.rows.tolist()]
    assert sorted(named) == ambiguous.tolist()
    soft = forest.memberships_
    for pair in found.ambiguous.pairs:
        for row in pair.rows:
            others = np.delete(np.arange(3), forest.labels_[row])
            best = others[soft[row, others].argmax()]
            assert {int(forest.labels_[row]), int(best)} == set(pair.clusters)
    assert re.search(r"between clusters \d and \d \((such as )?rows? r\d+", found.ambiguous.text)


def test_a_fitted_forest_and_its_table_are_needed(customers):
    frame, forest = customers
    with pytest.raises(ValueError, match="not fitted"):
        describe(ClusterForest(3), frame)
    with pytest.raises(ValueError, match="X has 149 rows but the forest was fitted on 150"):
        describe(forest, frame[:-1])
    with pytest.raises(ValueError, match="names must hold 7 names"):
        describe(forest, frame, names=["a"])
