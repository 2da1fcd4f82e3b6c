"""The documentation site, built without running its examples, in a real browser."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from browser import needs_browser, opener
from playwright.sync_api import expect

pytestmark = needs_browser

ROOT = Path(__file__).parents[2]
GENERATED = shutil.ignore_patterns("api", "gallery", "sg_execution_times.rst")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("repository")
    shutil.copytree(ROOT / "docs", folder / "docs", ignore=GENERATED)  # what is generated goes beside its source
    for name in ("CHANGELOG.md", "SECURITY.md", "CONTRIBUTING.md"):
        shutil.copy(ROOT / name, folder)
    for name in ("benchmarks", "examples", "paper", "src"):
        (folder / name).symlink_to(ROOT / name)
    command = [sys.executable, "-m", "sphinx", "-W", "-q", "-D", "plot_gallery=0", "docs", "site"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "site"


@pytest.fixture
def opened(browser, site):
    with opener(browser) as start:
        yield lambda name="index", **options: start(site / f"{name}.html", **options)


def test_cards_and_menu_lead_on(opened):
    page = opened().page
    page.locator(".sd-card", has_text="How it works").click()
    expect(page.locator("h1")).to_contain_text("How it works")
    expect(page.locator("math mfrac").first).to_be_visible()
    expect(page.locator("main")).to_contain_text("def grow(")
    page.locator("header nav a", has_text="API").first.click()
    page.locator("main a", has_text="ClusterForest").first.click()
    expect(page.locator("dt.sig").first).to_contain_text("n_estimators")
    page.locator(".navbar-brand").first.click()
    cards = (ROOT / "docs" / "index.md").read_text(encoding="utf-8").count("{grid-item-card}")
    expect(page.locator(".sd-card")).to_have_count(cards)


def test_pictures_of_the_front_page_are_there(opened):
    page = opened().page
    widths = page.locator("main img").evaluate_all("images => images.map(image => image.naturalWidth)")
    assert widths
    assert min(widths) > 0


def test_api_index_on_a_small_screen(opened):
    """Names and descriptions are all on the screen, one below the other."""
    cells = opened("api", width=390).page.locator("table.autosummary td")
    edges = cells.evaluate_all("cells => cells.map(cell => cell.getBoundingClientRect().right)")
    assert len(edges) > 20
    assert max(edges) <= 390


@pytest.mark.parametrize("name", ["comparison", "coming-from", "settings"])
def test_tables_of_words_on_a_small_screen(opened, name):
    """The cells of a row are all on the screen, one below the other, under the names of their columns."""
    page = opened(name, width=390).page
    cells = page.locator("table.stacked td")
    edges = cells.evaluate_all("cells => cells.map(cell => cell.getBoundingClientRect().right)")
    assert len(edges) > 20
    assert max(edges) <= 390
    names = page.locator("table.stacked .column-name")
    assert all(names.evaluate_all("names => names.map(name => name.checkVisibility())"))
    page.set_viewport_size({"width": 1200, "height": 900})
    assert not any(names.evaluate_all("names => names.map(name => name.checkVisibility())"))


PAGES = (
    "index",
    "start",
    "faq",
    "choosing-k",
    "coming-from",
    "report",
    "comparison",
    "how-it-works",
    "settings",
    "constraints",
    "outliers",
)


@pytest.mark.parametrize("name", [*PAGES, "gallery/index", "api"])
@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_accessible(opened, name, scheme, width):
    one = opened(name, color_scheme=scheme, width=width)
    assert [fault for fault in one.faults() if fault[1] in ("serious", "critical")] == []
    assert one.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
