"""The story of a clustering: what was found, each cluster in a sentence or two, the doubtful rows, and cautions."""

import html
import textwrap
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from clusterforests._utils.arrays import FloatArray, IndexArray
from clusterforests.description.ambiguous_rows import DoubtfulRows, find_doubtful
from clusterforests.description.same_table import check_same_columns, check_same_table
from clusterforests.description.sentences import Certainty, answer, cautions, measure_certainty
from clusterforests.description.table_sample import StoryLimits, TableSample, sample_table
from clusterforests.description.traits import (
    Compared,
    Trait,
    find_traits,
    measure_effects,
    rank_columns,
    trait_entry,
)
from clusterforests.description.words import capitalised, counted, percent, words_for
from clusterforests.forest_view import ForestView
from clusterforests.judge.evidence import NClustersEvidence

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
class ClusterStory:
    """A cluster in words.

    Attributes
    ----------
    cluster : int
        Its number.
    name : str
        A suggestion for a short name.
    size : int
        Number of rows.
    found_again : float or None
        Share of the half forests in which some cluster has a Jaccard index of at least 0.75 with this one: see
        `clusterforests.inspection.stability`. None if it is not known.
    doubtful : int
        Number of its rows with a higher membership in another cluster.
    traits : tuple of Trait
        What tells it apart from all other rows, the largest effect first. Only columns that tell are looked at, and
        only differences above a floor are listed.
    text : str
        One or two sentences.
    """

    cluster: int
    name: str
    size: int
    found_again: float | None
    doubtful: int
    traits: tuple[Trait, ...]
    text: str


@dataclass(frozen=True)
class Summary:
    """A clustering in words. `print` it, or take its parts.

    Attributes
    ----------
    answer : str
        What was found, in one to three sentences.
    clusters : tuple of ClusterStory
        Each cluster; empty if there is only one.
    doubtful : DoubtfulRows
        Rows with a higher membership in another cluster than their own, and between which clusters they lie.
    cautions : tuple of str
        What to know before the clusters are used.
    n_rows : int
        Number of rows.
    n_rows_read : int
        Number of rows that the differences are measured on: all, or a sample.
    """

    answer: str
    clusters: tuple[ClusterStory, ...]
    doubtful: DoubtfulRows
    cautions: tuple[str, ...]
    n_rows: int
    n_rows_read: int

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self, width: int = WIDTH) -> list[str]:
        """Return the summary as lines of text.

        Parameters
        ----------
        width : int, default=79
            Length of the lines, in characters.

        Returns
        -------
        lines : list of str
        """
        return [*_wrapped(self.answer, width), *self.cluster_lines(width), *self.caution_lines(width)]

    def cluster_lines(self, width: int = WIDTH, most: int | None = None) -> list[str]:
        """Return the clusters and the doubtful rows as lines of text, each paragraph after an empty line.

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
        for story in self.clusters[:most]:
            lines += [
                "",
                *_wrapped(f"{story.cluster}  {story.name}", width),
                *_wrapped(story.text, width, "   ", "   "),
            ]
        if most is not None and len(self.clusters) > most:
            lines += ["", f"... and {len(self.clusters) - most} more clusters"]
        return [*lines, "", *_wrapped(self.doubtful.text, width)] if self.clusters else []

    def caution_lines(self, width: int = WIDTH) -> list[str]:
        """Return the cautions as lines of text, after an empty line.

        Parameters
        ----------
        width : int, default=79
            Length of the lines, in characters.

        Returns
        -------
        lines : list of str
        """
        lines = ["", "Before you use these clusters:"] if self.cautions else []
        for caution in self.cautions:
            lines += _wrapped(caution, width, "  ", "- ")
        return lines

    def to_dict(self) -> dict[str, Any]:
        """Return the summary as plain numbers, text, lists and dictionaries, as JSON has them.

        Returns
        -------
        entries : dict
        """
        return {
            "answer": self.answer,
            "clusters": [
                {
                    "cluster": story.cluster,
                    "name": story.name,
                    "text": story.text,
                    "rows": story.size,
                    "found_again": story.found_again,
                    "doubtful": story.doubtful,
                    "traits": [trait_entry(trait) for trait in story.traits],
                }
                for story in self.clusters
            ],
            "doubtful": self.doubtful.to_dict(),
            "cautions": list(self.cautions),
            "rows": self.n_rows,
            "rows_read": self.n_rows_read,
        }

    def _repr_html_(self) -> str:
        """Show the summary in a notebook."""
        items = "".join(
            f"<dt><b>{story.cluster}</b> {html.escape(story.name)}</dt><dd>{html.escape(story.text)}</dd>"
            for story in self.clusters
        )
        doubtful = f"<p>{html.escape(self.doubtful.text)}</p>" if self.clusters else ""
        warnings = "".join(f"<li>{html.escape(caution)}</li>" for caution in self.cautions)
        return (
            f"<p>{html.escape(self.answer)}</p><dl>{items}</dl>{doubtful}"
            f"<p>Before you use these clusters:</p><ul>{warnings}</ul>"
        )


def _wrapped(text: str, width: int, indent: str = "", first: str | None = None) -> list[str]:
    """Break a text into lines, but not before a per cent sign."""
    start = indent if first is None else first
    joined = text.replace(" %", "\0%").replace("< ", "<\0").replace("> ", ">\0")
    lines = textwrap.wrap(joined, width, initial_indent=start, subsequent_indent=indent)
    return [line.replace("\0", " ") for line in lines]


def summarise(view: ForestView, X: Any, names: Any = None, ids: Any = None) -> Summary:
    """Tell the story of a fitted forest.

    Parameters
    ----------
    view : ForestView
        The forest.
    X : array-like of shape (n_samples, n_features)
        The table that it was fitted on.
    names, ids : sequence or None, default=None
        Names of the columns and of the rows.

    Returns
    -------
    summary : Summary
    """
    limits = StoryLimits()
    table = sample_table(view, X, names, ids, limits)
    doubts = check_same_table(view, X) + check_same_columns(view, table.rows, table.values)
    told = tell(view, measure_certainty(view, limits), table)
    return replace(told, cautions=(*doubts, *told.cautions))


def tell(
    view: ForestView,
    sure: Certainty,
    table: TableSample,
    *,
    ranks: FloatArray | None = None,
    chosen: NClustersEvidence | None = None,
) -> Summary:
    """Tell the story from what is known of a forest.

    `ranks` are those of the table's columns, if they are known, and `chosen` is what another number of clusters than
    that of the forest was chosen from.
    """
    k, doubtful = view.n_clusters, find_doubtful(sure, table.ids)
    stories: tuple[ClusterStory, ...] = ()
    if k > 1:
        traits = _traits(view, sure, table, ranks)
        names = name_clusters(traits)
        again = _found_again(sure, k)
        stories = tuple(
            ClusterStory(
                cluster=c,
                name=names[c],
                size=int(sure.sizes[c]),
                found_again=again[c],
                doubtful=int(doubtful.towards[c].sum()),
                traits=traits[c],
                text=" ".join(filter(None, [_about(traits[c], int(sure.sizes[c]), again[c]), doubtful.about(c)])),
            )
            for c in range(k)
        )
    warnings = tuple(cautions(view, sure, table, chosen))
    return Summary(answer(view, sure, table.names), stories, doubtful, warnings, len(sure.labels), len(table.rows))


def telling_features(view: ForestView) -> IndexArray:
    """List the features that something may be said of: those that tell, or all if that is not known."""
    if view.n_features == 1 or np.isnan(view.feature_pvalues).any():
        return np.arange(view.n_features)
    return np.flatnonzero(view.feature_importances > 0)


def rank_table(view: ForestView, table: TableSample) -> FloatArray:
    """Rank the rows of the table by each column that may be mentioned, with the forest's weights."""
    telling = telling_features(view)
    named = np.isin([column.feature for column in table.columns], telling) | (len(telling) == 0)
    return rank_columns(as_said(view, table).values, _weights(view, table), named)


def as_said(view: ForestView, table: TableSample) -> TableSample:
    """Of a sparse table that was reduced, say only which cells are not 0."""
    return replace(table, values=(table.values != 0).astype(np.float64)) if view.reduced else table


def _weights(view: ForestView, table: TableSample) -> FloatArray:
    given = view.weights_of(table.rows)
    return np.ones(len(table.rows)) if given is None else given


def _traits(view: ForestView, sure: Certainty, table: TableSample, ranks: FloatArray | None) -> list[tuple[Trait, ...]]:
    table = as_said(view, table)
    weights, labels = _weights(view, table), sure.labels[table.rows]
    columns, telling = words_for(view, table), telling_features(view)
    given = rank_table(view, table) if ranks is None else ranks
    effects = measure_effects(given, labels, weights, view.n_clusters)
    return [
        find_traits(Compared(table.values, weights, labels == c), columns, effects, c, telling, sparse=view.reduced)
        for c in range(view.n_clusters)
    ]


def _found_again(sure: Certainty, n_clusters: int) -> list[float | None]:
    found = sure.stability
    if found is None or len(found.found_again) != n_clusters:
        return [None] * n_clusters
    return [None if np.isnan(share) else float(share) for share in found.found_again]


def _about(traits: tuple[Trait, ...], size: int, again: float | None) -> str:
    """Say what tells a cluster apart, how many rows it has and how surely it is there."""
    said = ", ".join(trait.text for trait in traits[:SAID]) or "differs from the others in no column that tells"
    found = "" if again is None else f", found again in {percent(again)} of half forests"
    return f"{capitalised(said)}: {counted(size, 'row')}{found}."
