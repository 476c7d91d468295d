"""The false-negative rate that an audit has measured so far.

With W_h = N_h / N the part of stratum h among the assumed negatives, and p_h the share of relevant pairs
among those of its sample that were judged,

    p = Σ W_h p_h                                  (Cochran 1977, Sampling Techniques, section 5.3)
    low  = p − √ Σ W_h² (p_h − low_h)²
    high = p + √ Σ W_h² (high_h − p_h)²            (Zou, Huang and Zhang 2009, CSDA 53: MOVER)

where low_h and high_h are Wilson's 95 % limits: they stay honest where none or few are found, which the usual
variance estimate does not (it would call such a rate certain). In simulations with 40 pairs a stratum 93 to
100 % of the intervals hold the truth. Nothing is taken off for a sample that is a large part of its stratum,
so intervals are then too wide. What drops out of the judged (cannot tell, disputed, waiting, judged
since with another text) is counted and taken to be like the rest.

The false-negative rate here is the share of assumed negatives that are relevant; the literature on
classifiers calls this share the false omission rate.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import NamedTuple

from curation.core.errors import RefusedError
from curation.core.statistics.intervals import wilson
from curation.labeling.consensus.consensus import PairConsensus, settled
from curation.labeling.consensus.relevance import read_votes_on_scale
from curation.labeling.rounds.rounds import find_round, list_rounds
from curation.negatives.audit import Drawn
from curation.people.seal_access import SealAccess, door_or_shut
from curation.pooling.candidates import AUDIT
from curation.store import Cursor, Round, Store

MINIMUM_JUDGED = 10
"""With fewer judged pairs, and more in the stratum, a rate is no figure to show."""


_OTHER_TEXT = """
SELECT DISTINCT p.query_id, p.document_id
FROM presentations p JOIN judged_versions v USING (query_id, document_id)
WHERE p.round_id = ? AND v.content_hash <> p.content_hash
"""


class StratumRate(NamedTuple):
    """What was measured in one stratum.

    Attributes
    ----------
    judged: drawn pairs with a grade; with cannot_tell, disputed, waiting and other_text all drawn ones.
    cannot_tell: nobody could, or the reviewer decided that there is no grade.
    other_text: drawn pairs that people have judged since with another text of the document than was drawn.
    false_negatives: judged pairs that are relevant: graded above the scale's lowest.
    rate, low, high: their share and its 95 % interval; None below `MINIMUM_JUDGED`, unless all were judged.
    """

    name: str
    population: int
    drawn: int
    judged: int
    cannot_tell: int
    disputed: int
    waiting: int
    false_negatives: int
    rate: float | None
    low: float | None
    high: float | None
    other_text: int = 0


class FalseNegative(NamedTuple):
    """An assumed negative that people found relevant."""

    query_id: str
    document_id: str
    stratum: str
    grade: int


@dataclass(frozen=True)
class AuditReport:
    """The false-negative rate that a round has measured so far.

    Attributes
    ----------
    rate, low, high: over all strata, by the number of their pairs; None while a stratum has no rate.
    why: why there is no rate over all; '' where there is one.
    found: the false negatives, by query and document; `sealed` more are not named.
    """

    round: str
    pool_id: str
    systems: list[str]
    depth: int
    seed: int
    population: int
    drawn: int
    judged: int
    false_negatives: int
    rate: float | None
    low: float | None
    high: float | None
    why: str
    strata: list[StratumRate]
    found: list[FalseNegative]
    sealed: int


def audit_report(store: Store, name: str | None = None, door: SealAccess | None = None) -> AuditReport:
    """The rate that an audit has measured so far: the round of that name, or the one opened last.

    Without a door, false negatives of queries that a release seals count and are not named.

    Raises
    ------
    NotFoundError: there is no round of that name.
    RefusedError: the round is no audit, or none was opened yet.
    """
    with store.reading() as cursor:
        found, door = _find_audit(cursor, name), door_or_shut(cursor, door)
        rows = cursor.execute(
            "SELECT query_id, document_id, system FROM candidate_sources WHERE pool_id = ? ORDER BY ALL",
            [found.round_id],
        ).fetchall()
        votes = read_votes_on_scale(cursor, found.round_id)
        other_text = set(cursor.execute(_OTHER_TEXT, [found.round_id]).fetchall())
    pairs = {(pair.query_id, pair.document_id): pair for pair in settled(votes.votes).pairs}
    graded = {
        (row[0], row[1]): None if row[:2] in other_text else pairs.get((row[0], row[1])) for row in rows
    }
    stratum_of = {(row[0], row[1]): str(row[2]).removeprefix(AUDIT) for row in rows}
    false = [
        FalseNegative(*pair, stratum_of[pair], judged.grade)
        for pair, judged in graded.items()
        if judged is not None and judged.grade is not None and judged.grade > votes.lowest
    ]
    strata = [
        _measured(
            drawn,
            [graded[pair] for pair, name in stratum_of.items() if name == drawn.name],
            votes.lowest,
            sum(stratum_of.get(pair) == drawn.name for pair in other_text),
        )
        for drawn in (Drawn(**row) for row in json.loads(found.parameters)["strata"])
    ]
    return _report(found, strata, false, door)


def _report(
    found: Round, strata: list[StratumRate], false: list[FalseNegative], door: SealAccess
) -> AuditReport:
    parameters = json.loads(found.parameters)
    named = [one for one in false if door.shows(one.query_id)]
    rate, low, high = rate_over(strata) or (None, None, None)
    return AuditReport(
        round=found.name,
        pool_id=parameters["pool"],
        systems=list(parameters["systems"]),
        depth=parameters["depth"],
        seed=parameters["seed"],
        population=sum(item.population for item in strata),
        drawn=sum(item.drawn for item in strata),
        judged=sum(item.judged for item in strata),
        false_negatives=len(false),
        **{"rate": rate, "low": low, "high": high},
        why=_why_no_rate(strata),
        strata=strata,
        found=named,
        sealed=len(false) - len(named),
    )


def rate_over(strata: Sequence[StratumRate]) -> tuple[float, float, float] | None:
    """The rate over all strata with its 95 % limits; None while one that holds pairs has no rate."""
    held = [item for item in strata if item.population]
    whole = sum(item.population for item in held)
    rate = below = above = 0.0
    for item in held:
        if item.rate is None or item.low is None or item.high is None:
            return None
        weight = item.population / whole
        rate += weight * item.rate
        below += (weight * (item.rate - item.low)) ** 2
        above += (weight * (item.high - item.rate)) ** 2
    return (rate, max(0.0, rate - sqrt(below)), min(1.0, rate + sqrt(above))) if held else None


def measured_rate(
    name: str,
    population: int,
    drawn: int,
    judged: int,
    false_negatives: int,
    cannot_tell: int = 0,
    disputed: int = 0,
    other_text: int = 0,
) -> StratumRate:
    """What so many judged pairs and false negatives say of a stratum."""
    waiting = drawn - judged - cannot_tell - disputed - other_text
    counts = (name, population, drawn, judged, cannot_tell, disputed, waiting, false_negatives)
    if not judged or (judged < MINIMUM_JUDGED and judged < population):
        return StratumRate(*counts, None, None, None, other_text)
    return StratumRate(*counts, false_negatives / judged, *wilson(false_negatives, judged), other_text)


def _find_audit(cursor: Cursor, name: str | None) -> Round:
    if name is not None:
        found = find_round(cursor, name)
        if found.kind != "audit":
            raise RefusedError(
                f"The round {name!r} is no audit but of kind {found.kind}: it has no random part."
            )
        return found
    audits = [found for found in list_rounds(cursor) if found.kind == "audit"]
    if not audits:
        raise RefusedError(
            "No audit was opened yet. Open one: `goldgrade negatives audit --annotators ada,grace --size "
            "100`."
        )
    return audits[-1]


def _measured(
    drawn: Drawn, pairs: Sequence[PairConsensus | None], lowest: int, other_text: int
) -> StratumRate:
    grades = [pair.grade for pair in pairs if pair is not None and pair.grade is not None]
    without = [pair.how for pair in pairs if pair is not None and pair.grade is None]
    disputed = without.count("disputed")
    return measured_rate(
        *drawn,
        judged=len(grades),
        false_negatives=sum(grade > lowest for grade in grades),
        cannot_tell=len(without) - disputed,
        disputed=disputed,
        other_text=other_text,
    )


def _why_no_rate(strata: Sequence[StratumRate]) -> str:
    lacking = [item for item in strata if item.population and item.rate is None]
    if not lacking:
        return ""
    counts = ", ".join(f"{item.name} ({item.judged} of {item.drawn} drawn)" for item in lacking)
    return f"Too few pairs are judged for a rate (at least {MINIMUM_JUDGED} each): {counts}."
