"""What to read from a table, by the options of a command."""

import argparse
from typing import Any

from clusterforests.cli.readers import ReadProgress, Request
from clusterforests.tables.column_reading import DAY_FIRST, MONTH_FIRST


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
