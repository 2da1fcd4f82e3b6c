"""What to read from a table, by the options of a command."""

import argparse
from typing import Any

from clusterforests.cli.readers import ReadProgress, Request


def request_of(given: argparse.Namespace, progress: ReadProgress, **more: Any) -> Request:
    """Say what to read, by the options that `add_data_options` added."""
    return Request(
        id=given.id,
        label=given.label,
        ignore=tuple(getattr(given, "ignore", ())),
        categories=tuple(getattr(given, "category", ())),
        delimiter=given.delimiter,
        decimal=given.decimal,
        encoding=given.encoding,
        header=not given.no_header,
        sheet=given.sheet,
        transpose=given.transpose,
        progress=progress,
        **more,
    )
