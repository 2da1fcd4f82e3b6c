"""Write the totals of a coverage report to results/tests/coverage.json; exit with 1 if too few branches are reached.

python tools/coverage_figures.py build/coverage/report.json results/tests/coverage.json
"""

import json
import sys
from pathlib import Path

ENOUGH = 95.0  # of the branches, in percent


def _module(path: str) -> str:
    """Return a file's path within the package, wherever that is installed."""
    return path[path.rindex("clusterforests/") :]


def main(report: str, out: str) -> int:
    files = json.loads(Path(report).read_text(encoding="utf-8"))
    totals = files["totals"]
    figures = {
        "percent": round(totals["percent_covered"], 1),
        "lines": totals["covered_lines"],
        "of_lines": totals["num_statements"],
        "branches": totals["covered_branches"],
        "of_branches": totals["num_branches"],
        "lowest": dict(
            sorted(
                (
                    (_module(name), round(file["summary"]["percent_covered"], 1))
                    for name, file in files["files"].items()
                ),
                key=lambda entry: entry[1],
            )[:10]
        ),
    }
    Path(out).write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    reached = 100 * figures["branches"] / figures["of_branches"]
    print(f"{figures['percent']} % of statements and branches, {reached:.1f} % of the branches")
    return int(reached < ENOUGH)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
