"""The commit that figures were made from."""

import subprocess
from pathlib import Path


def current_commit() -> str:
    """Return the commit of this checkout, with a plus sign if code was changed since."""
    here = Path(__file__).parent

    def git(*command: str) -> str:
        return subprocess.run(["git", "-C", str(here), *command], capture_output=True, text=True).stdout.strip()

    changed = git("status", "--porcelain", "--untracked-files=no", "--", "../src", "../core", "*.py", "*.R")
    return git("rev-parse", "--short=9", "HEAD") + ("+" if changed else "")
