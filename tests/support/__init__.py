"""What several tests share: small projects, the served app, the real data's commands. No test is here."""

import sys
from pathlib import Path

from hypothesis import settings

ROOT = Path(__file__).resolve().parents[2]
GOLDSET = str(Path(sys.executable).with_name("goldset"))


def examples(most: int) -> int:
    """How many examples `@settings(max_examples=…)` asks for: a tenth of `most` under the profile `check`."""
    return max(3, most // 10) if settings.get_current_profile_name() == "check" else most
