"""The page: a template, its style and scripts, and the data, all in one file."""

import base64
import hashlib
import html
import json
import re
from importlib.resources import files
from typing import Any

SCRIPTS = (
    "basics.js",
    "charts.js",
    "map.js",
    "points.js",
    "rows.js",
    "sections.js",
    "columns.js",
    "numbers.js",
    "main.js",
)
POLICY = "default-src 'none'; script-src {script}; style-src {style}; base-uri 'none'; form-action 'none'"


def fill(content: dict[str, Any]) -> str:
    """Fill in the template, in one pass: placeholders in what is filled in stay as they are."""
    style = _part("report.css")
    script = '"use strict";\n(() => {\n' + "\n".join(_part(name) for name in SCRIPTS) + "})();\n"
    places = {
        "policy": POLICY.format(script=_hash(script), style=_hash(style)),
        "title": as_text(content["title"]),
        "answer": as_text(content["answer"]),
        "style": style,
        "script": script,
        "data": as_data(content),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda place: places[place[1]], _part("template.html"))


def as_data(content: Any) -> str:
    """Write JSON that can neither close the element it stands in nor open a comment there."""
    text = json.dumps(content, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def as_text(text: str) -> str:
    """Write any text, even half a surrogate pair, as HTML in ASCII."""
    return html.escape(text).encode("ascii", "xmlcharrefreplace").decode("ascii")


def _part(name: str) -> str:
    return (files("clusterforests.report") / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """Return what the browser compares an inline script or style with before using it."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
