"""Where the project lies, what is in it, the one seed of tests that do not care which, and how long tests wait."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SHARED_DATA = ROOT.parent / "shared" / "data"
SEED = 20_240_601


def tracked_files() -> list[Path]:
    """Of the clone."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / name for name in listed.split("\0") if name and (ROOT / name).is_file()]


#: Seconds until what never comes is given up, on a machine that may be busy; no test that passes waits so long.
SOON = 240.0
