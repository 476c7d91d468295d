"""What a re-labeling is asked for: its plan, and its round."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

from curation.pooling.request import PoolRequest
from curation.step import Needs, Option, Seed, option_of

LEAST, MOST = 0.1, 0.2
"""The share of the pairs that a quarter judges again."""
RANDOM_SHARE = 0.25
"""The share of a plan's pairs that is drawn at random, at least."""
SAME_SHARE = 0.5
"""The share of queries that go to people who judged them before."""
DUPLICATES = 0.08
"""Blind duplicates as a share of an annotator's items."""
_NEW_DOCUMENTS = Needs("only systems find new documents; name some", lambda asked: bool(asked["systems"]))


@dataclass(frozen=True)
class PlanRequest:
    """What this quarter judges again; see `plan.plan.make_plan`."""

    fraction: Annotated[
        float,
        Option(
            "Share of the pairs to judge again",
            "Share of the pairs that people judge again, 0.10 to 0.20. With less, a set is not judged again "
            "within two years. With more, nobody keeps the pace of a quarter.",
            flag="--share",
            least=LEAST,
            most=MOST,
        ),
    ] = 0.15
    seed: Seed = 0
    overlap: Annotated[
        int, Option("People for each pair", "How many different annotators judge each pair.", least=1)
    ] = 2
    half_width: Annotated[
        float | None,
        Option(
            "Half-width of the interval",
            "Half-width of the interval of wrong labels to reach. The random part is as large as that takes.",
            least=0.01,
            most=1,
            unset="that of a quarter of the plan",
        ),
    ] = None


@dataclass(frozen=True)
class QuarterRequest:
    """The round of a plan; see `opening.open_plan`."""

    annotators: Annotated[
        tuple[str, ...],
        Option("Annotators", "Annotators of the round, separated by commas.", commas=True),
    ] = ()
    plan: str | None = None
    name: Annotated[
        str | None, Option("Name of the round", "Round to open.", flag="--round", unset="the quarter's")
    ] = None
    systems: Annotated[
        tuple[str, ...],
        Option(
            "Systems whose new documents are judged, too",
            "Systems with new documents to judge, such as bm25,run:live. New queries get documents "
            "only from these.",
            commas=True,
        ),
    ] = ()
    depth: Annotated[int, replace(option_of(PoolRequest, "depth"), needs=_NEW_DOCUMENTS)] = 10
    budget: Annotated[int | None, replace(option_of(PoolRequest, "budget"), needs=_NEW_DOCUMENTS)] = None
    duplicates: Annotated[
        float,
        Option(
            "Share of blind duplicates",
            "Blind duplicates as a share of each annotator's items. 0 to 0.5.",
            least=0,
            most=0.5,
        ),
    ] = DUPLICATES
    same: Annotated[
        float,
        Option(
            "Share of queries for their earlier annotators",
            "Share of the queries for people who judged them before. So “people changed” and “the text "
            "changed” can be distinguished.",
            flag="--same-annotators",
            least=0,
            most=1,
            by=0.1,
        ),
    ] = SAME_SHARE
    per_day: Annotated[
        int | None,
        Option("Answers a day", "Number of answers expected of an annotator per day.", least=1),
    ] = None
    dry_run: Annotated[
        bool, Option("Preview only", "Say what the round would hold and how long it takes. Open nothing.")
    ] = False


@dataclass(frozen=True)
class PastRunsRequest:
    """Runs of the past on the release before and on the one after; see `drift.past_evaluations`.

    Attributes
    ----------
    plan: None is the newest one. runs: name of the system, and path of its file. folder: of these files.
    """

    new: Annotated[
        str,
        Option(
            "Release after",
            "The release after, to evaluate the runs on.",
            flag="--new-release",
            unset="none",
        ),
    ] = ""
    old: Annotated[
        str,
        Option(
            "Release before",
            "The release before, to evaluate the runs on.",
            flag="--old-release",
            unset="none",
        ),
    ] = ""
    part: Annotated[
        str | None,
        Option(
            "Parts",
            "Part of both releases to evaluate on. 'all' is all of them.",
            choices=(None, "all"),
            words={None: "All that are not sealed", "all": "All, with sealed ones"},
            unset="all that are not sealed",
        ),
    ] = None
    reason: Annotated[
        str | None,
        Option(
            "Why you look at sealed parts",
            "Why sealed parts are scored. It is logged with name and time.",
            unset="refuse",
        ),
    ] = None
    plan: str | None = None
    runs: tuple[tuple[str, str], ...] = ()
    folder: str = ""
