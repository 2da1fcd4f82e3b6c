"""Links lead somewhere, public names are documented, Python in documents runs."""

import contextlib
import importlib
import io
import json
import re
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import pytest

import clusterforests

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted(
    [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("benchmarks/**/*.md"), *ROOT.glob("paper/**/*.md")]
)
PUBLIC = ("inspection", "plots", "tl")


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(document):
    links = re.findall(r"\]\(([^)\s]+)\)", document.read_text(encoding="utf-8"))
    inside = [link.partition("#")[0] for link in links if not link.startswith(("http", "#"))]
    assert [link for link in inside if not (document.parent / link).exists()] == []


def run_python(code, folder):
    """Run code in a folder, warnings being errors, as everywhere in the tests."""
    with contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()):
        matplotlib.use("Agg")
        exec(compile(code, "document", "exec"), {"__name__": "__main__"})
        plt.close("all")


@pytest.mark.parametrize(
    "name",
    [
        "README.md",
        *(
            f"docs/{page}.md"
            for page in ("start", "extending", "faq", "choosing-k", "coming-from", "constraints", "outliers")
        ),
    ],
)
def test_python_in_documents_runs(name, tmp_path):
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / name).read_text(encoding="utf-8"), flags=re.DOTALL)
    assert blocks
    run_python("\n".join(blocks), tmp_path)


def test_every_public_name_is_in_the_reference():
    text = (ROOT / "docs/api.md").read_text(encoding="utf-8")
    listed = {line.strip() for line in text.splitlines() if line.startswith("   ")}
    names = {name for name in clusterforests.__all__ if name != "__version__"}
    for module in PUBLIC:
        exported = importlib.import_module(f"clusterforests.{module}").__all__
        names |= {f"{module}.{name}" for name in exported}
    assert names - listed == set()


def test_first_notebook_runs(tmp_path):
    """Its cells, one after the other."""
    notebook = json.loads((ROOT / "examples/first_steps.ipynb").read_text(encoding="utf-8"))
    cells = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert all(not cell["outputs"] for cell in notebook["cells"] if cell["cell_type"] == "code")
    run_python("\n".join(cells), tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"wine.cf", "wine.html"}
