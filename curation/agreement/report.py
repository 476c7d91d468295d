"""The agreement report: between annotators, within each, and the consensus, with sentences for people."""

from __future__ import annotations

from dataclasses import dataclass

from curation.agreement.between import (
    MINIMUM_UNITS,
    Alpha,
    Between,
    Figure,
    Grades,
    RawAgreement,
    basis_of,
    between,
    read_grades,
)
from curation.agreement.breakdowns import Breakdown, Types, breakdown, read_types
from curation.agreement.confusion import Confusion, confusion
from curation.agreement.consensus import ConsensusCounts, counted, read_votes
from curation.agreement.couples import Cohen, cohen
from curation.agreement.grades import value_counts
from curation.agreement.intervals import RESAMPLES
from curation.agreement.origins import Origins, Words, origins, read_words
from curation.agreement.within import MINIMUM_REPEATS, NOT_PLANTED, Within, read_repeats, within
from curation.labeling.guides import Guide, current_guide, guide_by_hash
from curation.labeling.rounds import find_round
from curation.store import Cursor, Store

RELIABLE, TENTATIVE = 0.8, 0.667
"""Krippendorff (2004), Content Analysis, 2nd ed., p. 241: rely on 0.800, conclude tentatively from 0.667."""


@dataclass(frozen=True)
class Details:
    """What lies behind the figures between annotators.

    Attributes
    ----------
    by: agreement by query type, grade boundary, annotator left out and week.
    cohen: each two annotators, and the mean of their kappas.
    confusion: which grades were taken for which.
    origins: the queries and the lines of the guide that the disagreement comes from.
    """

    by: Breakdown
    cohen: Cohen
    confusion: Confusion
    origins: Origins


@dataclass(frozen=True)
class AgreementReport:
    """What can be said about the labels of a project or of one round (`round_name`).

    `seed` and `resamples` are those of the bootstrap; `scale` are the guide's values, `steps` its names for
    them. `details` are None where they were not asked for.
    """

    round_name: str | None
    seed: int
    resamples: int
    scale: tuple[int, ...]
    steps: tuple[str, ...]
    between: Between
    within: tuple[Within, ...]
    consensus: ConsensusCounts
    details: Details | None = None


def agreement_report(
    store: Store, round_name: str | None = None, seed: int = 0, details: bool = False
) -> AgreementReport:
    """The agreement of the project's annotators, or of one round's; with `details`, also its parts.

    Raises
    ------
    NotFoundError: no round has this name.
    RefusedError: grades lie outside the scale of the guide in force (for a round: of its guide).
    """
    with store.reading() as cursor:
        round_id, guide = _round(cursor, round_name)
        grades = read_grades(cursor, round_id)
        repeats = read_repeats(cursor, round_id)
        votes = read_votes(cursor, round_id)
        asides = (read_types(cursor), read_words(cursor)) if details else None
    return AgreementReport(
        round_name=round_name,
        seed=seed,
        resamples=RESAMPLES,
        scale=guide.values,
        steps=tuple(step.name for step in guide.scale),
        between=between(grades, guide.values, seed),
        within=tuple(within(row) for row in repeats),
        consensus=counted(votes),
        details=_details(grades, guide.values, *asides, seed) if asides else None,
    )


def findings(report: AgreementReport) -> list[str]:
    """What the figures say, a sentence each."""
    return [_between_finding(report.between), _within_finding(report.within), _open_finding(report.consensus)]


def not_shown(figure: Alpha | RawAgreement | Figure) -> str | None:
    """Why a figure is not shown to people, or None when it is."""
    if figure.undefined:
        return f"undefined: {figure.undefined}"
    if figure.too_few:
        return f"too few: {figure.units} of at least {MINIMUM_UNITS} doubly judged pairs"
    return None


def _details(grades: Grades, scale: tuple[int, ...], types: Types, words: Words, seed: int) -> Details:
    basis = basis_of(value_counts(grades, scale), grades.unit_queries)
    return Details(
        by=breakdown(grades, scale, types, seed),
        cohen=cohen(grades, scale, seed),
        confusion=confusion(basis, scale),
        origins=origins(basis, grades, scale, words),
    )


def _round(cursor: Cursor, name: str | None) -> tuple[str | None, Guide]:
    if name is None:
        return None, current_guide(cursor)
    found = find_round(cursor, name)
    return found.round_id, guide_by_hash(cursor, found.guide_hash)


def _between_finding(result: Between) -> str:
    alpha = result.ordinal
    why = not_shown(alpha)
    if why or alpha.alpha is None:
        return f"Agreement between annotators is {why}."
    if alpha.low is None or alpha.high is None:
        return f"Ordinal alpha is {alpha.alpha:.3f} on {alpha.units:,} pairs; {alpha.no_interval}."
    return (
        f"Ordinal alpha is {alpha.alpha:.3f} (95 % interval {alpha.low:.3f} to {alpha.high:.3f}) on "
        f"{alpha.units:,} pairs of {result.queries:,} queries: {_verdict(alpha.low, alpha.high)}."
    )


def _verdict(low: float, high: float) -> str:
    if low >= RELIABLE:
        return f"reliable, the whole interval lies above {RELIABLE}"
    if low >= TENTATIVE:
        return f"good enough for tentative conclusions, the whole interval lies above {TENTATIVE}"
    if high < TENTATIVE:
        return f"too low to rely on, the whole interval lies below {TENTATIVE}; look at the guide first"
    return f"undecided, the interval reaches below {TENTATIVE}; more doubly judged pairs would narrow it"


def _within_finding(results: tuple[Within, ...]) -> str:
    shown = [row for row in results if row.n >= MINIMUM_REPEATS]
    if shown:
        repeats = sum(row.n for row in shown)
        same = sum((row.identical or 0.0) * row.n for row in shown)
        who = f"{len(shown)} annotator{'s' * (len(shown) > 1)}"
        return f"{who} repeated {same / repeats:.0%} of {repeats:,} grades on blind duplicates."
    if any(row.n for row in results):
        return f"Consistency: too few blind duplicates judged twice so far (at least {MINIMUM_REPEATS} each)."
    why = next((row.undefined for row in results if row.planted), NOT_PLANTED)
    return f"Consistency of annotators with themselves is undefined: {why}."


def _open_finding(counts: ConsensusCounts) -> str:
    if counts.disputed:
        return (
            f"{counts.disputed:,} of {counts.pairs:,} judged pairs are disputed and have no grade until "
            "a reviewer decides them."
        )
    return f"None of the {counts.pairs:,} judged pairs is disputed."
