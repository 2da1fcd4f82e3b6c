"""Asks pip-audit for known weaknesses of what is installed; says so where it could not ask."""

import subprocess
import sys

UNREACHABLE = ("ConnectionError", "NameResolution", "Max retries", "Connection refused", "ServiceError", "timed out")


def main() -> int:
    command = [sys.executable, "-m", "pip_audit", "--skip-editable", "--progress-spinner", "off"]
    done = subprocess.run(command, capture_output=True, text=True)
    print(done.stdout, end="")
    if done.returncode == 0:
        print(done.stderr, end="")
        return 0
    if any(sign in done.stderr for sign in UNREACHABLE):
        last = (done.stderr.strip().splitlines() or [""])[-1]
        print(f"Not audited: the database of known weaknesses could not be reached from here.\n  {last[:200]}")
        return 2
    print(done.stderr, end="", file=sys.stderr)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
