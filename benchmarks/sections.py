"""Measure a page of figures section by section: each is written as soon as it is measured, and the others stay."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from stamp import is_of_today, split_sections, stamp


class Section(NamedTuple):
    """A title, and the function that measures the lines below it."""

    title: str
    lines: Callable[[], Iterable[str]]


def outdated(page: str, sections: Mapping[str, Section]) -> list[str]:
    """Name the sections that are missing from a page or do not show the algorithm as it is now."""
    _, found = split_sections(page)
    return [name for name, section in sections.items() if not is_of_today(found.get(section.title, ""))]


def replaced(page: str, head: str, title: str, body: str, order: Sequence[str]) -> str:
    """Return a page with a new head and one section replaced or added; sections of unknown titles come last."""
    _, found = split_sections(page)
    found[title] = body
    titles = [*(known for known in order if known in found), *(other for other in found if other not in order)]
    return "\n\n".join([head, *(f"## {title}\n\n{found[title].strip()}" for title in titles)]) + "\n"


def measure(sections: Mapping[str, Section], head: str, out: Path | None, only: Sequence[str], about: str = "") -> None:
    """Measure the named sections, or else those that are out of date, print them and write them into a page.

    Each ends with a remark, `about`, and the stamp of the code.
    """
    names = only or outdated(_text(out), sections)
    order = [section.title for section in sections.values()]
    made = f"{about} {stamp()}".strip()
    if not names:
        print(f"{out}: all sections are of the algorithm as it is now. --only measures some again.")
    for section in map(sections.__getitem__, names):
        print(f"## {section.title}\n")
        lines = []
        for line in chain(section.lines(), [f"\n{made}\n"]):
            print(line, flush=True)
            lines.append(line)
        if out:
            # It is read again, so that what was changed in the meantime is kept.
            out.write_text(replaced(_text(out), head, section.title, "\n".join(lines), order), encoding="utf-8")


def _text(page: Path | None) -> str:
    return page.read_text(encoding="utf-8") if page and page.exists() else ""
