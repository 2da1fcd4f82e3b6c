"""Write a bill of materials (CycloneDX 1.5, JSON): the dependencies as installed here, with their licences.

python tools/sbom.py --out dist/sbom.json --extra plot --extra files
"""

import argparse
import json
import re
from importlib import metadata
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

# Compiled into the extension module, so that no installed distribution lists them.
COMPILED_IN = (("nanobind", "BSD-3-Clause"), ("robin-map", "MIT"))


def licence_of(installed: metadata.PackageMetadata) -> str:
    """Return the licence a distribution states: an expression, a short name, or its classifiers."""
    stated = next((installed[key] for key in ("License-Expression", "License") if key in installed), "")
    if stated and "\n" not in stated.strip():
        return stated.strip()
    named = [c.rsplit(" :: ", 1)[1] for c in installed.get_all("Classifier") or [] if c.startswith("License ::")]
    return ", ".join(named) or "not stated"


def needs(name: str, extras: frozenset[str]) -> list[Requirement]:
    """List the direct dependencies that apply to this Python with these extras."""
    stated = [Requirement(text) for text in metadata.requires(name) or []]
    environments = [{"extra": extra} for extra in ("", *extras)]
    return [need for need in stated if need.marker is None or any(need.marker.evaluate(e) for e in environments)]


def closure(name: str, extras: frozenset[str]) -> dict[str, list[str]]:
    """Map every distribution installed for `name` to its direct dependencies."""
    graph: dict[str, list[str]] = {}
    seen: set[tuple[str, frozenset[str]]] = set()
    waiting = [(canonicalize_name(name), extras)]
    while waiting:
        current, wanted = waiting.pop()
        if (current, wanted) in seen:
            continue
        seen.add((current, wanted))
        found = needs(current, wanted)
        names = {canonicalize_name(need.name) for need in found} - {current}
        graph[current] = sorted({*graph.get(current, []), *names})
        waiting += [(canonicalize_name(need.name), frozenset(need.extras)) for need in found]
    return graph


def component(name: str) -> dict[str, Any]:
    installed = metadata.metadata(name)
    reference = f"pkg:pypi/{canonicalize_name(name)}@{installed['Version']}"
    return {
        "type": "library",
        "bom-ref": reference,
        "name": canonicalize_name(name),
        "version": installed["Version"],
        "purl": reference,
        "licenses": [{"license": {"name": licence_of(installed)}}],
    }


def bill(extras: frozenset[str]) -> dict[str, Any]:
    graph = closure("clusterforests", extras)
    components = {name: component(name) for name in sorted(graph)}
    references = {name: entry["bom-ref"] for name, entry in components.items()}
    root = components.pop("clusterforests")
    compiled = [
        {"type": "library", "bom-ref": name, "name": name, "licenses": [{"license": {"id": licence}}]}
        for name, licence in COMPILED_IN
    ]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": root | {"components": compiled}},
        "components": list(components.values()),
        "dependencies": [
            {"ref": references[name], "dependsOn": [references[need] for need in graph[name]]} for name in sorted(graph)
        ],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("dist/sbom.json"))
    parser.add_argument("--extra", action="append", default=[])
    given = parser.parse_args()
    made = bill(frozenset(given.extra))
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_text(json.dumps(made, indent=1) + "\n")
    for entry in made["components"]:
        licence = re.sub(r"\s+", " ", entry["licenses"][0]["license"]["name"])
        print(f"{entry['name']:24} {entry['version']:12} {licence}")
    print(f"Wrote {given.out}: {len(made['components'])} dependencies.")


if __name__ == "__main__":
    main()
