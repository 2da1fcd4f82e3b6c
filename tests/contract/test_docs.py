"""Check what the documents name: links, public names, code that runs, numbers."""

import importlib
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

import clusterforests

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("benchmarks/**/*.md")])
PUBLIC = ("baselines", "datasets", "diagnostics", "plots", "report", "theory", "tl")


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(document):
    links = re.findall(r"\]\(([^)\s]+)\)", document.read_text(encoding="utf-8"))
    inside = [link.partition("#")[0] for link in links if not link.startswith(("http", "#"))]
    assert [link for link in inside if not (document.parent / link).exists()] == []


@pytest.mark.parametrize(
    "name",
    [
        "README.md",
        *(
            f"docs/{page}.md"
            for page in ("start", "extending", "faq", "choosing-k", "coming-from", "guidance", "outliers")
        ),
    ],
)
def test_python_in_documents_runs(name, tmp_path):
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / name).read_text(encoding="utf-8"), flags=re.DOTALL)
    assert blocks
    command = [sys.executable, "-W", "error", "-c", "\n".join(blocks)]
    done = subprocess.run(
        command, cwd=tmp_path, env=os.environ | {"MPLBACKEND": "Agg"}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


INCLUDE = re.compile(r'```{include} (\S+)\n:start-after: "(.+)"\n:end-before: "(.+)"')


@pytest.mark.parametrize("document", sorted(ROOT.glob("docs/*.md")), ids=lambda path: path.name)
def test_included_parts_end_before_the_next_section(document):
    """A section that was added to the included page would otherwise be shown as well."""
    for source, start, end in INCLUDE.findall(document.read_text(encoding="utf-8")):
        page = (document.parent / source).read_text(encoding="utf-8")
        included = page.partition(start)[2].partition(end)[0]
        assert included, (source, start)
        assert re.findall(r"^#+ .*", included, re.M) == []


def test_every_public_name_is_in_the_reference():
    text = (ROOT / "docs/api.md").read_text(encoding="utf-8")
    listed = {line.strip() for line in text.splitlines() if line.startswith("   ")}
    names = {name for name in clusterforests.__all__ if name != "__version__"}
    for module in PUBLIC:
        exported = importlib.import_module(f"clusterforests.{module}").__all__
        names |= {f"{module}.{name}" for name in exported if name != "UCI_NAMES"}
    assert names - listed == set()


def test_first_notebook_runs(tmp_path, record_property):
    """Its cells, one after the other, in less than five minutes."""
    notebook = json.loads((ROOT / "examples/first_steps.ipynb").read_text(encoding="utf-8"))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    cells = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert all(not cell["outputs"] for cell in notebook["cells"] if cell["cell_type"] == "code")
    begin = time.perf_counter()
    command = [sys.executable, "-W", "error", "-c", "\n".join(cells)]
    plain = os.environ | {"MPLBACKEND": "Agg"}
    done = subprocess.run(command, cwd=tmp_path, env=plain, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "stability:" in done.stdout
    assert {path.name for path in tmp_path.iterdir()} == {"wine.cf", "wine.html"}
    seconds = time.perf_counter() - begin
    assert seconds < 300
    record_property("seconds of the first notebook", round(seconds))


def anchors(page):
    """Return the anchors of a page's headings, as the site makes them."""
    headings = re.findall(r"^#+ (.+)$", (ROOT / "docs" / page).read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_ten_questions_are_answered_one_click_from_the_front_page():
    text = (ROOT / "docs/index.md").read_text(encoding="utf-8")
    questions = re.findall(r"^\d+\. \[(.+\?)\]\(([\w-]+\.md)#?([\w-]*)\)$", text, re.M)
    assert len(questions) == 10
    for _, page, anchor in questions:
        assert not anchor or anchor in anchors(page)
