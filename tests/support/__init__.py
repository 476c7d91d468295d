"""What several tests share: small projects, the served app, the real data's commands. No test is here."""

import sys
from pathlib import Path

from hypothesis import settings

ROOT = Path(__file__).resolve().parents[2]
GOLDGRADE = str(Path(sys.executable).with_name("goldgrade"))


SHARES = {"check": 10, "full": 3}
"""Profile → the part of the examples that it takes. `search` takes all, and other ones each time."""


def examples(most: int) -> int:
    """How many examples `@settings(max_examples=…)` asks for under the profile of this run."""
    return max(3, most // SHARES.get(settings.get_current_profile_name(), 1))


def is_search() -> bool:
    """Whether this is `make search`, which looks for what `make test` has no time for."""
    return settings.get_current_profile_name() == "search"
