"""Figures of agreement of two releases, before and after."""

from __future__ import annotations

from typing import NamedTuple

from curation.agreement.annotators.intra_annotator import IntraAgreement, pooled_consistency
from curation.releases.diff.compared_release import ComparedRelease

ALPHAS = ("ordinal", "nominal")


class ComparedFigure(NamedTuple):
    """A figure of agreement with its 95 % interval; `n` is what it rests on, `why` says why it is missing."""

    value: float | None
    low: float | None
    high: float | None
    n: int
    why: str | None


class FigureRow(NamedTuple):
    """A figure before and after; `counted` says what its n counts."""

    name: str
    counted: str
    before: ComparedFigure
    after: ComparedFigure


def agreement_figures(before: ComparedRelease, after: ComparedRelease) -> tuple[FigureRow, ...]:
    """Alpha at each level, equal grades, and blind duplicates."""
    rows = [
        FigureRow(f"alpha, {level}", "pairs", _figure(before, level, "alpha"), _figure(after, level, "alpha"))
        for level in ALPHAS
    ]
    rows.append(
        FigureRow("equal grades", "pairs", _figure(before, "raw", "share"), _figure(after, "raw", "share"))
    )
    repeats = [_blind_duplicates(release) for release in (before, after)]
    return (*rows, FigureRow("blind duplicates graded alike", "repeats", *repeats))


def _figure(side: ComparedRelease, name: str, value: str) -> ComparedFigure:
    found = side.agreement.get("between", {}).get(name)
    if found is None:
        return ComparedFigure(None, None, None, 0, "this release does not say")
    why = found["undefined"] or ("too few pairs" if found["too_few"] else found["no_interval"])
    shown = None if found["undefined"] or found["too_few"] else found[value]
    low, high = (found["low"], found["high"]) if shown is not None else (None, None)
    return ComparedFigure(shown, low, high, found["units"], why)


def _blind_duplicates(side: ComparedRelease) -> ComparedFigure:
    """All annotators' blind duplicates together: their numbers are not the same people in two releases."""
    found = pooled_consistency([IntraAgreement(**row) for row in side.agreement.get("within", [])])
    if not found.n:
        return ComparedFigure(None, None, None, 0, "no blind duplicates")
    return ComparedFigure(found.identical, found.low, found.high, found.n, None)
