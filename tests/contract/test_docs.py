"""Check what the documents name: links, public names, code that runs, numbers."""

import importlib
import os
import re
import subprocess
import sys
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


@pytest.mark.parametrize("name", ["README.md", "docs/start.md", "docs/extending.md"])
def test_python_in_documents_runs(name, tmp_path):
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / name).read_text(encoding="utf-8"), flags=re.DOTALL)
    assert blocks
    command = [sys.executable, "-W", "error", "-c", "\n".join(blocks)]
    done = subprocess.run(
        command, cwd=tmp_path, env=os.environ | {"MPLBACKEND": "Agg"}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_every_public_name_is_in_the_reference():
    text = (ROOT / "docs/api.md").read_text(encoding="utf-8")
    listed = {line.strip() for line in text.splitlines() if line.startswith("   ")}
    names = {name for name in clusterforests.__all__ if name != "__version__"}
    for module in PUBLIC:
        exported = importlib.import_module(f"clusterforests.{module}").__all__
        names |= {f"{module}.{name}" for name in exported if name != "UCI_NAMES"}
    assert names - listed == set()
