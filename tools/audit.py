"""Ask pip-audit for known vulnerabilities of what is installed, and count what it could not look up.

pip-audit itself says "no known vulnerabilities" even when it could look up nothing.
"""

import json
import subprocess
import sys
from typing import Any

OWN = "clusterforests"  # not looked up: it may be a version that is not published yet


def verdict(dependencies: list[dict[str, Any]]) -> tuple[str, int]:
    """Return a message and the exit status: 1 if anything is vulnerable, 2 if anything was not looked up."""
    others = [entry for entry in dependencies if entry["name"] != OWN]
    skipped = [entry["name"] for entry in others if "skip_reason" in entry]
    weak = [
        f"{entry['name']} {entry['version']}: {', '.join(found['id'] for found in entry['vulns'])}"
        for entry in others
        if entry.get("vulns")
    ]
    lines = [*weak, f"{len(weak)} of {len(others) - len(skipped)} packages that were looked up have known weaknesses."]
    if skipped:
        lines.append(f"NOT audited, because they could not be looked up from here: {', '.join(skipped)}.")
    return "\n".join(lines), 1 if weak else 2 if skipped or not others else 0


def main() -> int:
    command = [sys.executable, "-m", "pip_audit", "--format", "json", "--progress-spinner", "off"]
    done = subprocess.run(command, capture_output=True, text=True)
    try:
        dependencies = json.loads(done.stdout)["dependencies"]
    except (json.JSONDecodeError, KeyError):
        print(f"NOT audited: pip-audit gave no answer.\n{done.stderr.strip()[-500:]}")
        return 2
    text, status = verdict(dependencies)
    print(text)
    return status


if __name__ == "__main__":
    sys.exit(main())
