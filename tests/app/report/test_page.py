"""Nothing that is put into the page can become markup, and the page loads nothing."""

import json
import re

import pytest

from clusterforests.app.report.writing import as_data, as_text

NASTY = (
    "<script>alert(1)</script>",
    "</script><script>alert(2)</script>",
    "<!-- <script>",
    "<img src=x onerror=alert(3)>",
    "a & b &lt; c",
    "\"quotes\" and 'quotes'",
    "__proto__",
    "constructor",
    "{{script}}",
    "\u202eright to left \u05d0\u05d1",
    "\U0001f331 seed",
    "\u2028 line \x00 nul \ud800",
)


def test_nothing_is_loaded_and_only_our_script_runs(report, three):
    forest, X, _ = three
    text = report(forest, X)[1].text
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in text.replace("http-equiv", "").replace('"http://www.w3.org/2000/svg"', "")
    for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
        assert word not in text


@pytest.mark.parametrize("texts", [NASTY[:6], NASTY[6:]])
def test_user_text_stays_data(report, three, texts):
    forest, X, _ = three
    whole = " ".join(texts)
    ids = [f"{texts[i % 6]} {i}" for i in range(75)]
    classes = [texts[i % 6] for i in range(75)]
    data, page = report(forest, X, names=texts, ids=ids, truth=classes, title=whole, command=whole)
    plain, without = report(forest, X, truth=["t"] * 75, command="c")
    assert page.tags == without.tags
    assert page.scripts[1] == without.scripts[1]
    assert data["view"]["clusters"] == plain["view"]["clusters"]
    assert {f["name"] for f in data["features"]["features"]} == set(texts)
    assert data["rows"]["ids"] == ids
    assert (data["title"], data["run"]["command"], set(data["truth"][0]["classes"])) == (whole, whole, set(texts))


def test_escapes():
    assert "<" not in as_data({"a": "</script><!--"})
    assert json.loads(as_data({"a": list(NASTY)})) == {"a": list(NASTY)}
    assert as_text("<\ud800 é>") == "&lt;&#55296; &#233;&gt;"
