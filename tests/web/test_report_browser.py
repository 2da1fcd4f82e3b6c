"""The report in a real browser: what it does, what it must not do, and who can use it."""

import csv
import re

import numpy as np
import pandas as pd
import pytest
from browser import needs_browser, opener
from sklearn.pipeline import make_pipeline

from clusterforests import ClusterForest, TableReader
from clusterforests.app.report import write_report

pytestmark = needs_browser

NASTY = (
    "<script>window.hurt=1</script>",
    "</script><script>window.hurt=2</script>",
    "<img src=x onerror=window.hurt=3>",
    "&amp; \" ' `${window.hurt=4}`",
    "__proto__",
    "\u202e\u05d0\u05d1 \U0001f331",
)


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Files: three clusters; the number chosen; names that would like to be markup; a frame; one cluster."""
    folder = tmp_path_factory.mktemp("reports")
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], [60, 50, 40])
    X = rng.normal(size=(150, 6))
    X[:, :2] += np.array([[0, 5], [5, 10], [10, 0]])[truth]
    ids = [f"s{i}" for i in range(150)]
    forest = ClusterForest(3, n_estimators=40, random_state=0).fit(X)
    write_report(
        forest, X, folder / "three.html", ids=ids, truth=truth, title="Three", command="clusterforests fit x.csv"
    )
    chosen = ClusterForest(range(1, 6), n_estimators=20, random_state=0).fit(X)
    write_report(chosen, X, folder / "chosen.html", title="Chosen")
    labels = [NASTY[t] for t in truth]
    named = [f"{NASTY[i % 6]}{i}" for i in range(150)]
    write_report(
        forest, X, folder / "nasty.html", names=NASTY, ids=named, truth=labels, title=NASTY[1], command=NASTY[2]
    )
    frame = pd.DataFrame({"length (cm)": X[:, 0], "width": X[:, 1], "noise": X[:, 2], "id": ids})
    frame["day"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(40 * truth + rng.integers(0, 20, 150), unit="D")
    frame["kind"] = np.where(rng.random(150) < 0.8, np.array(["app", "store", "phone"])[truth], "web")
    mixed = make_pipeline(TableReader(), ClusterForest(3, n_estimators=40, random_state=0))
    with pytest.warns(UserWarning, match="'id' is dropped: identifier"):
        mixed.fit(frame)
    write_report(mixed, frame, folder / "frame.html")
    one = ClusterForest(1, n_estimators=20, random_state=0).fit(X)
    write_report(one, X, folder / "one.html", title="One")
    return folder


@pytest.fixture
def opened(browser, pages):
    with opener(browser) as start:
        yield lambda name="three", **options: start(pages / f"{name}.html", **options)


def share_of_map(page):
    """A digest of what the canvas shows."""
    return page.evaluate("document.getElementById('map-canvas').toDataURL()")


@pytest.mark.parametrize("name", ["three", "chosen", "nasty", "frame", "one"])
def test_opens_with_every_section_filled(opened, name):
    page = opened(name).page
    for section in page.locator("main > section:visible").all():
        assert section.locator("h2").text_content()
        assert len(section.text_content()) > 100
    assert page.locator("#contents a").count() == page.locator("main > section:visible").count()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_rows_are_found_and_sorted_with_the_keyboard(opened):
    one = opened()
    page = one.page
    first = one.text("#row-table tbody th")
    assert len(first) == 25
    page.locator("#rows-find").fill("S14")
    assert set(one.text("#row-table tbody th")) == {"s14", *(f"s{i}" for i in range(140, 150))}
    assert page.locator("#rows-count").text_content() == "11 rows found."
    page.locator("#row-table th button").first.focus()
    page.keyboard.press("Enter")
    assert one.text("#row-table tbody th") == ["s14", *(f"s{i}" for i in range(140, 150))]
    assert page.locator("#row-table thead th").first.get_attribute("aria-sort") == "ascending"
    page.keyboard.press("Space")
    assert one.text("#row-table tbody th")[0] == "s149"
    assert page.locator("#row-table thead th").first.get_attribute("aria-sort") == "descending"
    page.locator("#row-table th button").last.press("Enter")
    values = [float(text.replace("\u2212", "-")) for text in one.text("#row-table tbody td:last-child")]
    assert values == sorted(values)
    assert page.locator("#row-table [aria-sort]").count() == 1
    page.locator("#row-table th button").last.press("Enter")
    page.locator("#rows-find").fill("s14")
    page.locator("#row-table th button").last.press("Enter")
    assert one.text("#row-table tbody th")[0] == "s14"  # the row itself comes first
    page.locator("#rows-find").fill("nothing like it")
    assert one.text("#row-table tbody td") == ["No row matches."]
    page.locator("#rows-find").fill("")
    page.locator("#rows-pick").select_option("2")
    assert set(one.text("#row-table tbody td:nth-child(2)")) == {"2"}
    page.locator("#rows-more").click()
    assert page.locator("#row-table tbody tr").count() == 40


def test_the_number_of_clusters(opened):
    one = opened("chosen")
    reason = one.page.locator("#number-reason").text_content()
    chosen = one.text("#number-table .chosen th")
    assert reason.startswith(f"{chosen[0].split()[0]} clusters: ")
    titles = one.text("#number-table thead th")
    assert titles[:2] == ["Clusters", "Mean rank"]
    assert titles[-1] == "Ambiguous pairs"
    assert len(one.text("#number-table tbody tr:first-child td")) == len(titles) - 1
    assert all(f"{title}: " in one.page.locator("#number-note").text_content() for title in titles[1:])
    assert one.page.locator("#number-charts figure").count() == 4
    assert one.page.locator("#tree-splits li").count() >= 3
    assert one.page.locator("#tree-picture .node").count() == 2 + 3 + 4 + 5
    given = opened("three")
    assert given.page.locator("#number-reason").is_hidden()
    assert given.text("#number-table thead th") == ["Clusters", "Stability", "Ambiguous pairs"]


def test_downloads(opened, pages):
    one = opened("nasty")
    page = one.page
    with page.expect_download() as taken:
        page.locator("#labels-save").click()
    with open(taken.value.path(), newline="", encoding="utf-8") as file:
        lines = list(csv.reader(file))
    assert lines[0] == ["id", "cluster"]
    assert [line[0] for line in lines[1:]] == [f"{NASTY[i % 6]}{i}" for i in range(150)]
    assert sorted({line[1] for line in lines[1:]}) == ["0", "1", "2"]
    page.locator("#rows-find").fill("script")
    with page.expect_download() as taken:
        page.locator("#rows-save").click()
    with open(taken.value.path(), newline="", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    assert len(lines) == 50
    assert all(line["id"] == f"{NASTY[(int(line['row']) - 1) % 6]}{int(line['row']) - 1}" for line in lines)


def test_map_is_read_zoomed_and_picked(opened):
    one = opened()
    page = one.page
    whole = share_of_map(page)
    box = page.locator("#map-canvas").bounding_box()
    page.locator("#map-frame").scroll_into_view_if_needed()
    box = page.locator("#map-canvas").bounding_box()
    page.mouse.move(box["x"] + 60, box["y"] + 30)
    assert "of trees" in page.locator("#map-readout").text_content()
    assert "Cluster 0" in page.locator("#map-readout").text_content()
    page.mouse.down()
    page.mouse.move(box["x"] + 160, box["y"] + 130, steps=4)
    page.mouse.up()
    page.mouse.move(0, 0)
    dragged = share_of_map(page)
    assert dragged != whole
    page.locator("#map-whole").click()
    assert share_of_map(page) == whole
    assert page.locator("#map-out").is_disabled()
    page.mouse.click(box["x"] + 300, box["y"] + 300)
    page.mouse.move(0, 0)
    assert share_of_map(page) not in (whole, dragged)
    page.locator("#map-pick").select_option("1")
    picked = share_of_map(page)
    assert picked != whole
    page.locator("#map-pick").select_option("")
    assert share_of_map(page) == whole


def test_map_with_the_keyboard(opened):
    one = opened()
    page = one.page
    whole = share_of_map(page)
    page.locator("#map-frame").focus()
    page.keyboard.press("ArrowRight")
    before = page.locator("#map-readout").text_content()
    assert "of trees" in before
    page.keyboard.press("Shift+ArrowDown")
    assert page.locator("#map-readout").text_content() != before
    page.keyboard.press("+")
    assert share_of_map(page) != whole
    assert not page.locator("#map-out").is_disabled()
    page.keyboard.press("-")
    assert page.locator("#map-out").is_disabled()
    page.keyboard.press("+")
    page.keyboard.press("0")
    assert share_of_map(page) == whole


def shown_of(page):
    """What a reader sees of the number of clusters, section by section."""
    return {
        "answer": page.locator("#answer").text_content(),
        "descriptions": page.locator(".cluster h3 bdi").all_text_contents(),
        "clusters": page.locator("#clusters tbody tr").count(),
        "between": page.locator("#between tbody tr").count(),
        "histograms": page.locator("#histograms svg").first.get_attribute("aria-label"),
        "points": page.locator("#points-legend li").all_text_contents(),
        "map": share_of_map(page),
        "rows": page.locator("#row-table tbody").text_content(),
        "number": page.locator("#number-table .chosen th").text_content(),
        "truth": page.locator("#truth-table tbody tr").count(),
        "features": page.locator("#feature-table tbody").text_content(),
    }


def test_the_switch_redraws_everything_and_back(opened):
    page = opened().page
    first = shown_of(page)
    assert page.locator("#switch label").all_text_contents() == ["2", "3 given", *"45678"]
    page.locator('#switch input[value="3"]').focus()
    page.keyboard.press("ArrowRight")  # as radio buttons do
    four = shown_of(page)
    assert "4 clusters" in four["answer"]
    assert [four[key] for key in ("clusters", "between", "truth")] == [4, 4, 4]
    assert len(four["descriptions"]) == len(four["points"]) == 4
    assert four["number"].startswith("4")
    assert page.locator("#switch-said").text_content() == "4 clusters shown."
    assert page.locator("#rows-pick option").count() == 5
    assert all(four[key] != first[key] for key in first)
    page.keyboard.press("ArrowLeft")
    assert shown_of(page) == first


def test_sections_that_appear_are_in_the_contents(opened):
    page = opened("one").page
    assert page.locator("#description").is_hidden()
    page.locator('#switch input[value="3"]').check(force=True)
    assert page.locator("#description").is_visible()
    assert page.locator('#contents a[href="#description"]').count() == 1
    assert page.locator("#contents a").count() == page.locator("main > section:visible").count()


def test_the_labels_of_the_number_that_is_shown_are_saved(opened):
    page = opened().page
    page.locator('#switch input[value="5"]').check(force=True)
    with page.expect_download() as taken:
        page.locator("#labels-save").click()
    assert taken.value.suggested_filename == "labels-5.csv"
    with open(taken.value.path(), newline="", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    assert [line["id"] for line in lines] == [f"s{i}" for i in range(150)]
    assert {line["cluster"] for line in lines} == set("01234")


def test_the_map_of_rows_is_read_with_mouse_and_keyboard(opened):
    page = opened().page
    frame = page.locator("#points-frame")
    assert frame.locator("path.mark").count() == 150
    frame.scroll_into_view_if_needed()
    box = frame.locator("path.mark").nth(20).bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    said = page.locator("#points-readout").text_content()
    assert re.match(r"s\d+Cluster \d: .*membership \d+ %$", said)
    page.mouse.move(0, 0)
    frame.focus()
    page.keyboard.press("ArrowRight")
    first = page.locator("#points-readout").text_content()
    for key in ("ArrowRight", "ArrowDown", "ArrowUp", "ArrowLeft"):
        page.keyboard.press(key)
    assert page.locator("#points-readout").text_content() != ""
    assert "membership" in first


def test_features_and_the_numbers_behind_the_words(opened):
    page = opened().page
    assert page.locator("#feature-table tbody tr").count() == 6
    assert page.locator("#features-more").is_hidden()
    page.locator(".cluster summary").first.press("Enter")
    assert page.locator(".cluster").first.locator("tbody tr").count() >= 1
    assert page.locator("#histograms figure").count() == 6


def test_columns_are_shown_as_they_were_read(opened):
    one = opened("frame")
    page = one.page
    kinds = dict(
        zip(one.text("#reading-table tbody th"), one.text("#reading-table tbody td:nth-child(2)"), strict=True)
    )
    assert kinds["day"] == "date"
    assert kinds["kind"] == "category"
    assert kinds["id"] == "identifier left out"
    day = page.locator("#histograms figure", has_text="day").locator("svg")
    assert "2024-0" in day.get_attribute("aria-label")
    bars = page.locator("#histograms figure", has_text="kind").locator(".bar")
    assert bars.count() == 3
    assert "app " in bars.first.get_attribute("aria-label")
    assert "against 2024-0" in " ".join(one.text(".cluster p"))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_theme_follows_the_system_until_it_is_switched(opened, scheme):
    one = opened(color_scheme=scheme)
    page, other = one.page, {"light": "dark", "dark": "light"}[scheme]
    assert page.evaluate("document.documentElement.dataset.theme") == scheme
    before, colour = share_of_map(page), page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    page.locator("#theme").press("Enter")
    assert page.evaluate("document.documentElement.dataset.theme") == other
    assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") != colour
    assert share_of_map(page) != before


def test_markup_stays_text(opened):
    one = opened("nasty")
    page = one.page
    assert page.evaluate("window.hurt") is None
    assert page.evaluate("Object.prototype.cluster") is None
    assert page.locator("main img, main iframe, main script").count() == 0
    assert page.title() == f"{NASTY[1]} \u2013 clusterforests report"
    assert page.locator("h1").text_content() == NASTY[1]
    assert set(one.text("#feature-table tbody th")) == set(NASTY)
    page.locator('#switch input[value="5"]').check(force=True)
    assert set(one.text("#histograms figcaption bdi")) == set(NASTY)
    page.locator('#switch input[value="3"]').check(force=True)
    assert NASTY[2] in one.text("#run-lines code")
    assert {text.strip() for text in one.text("#truth-table thead th")} == set(NASTY[:3])
    page.locator("#rows-find").fill(NASTY[0])
    assert all(text.startswith(NASTY[0]) for text in one.text("#row-table tbody th"))
    page.locator("#map-frame").focus()
    for _ in range(5):
        page.keyboard.press("Shift+ArrowDown")
    assert page.evaluate("window.hurt") is None


@pytest.mark.parametrize("name", ["three", "chosen", "nasty", "frame", "one"])
@pytest.mark.parametrize(("scheme", "width"), [("light", 1200), ("dark", 390)])
def test_accessible(opened, name, scheme, width):
    one = opened(name, color_scheme=scheme, width=width)
    assert one.faults() == []
    assert one.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize(("scheme", "width"), [("dark", 1200), ("light", 390)])
def test_accessible_with_another_number(opened, scheme, width):
    one = opened("three", color_scheme=scheme, width=width)
    one.page.locator('#switch input[value="6"]').check(force=True)
    for summary in one.page.locator(".cluster summary").all():
        summary.click()
    assert one.faults() == []
    assert one.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_prints(opened, tmp_path):
    page = opened(color_scheme="dark").page
    page.pdf(path=tmp_path / "report.pdf", format="A4")
    assert (tmp_path / "report.pdf").stat().st_size > 20000
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.emulate_media(media="print")
    assert page.locator("nav").is_hidden()
    assert page.locator("#rows-save").is_hidden()
    assert page.locator("#clusters").is_visible()


def test_many_clusters_and_columns_unfold(opened, pages):
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(18, 16)) * 20, 6, axis=0) + rng.normal(size=(108, 16))
    write_report(ClusterForest(18, n_estimators=20, random_state=0).fit(X), X, pages / "many.html")
    page = opened("many").page
    for rows, button, most in (
        (".cluster", "#descriptions-more", 18),
        ("#feature-table tbody tr", "#features-more", 16),
    ):
        assert page.locator(rows).count() == 12
        page.locator(button).click()
        assert page.locator(button).is_hidden()
        assert page.locator(rows).count() == most
