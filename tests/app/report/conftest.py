"""A page as a browser would read it, and a forest to report on."""

import html.parser
import json

import numpy as np
import pytest

from clusterforests import ClusterForest
from clusterforests.app.report.json_values import PageLimits, unpacked
from clusterforests.app.report.writing import fill, gather

FEW_SPLITS = PageLimits(splits=2)


class Reader(html.parser.HTMLParser):
    """The elements of a page, the text of its scripts, and attributes that a browser would run or load."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.tags, self.scripts, self.suspect, self.texts, self.inside = [], [], [], {}, None

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.inside = (tag, dict(attrs).get("id"))
        self.suspect += [(tag, k, v) for k, v in attrs if k.startswith("on") or k in ("src", "style", "srcset")]
        if tag == "script":
            self.scripts.append("")

    def handle_data(self, text):
        if self.inside and self.inside[0] == "script":
            self.scripts[-1] += text
        elif self.inside:
            self.texts[self.inside[1] or self.inside[0]] = self.texts.get(self.inside[1] or self.inside[0], "") + text

    def handle_endtag(self, tag):
        self.inside = None


def unpack_all(value):
    """Unpack the compressed parts of a page's data, as the page does."""
    if isinstance(value, dict) and "packed" in value:
        return list(unpacked(value))
    if isinstance(value, dict):
        return {key: unpack_all(part) for key, part in value.items()}
    return [unpack_all(part) for part in value] if isinstance(value, list) else value


@pytest.fixture(scope="session")
def report():
    """A function that makes a page and returns its data, with the view that is shown first, and its elements."""

    def make(forest, X, *, limits=FEW_SPLITS, **options):
        page = Reader()
        page.text = fill(gather(forest, X, limits=limits, **options))
        page.feed(page.text)
        assert page.suspect == []
        assert len(page.scripts) == 2  # the data and the code, whatever the data says
        data = unpack_all(json.loads(page.scripts[0]))
        (data["view"],) = [view for view in data["views"] if view["k"] == data["chosen"]]
        return data, page

    return make


@pytest.fixture(scope="module")
def three():
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], [30, 25, 20])
    X = rng.normal(size=(75, 6))
    X[:, :2] += np.array([[0, 8], [8, 16], [16, 0]])[truth]
    return ClusterForest(3, n_estimators=40, random_state=0).fit(X), X, truth
