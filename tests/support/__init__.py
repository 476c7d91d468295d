"""What several tests share: small projects, the served app, the real data's commands. No test is here."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GOLDSET = str(Path(sys.executable).with_name("goldset"))
