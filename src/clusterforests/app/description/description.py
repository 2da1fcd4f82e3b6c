"""A clustering in plain English: what was found, each cluster in a sentence or two, ambiguous rows, caveats."""

import html
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from clusterforests._utils.arrays import FloatArray, IndexArray
from clusterforests.app.description.ambiguous_rows import AmbiguousRows, find_ambiguous
from clusterforests.app.description.clustering import Clustering, forest_of, measure
from clusterforests.app.description.described_table import DescribedTable, read_table, typed_table
from clusterforests.app.description.sentences import answer, caveats
from clusterforests.app.description.traits import (
    Compared,
    Trait,
    find_traits,
    measure_effects,
    rank_columns,
    trait_entry,
)
from clusterforests.app.description.words import capitalised, counted, percent

# A short name for each cluster, from what tells it apart.

USUAL = 2  # traits in a name


def name_clusters(traits: list[tuple[Trait, ...]]) -> list[str]:
    """Suggest names, all different: by two traits, by more where that is not enough, or by the number."""
    names = [_joined(found, USUAL) for found in traits]
    for c, found in enumerate(traits):
        for count in range(USUAL + 1, len(found) + 1):
            if names.count(names[c]) > 1:
                names[c] = _joined(found, count)
    return [name if name and names.count(name) == 1 else f"{name or 'Cluster'} {c}" for c, name in enumerate(names)]


def _joined(traits: tuple[Trait, ...], count: int) -> str:
    return capitalised(", ".join(trait.name for trait in traits[:count])) if traits else ""


SAID = 3  # traits in a sentence
WIDTH = 79  # of lines on the screen


@dataclass(frozen=True)
class ClusterDescription:
    """A cluster in words.

    Attributes
    ----------
    cluster : int
        Its number.
    name : str
        A suggestion for a short name.
    size : int
        Number of rows.
    recovered : float or None
        Share of the half forests in which some cluster has a Jaccard index of at least 0.75 with this one: see
        `clusterforests.inspection.stability`. None if it is not known.
    ambiguous : int
        Number of its rows with a higher membership in another cluster.
    traits : tuple of Trait
        What tells it apart from all other rows, the largest effect first. Only informative columns are looked at, and
        only differences above a floor are listed.
    text : str
        One or two sentences.
    """

    cluster: int
    name: str
    size: int
    recovered: float | None
    ambiguous: int
    traits: tuple[Trait, ...]
    text: str


@dataclass(frozen=True)
class Description:
    """A clustering in words. `print` it, or take its parts.

    Attributes
    ----------
    answer : str
        What was found, in one to three sentences.
    clusters : tuple of ClusterDescription
        Each cluster; empty if there is only one.
    ambiguous : AmbiguousRows
        Rows with a higher membership in another cluster than their own, and between which clusters they lie.
    caveats : tuple of str
        What to know before the clusters are used.
    n_rows : int
        Number of rows.
    n_rows_read : int
        Number of rows that the differences are measured on: all, or a sample.
    """

    answer: str
    clusters: tuple[ClusterDescription, ...]
    ambiguous: AmbiguousRows
    caveats: tuple[str, ...]
    n_rows: int
    n_rows_read: int

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self, width: int = WIDTH) -> list[str]:
        """Return the description as lines of text.

        Parameters
        ----------
        width : int, default=79
            Length of the lines, in characters.

        Returns
        -------
        lines : list of str
        """
        return [*_wrapped(self.answer, width), *self.cluster_lines(width), *self.caveat_lines(width)]

    def cluster_lines(self, width: int = WIDTH, most: int | None = None) -> list[str]:
        """Return the clusters and the ambiguous rows as lines of text, each paragraph after an empty line.

        Parameters
        ----------
        width : int, default=79
            Length of the lines, in characters.
        most : int or None, default=None
            Number of clusters to describe; None means all.

        Returns
        -------
        lines : list of str
        """
        lines = []
        for cluster in self.clusters[:most]:
            lines += [
                "",
                *_wrapped(f"{cluster.cluster}  {cluster.name}", width),
                *_wrapped(cluster.text, width, "   ", "   "),
            ]
        if most is not None and len(self.clusters) > most:
            lines += ["", f"... and {len(self.clusters) - most} more clusters"]
        return [*lines, "", *_wrapped(self.ambiguous.text, width)] if self.clusters else []

    def caveat_lines(self, width: int = WIDTH) -> list[str]:
        """Return the caveats as lines of text, after an empty line.

        Parameters
        ----------
        width : int, default=79
            Length of the lines, in characters.

        Returns
        -------
        lines : list of str
        """
        lines = ["", "Caveats:"] if self.caveats else []
        for caveat in self.caveats:
            lines += _wrapped(caveat, width, "  ", "- ")
        return lines

    def to_dict(self) -> dict[str, Any]:
        """Return the description as plain numbers, text, lists and dictionaries, as JSON has them.

        Returns
        -------
        entries : dict
        """
        return {
            "answer": self.answer,
            "clusters": [
                {
                    "cluster": cluster.cluster,
                    "name": cluster.name,
                    "text": cluster.text,
                    "rows": cluster.size,
                    "recovered": cluster.recovered,
                    "ambiguous": cluster.ambiguous,
                    "traits": [trait_entry(trait) for trait in cluster.traits],
                }
                for cluster in self.clusters
            ],
            "ambiguous": self.ambiguous.to_dict(),
            "caveats": list(self.caveats),
            "rows": self.n_rows,
            "rows_read": self.n_rows_read,
        }

    def _repr_html_(self) -> str:
        """Show the description in a notebook."""
        items = "".join(
            f"<dt><b>{cluster.cluster}</b> {html.escape(cluster.name)}</dt><dd>{html.escape(cluster.text)}</dd>"
            for cluster in self.clusters
        )
        ambiguous = f"<p>{html.escape(self.ambiguous.text)}</p>" if self.clusters else ""
        warnings = "".join(f"<li>{html.escape(caveat)}</li>" for caveat in self.caveats)
        return f"<p>{html.escape(self.answer)}</p><dl>{items}</dl>{ambiguous}<p>Caveats:</p><ul>{warnings}</ul>"


def _wrapped(text: str, width: int, indent: str = "", first: str | None = None) -> list[str]:
    """Break a text into lines, but not before a per cent sign."""
    start = indent if first is None else first
    joined = text.replace(" %", "\0%").replace("< ", "<\0").replace("> ", ">\0")
    lines = textwrap.wrap(joined, width, initial_indent=start, subsequent_indent=indent)
    return [line.replace("\0", " ") for line in lines]


def describe(model: Any, X: Any, names: Sequence[Any] | None = None, ids: Sequence[Any] | None = None) -> Description:
    """Describe the clusters in plain English: what tells each apart, how surely it is there, which rows are ambiguous.

    Parameters
    ----------
    model : ClusterForest, PaperForest or Pipeline
        A fitted forest, or a fitted pipeline of a `TableReader` and a forest.
    X : array-like of shape (n_samples, n_features)
        The table that it was fitted on; another one, or another order of its rows, is refused. That of a pipeline is
        described in the units of its original columns.
    names : sequence of str or None, default=None
        Names of the columns that the forest sees; None means those of X, or "column 1", "column 2", ...
    ids : sequence or None, default=None
        Names of the rows, for the ambiguous ones; None numbers them from 1.

    Returns
    -------
    description : Description
        Text when printed; its `clusters`, `ambiguous` and `caveats` are its parts, and `to_dict` is for JSON.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.pipeline import make_pipeline
    >>> from clusterforests import ClusterForest, TableReader, describe
    >>> table = pd.DataFrame({"height": [f"{cm} cm" for cm in (150, 152, 155, 190, 192, 195)] * 5})
    >>> model = make_pipeline(TableReader(), ClusterForest(2, random_state=0)).fit(table)
    >>> print(describe(model, table).clusters[0].text)
    Shorter (152 against 192 cm): 15 rows, recovered in 100 % of half forests.
    """
    forest = forest_of(model)
    check_is_fitted(forest)
    X, readings = typed_table(model, X)
    doubts = forest.check_table(X)
    clustering = measure(forest)
    table = read_table(clustering, X, names, ids, readings)
    found = describe_clusters(clustering, table)
    return replace(found, caveats=(*doubts, *found.caveats))


def describe_clusters(
    clustering: Clustering, table: DescribedTable, *, ranks: FloatArray | None = None, chosen: Any = None
) -> Description:
    """Describe clusters by what is known of them.

    `ranks` are those of the table's columns, if they are known, and `chosen` is the evidence by which another number of
    clusters was chosen.
    """
    k, ambiguous = clustering.n_clusters, find_ambiguous(clustering, table.ids)
    clusters: tuple[ClusterDescription, ...] = ()
    if k > 1:
        # What tells each cluster apart from all other rows.
        weights, labels = _weights(clustering, table), clustering.labels[table.rows]
        given = rank_table(clustering, table) if ranks is None else ranks
        effects = measure_effects(given, labels, weights, k)
        informative, sparse = informative_places(clustering.forest), table.words_of_text
        traits = [
            find_traits(
                Compared(table.values, weights, labels == c), table.columns, effects, c, informative, sparse=sparse
            )
            for c in range(k)
        ]
        names = name_clusters(traits)
        recovered = [None if np.isnan(share) else float(share) for share in clustering.recovered]
        clusters = tuple(
            ClusterDescription(
                cluster=c,
                name=names[c],
                size=int(clustering.sizes[c]),
                recovered=recovered[c],
                ambiguous=int(ambiguous.towards[c].sum()),
                traits=traits[c],
                text=" ".join(
                    filter(None, [_about(traits[c], int(clustering.sizes[c]), recovered[c]), ambiguous.about(c)])
                ),
            )
            for c in range(k)
        )
    said, known = answer(clustering, table), tuple(caveats(clustering, table, chosen))
    return Description(said, clusters, ambiguous, known, len(clustering.labels), len(table.rows))


def informative_places(forest: Any) -> IndexArray:
    """List the features that something may be said of: the informative ones, or all if that is not known."""
    if forest.n_features_in_ == 1 or np.isnan(forest.feature_pvalues_).any():
        return np.arange(forest.n_features_in_)
    return np.flatnonzero(forest.feature_importances_ > 0)


def rank_table(clustering: Clustering, table: DescribedTable) -> FloatArray:
    """Rank the rows of the table by each column that may be mentioned, with the forest's weights."""
    informative = informative_places(clustering.forest)
    named = np.isin([column.feature for column in table.columns], informative) | (len(informative) == 0)
    return rank_columns(table.values, _weights(clustering, table), named)


def _weights(clustering: Clustering, table: DescribedTable) -> FloatArray:
    return np.ones(len(table.rows)) if clustering.weights is None else clustering.weights[table.rows]


def _about(traits: tuple[Trait, ...], size: int, recovered: float | None) -> str:
    """Say what tells a cluster apart, how many rows it has and how surely it is there."""
    said = ", ".join(trait.text for trait in traits[:SAID]) or "differs from the others in no informative column"
    found = "" if recovered is None else f", recovered in {percent(recovered)} of half forests"
    return f"{capitalised(said)}: {counted(size, 'row')}{found}."
