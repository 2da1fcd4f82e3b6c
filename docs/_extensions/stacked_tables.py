"""Let tables of words fit a phone: there each row becomes a block, in which cells are named after their columns.

The blocks are made by site.css; here such tables get a class, and cells the names, which wide screens do not show.
"""

from docutils import nodes
from sphinx.application import Sphinx

MOST_COLUMNS = 4  # tables with more are of numbers, whatever stands beside these
WORDS = 20  # mean number of characters of cells beside the first column: cells of numbers have fewer


def cells_of(part: nodes.Element) -> list[list[nodes.entry]]:
    """Return the cells of each row of a table's head or body."""
    return [list(row.findall(nodes.entry)) for row in part.findall(nodes.row)]


def has_words(rows: list[list[nodes.entry]]) -> bool:
    """Tell whether the cells beside the first column are sentences rather than numbers."""
    lengths = [len(text) for row in rows for cell in row[1:] if (text := cell.astext())]
    return 2 <= len(rows[0]) <= MOST_COLUMNS and sum(lengths) >= WORDS * len(lengths)


def stack(table: nodes.table) -> None:
    """Name the cells of a table of words after their columns."""
    head, body = next(table.findall(nodes.thead), None), next(table.findall(nodes.tbody))
    rows = cells_of(body)
    if head is None or "autosummary" in table["classes"] or not has_words(rows):
        return
    table["classes"].append("stacked")
    names = [cell.astext() for cell in cells_of(head)[-1]]
    for row in rows:
        for name, cell in zip(names[1:], row[1:], strict=True):
            if name and cell.astext() and len(names) > 2:  # of two, the second needs no name
                cell.insert(0, nodes.paragraph("", name, classes=["column-name"]))


def stack_tables(app: Sphinx, page: nodes.document, _name: str) -> None:
    if app.builder.format == "html":
        for table in page.findall(nodes.table):
            stack(table)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("doctree-resolved", stack_tables)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
