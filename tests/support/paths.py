"""Where the project lies, and the one seed of tests that do not care which."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SHARED_DATA = ROOT.parent / "shared" / "data"
SEED = 20_240_601
