"""Pages in a real browser: what they do, what they complain of, and who can use them."""

import contextlib
import shutil

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
ARGUMENTS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
needs_browser = pytest.mark.skipif(BROWSER is None, reason="no browser here: install Debian's package chromium")


@contextlib.contextmanager
def start_browser():
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=BROWSER, args=ARGUMENTS)
        yield started
        started.close()


class Opened:
    """A page, and all that it complained of or asked the network for."""

    def __init__(self, browser, file, *, width=1200, **options):
        self.context = browser.new_context(viewport={"width": width, "height": 900}, accept_downloads=True, **options)
        self.page = self.context.new_page()
        self.complaints, self.requests = [], []
        self.page.on("console", lambda said: self.complaints.append(said.text) if said.type != "log" else None)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(file.as_uri())
        if self.page.locator("#data").count():  # a report, which unpacks its data first
            self.page.wait_for_selector("html[data-ready]")

    def text(self, selector):
        return self.page.locator(selector).all_text_contents()

    def faults(self):
        """What axe-core finds: rule, impact and the first element."""
        found = Axe().run(self.page, options={"preload": False}).response["violations"]
        return [(fault["id"], fault["impact"], fault["nodes"][0]["html"]) for fault in found]

    def close(self):
        self.context.close()
        assert self.complaints == []
        assert [url for url in self.requests if not url.startswith(("file:", "blob:", "data:"))] == []


@contextlib.contextmanager
def opener(browser):
    """A function that opens pages; all of them are closed in the end."""
    open_pages = []

    def start(file, **options):
        open_pages.append(Opened(browser, file, **options))
        return open_pages[-1]

    yield start
    for one in open_pages:
        one.close()
