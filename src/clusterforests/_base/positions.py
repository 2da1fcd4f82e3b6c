"""Rows and columns in messages, which Python counts from 0, for readers who count from 1 or know rows by name."""

import re
from collections.abc import Callable

# What stands in quotes is the user's: a class may be called "row 3".
_PLACE = re.compile(r"""(?<!\w)(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")|\b(row|column) (\d+)\b""")


def from_one(place: int) -> str:
    """Count a place from 1."""
    return str(place + 1)


def rename_places(text: str, row_name: Callable[[int], str] = from_one) -> str:
    """Name the rows of a message as `row_name` does, and count columns without names from 1."""

    def renamed(found: re.Match[str]) -> str:
        if found[1] is None:
            return found[0]
        return f"{found[1]} {(row_name if found[1] == 'row' else from_one)(int(found[2]))}"

    return _PLACE.sub(renamed, text)
