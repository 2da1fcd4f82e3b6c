"""What the user knows of the clusters, as the options of `fit` say it: pairs of rows, classes of some, sizes."""

import argparse
from typing import Any, NamedTuple

from clusterforests._utils.arrays import Int64Array
from clusterforests.app.files import DataFile, ReadProgress, Request, RowPairs, read_pairs
from clusterforests.estimator import ClusterForest
from clusterforests.table.reader.column_reading import DAY_FIRST, MONTH_FIRST

UNKNOWN = ("-1", "-1.0")  # classes as Python writes those that are not known


class GivenGuidance(NamedTuple):
    """Pairs and classes for `ClusterForest.fit`, and what is to be said about their files."""

    must_link: Int64Array | None
    cannot_link: Int64Array | None
    known_labels: list[str | None] | None
    notes: tuple[str, ...] = ()

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments of `fit`."""
        return {name: getattr(self, name) for name in ("must_link", "cannot_link", "known_labels")}

    def kept(self, forest: ClusterForest) -> dict[str, Any] | None:
        """Count what the labels keep, for JSON; None if nothing was asked for."""
        known = [name for name in self.known_labels or () if name is not None]
        facts = {
            "must_link": 0 if self.must_link is None else len(self.must_link),
            "cannot_link": 0 if self.cannot_link is None else len(self.cannot_link),
            "known_rows": len(known),
            "known_clusters": forest.known_clusters_,
            "min_size": forest.min_cluster_size,
            "max_size": forest.max_cluster_size,
        }
        return facts if any(facts.values()) else None


def check_guidance(given: argparse.Namespace) -> None:
    """Refuse options that exclude each other."""
    if given.outliers is not None and (given.min_size or given.max_size) is not None:
        size = "--min-size" if given.min_size is not None else "--max-size"
        given.usage(f"--outliers and {size} cannot be combined: rows that leave a cluster would change its size.")
    for option, column in (("--id", given.id), ("--label", given.label)):
        if given.known_labels is not None and column == given.known_labels:
            given.usage(f"{option} and --known-labels both name the column {column!r}. Leave one of them out.")


def read_guidance(given: argparse.Namespace, data: DataFile) -> GivenGuidance:
    """Read the files of pairs, and take the classes that are known."""
    files = {"--must-link": given.must_link, "--cannot-link": given.cannot_link}
    found = {option: read_pairs(option, path, data, given.encoding) for option, path in files.items() if path}
    together, apart = (found.get(option, RowPairs(None)) for option in files)
    return GivenGuidance(together.rows, apart.rows, _known_labels(given, data), (*together.notes, *apart.notes))


def _known_labels(given: argparse.Namespace, data: DataFile) -> list[str | None] | None:
    if data.known is None:
        return None
    known = [None if name in UNKNOWN else name for name in data.known]
    if not any(name is not None for name in known):
        raise ValueError(
            f"--known-labels {given.known_labels}: the column has no classes. Leave the option out, or fill in some."
        )
    return known


# What to read from a table, by the options of a command.


def request_of(given: argparse.Namespace, progress: ReadProgress, **more: Any) -> Request:
    """Say what to read, by the options that `add_data_options` added."""
    return Request(
        id=given.id,
        label=given.label,
        known=getattr(given, "known_labels", None),
        ignore=tuple(getattr(given, "ignore", ())),
        categories=tuple(getattr(given, "category", ())),
        numbers=tuple(getattr(given, "number", ())),
        dates=tuple(getattr(given, "date", ())),
        ordered=tuple(getattr(given, "ordered", ())),
        missing=tuple(given.missing),
        date_order=DAY_FIRST if given.day_first else MONTH_FIRST if given.month_first else "",
        delimiter=given.delimiter,
        decimal=given.decimal,
        encoding=given.encoding,
        header=not given.no_header,
        sheet=given.sheet,
        transpose=given.transpose,
        progress=progress,
        **more,
    )
