"""Requests for re-labeling: for a quarter's plan, for its round, and for pairs that a lead chooses."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

from curation.core.request import Needs, Seed, find_option, option
from curation.pooling.request import PoolRequest

MIN_SHARE, MAX_SHARE = 0.1, 0.2
"""Lowest and highest share of the pairs that a quarter may judge again."""
RANDOM_SHARE = 0.25
"""Share of a plan's pairs that are drawn at random."""
DUPLICATES = 0.08
"""Default share of blind duplicates among an annotator's items."""
_NEW_DOCUMENTS = Needs("new documents come only from named systems", lambda asked: bool(asked["systems"]))


@dataclass(frozen=True)
class PlanRequest:
    """A request for this quarter's re-labeling plan; see `plan.make_plan`."""

    fraction: float = option(
        0.15,
        "Share of the pairs to judge again",
        "Share of the pairs that people judge again, 0.10 to 0.20.",
        flag="--share",
        minimum=MIN_SHARE,
        maximum=MAX_SHARE,
    )
    seed: Seed = 0
    overlap: int = option(2, "Annotators for each pair", "How many annotators judge each pair.", minimum=1)


@dataclass(frozen=True)
class QuarterRequest:
    """A request to open a re-labeling plan's round; see `open_quarter.open_plan`."""

    annotators: tuple[str, ...] = option(
        (), "Annotators", "Annotators of the round, separated by commas.", is_comma_separated=True
    )
    plan: str | None = None
    name: str | None = option(None, "Round name", "Round to open.", flag="--round", unset="the quarter's")
    systems: tuple[str, ...] = option(
        (),
        "Systems that add new documents",
        "Systems that add new documents, such as bm25,run:live. New queries get documents "
        "only from these systems.",
        is_comma_separated=True,
    )
    depth: Annotated[int, replace(find_option(PoolRequest, "depth"), needs=_NEW_DOCUMENTS)] = 10
    duplicates: float = option(
        DUPLICATES,
        "Share of blind duplicates",
        "Share of blind duplicates in an annotator's items, 0 to 0.5.",
        minimum=0,
        maximum=0.5,
    )
    dry_run: bool = option(False, "Preview only", "Show which items the round would have. Open nothing.")


@dataclass(frozen=True)
class ChosenRequest:
    """A request to judge a slice of the gold set again; `slice` has filters such as `tag=hard`."""

    slice: tuple[str, ...] = ()
    annotators: tuple[str, ...] = option(
        (), "Annotators", "Annotators of the round, separated by commas.", is_comma_separated=True
    )
    overlap: int = option(2, "People for each pair", "How many annotators judge each pair.", minimum=1)
    reason: str | None = option(None, "Reason", "Why these pairs are judged again.")
