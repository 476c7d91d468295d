"""The false-negative rate of an audit: the share of relevant pairs among the assumed negatives.

W_h = N_h / N is the share of stratum h among the assumed negatives, and p_h the share of relevant pairs among
the judged pairs of its sample. Then

    p = Σ W_h p_h                                  (Cochran 1977, Sampling Techniques, section 5.3)
    low  = p − √ Σ W_h² (p_h − low_h)²
    high = p + √ Σ W_h² (high_h − p_h)²            (Zou, Huang and Zhang 2009, CSDA 53: MOVER)

where low_h and high_h are Wilson's 95 % limits. Wilson's limits hold even if few or no relevant pairs are
found, when the usual variance estimate would give an interval of width zero. In simulations with 40 pairs for
each stratum, 93 to 100 % of the intervals contain the true rate. The intervals have no finite-population
correction, so they are too wide if the sample is a large part of its stratum. Drawn pairs without a grade
(cannot tell, disputed, waiting, or judged later with a different text) are counted, and are assumed to be
relevant as often as the judged pairs.

The literature on classifiers calls the false-negative rate of an audit the false omission rate.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from curation.core.errors import RefusedError
from curation.core.reports.tables import Table
from curation.core.statistics.estimate import Estimate, share_estimate
from curation.core.text import percent, pluralize
from curation.guides.guide import current_guide
from curation.labeling.consensus.consensus import PairConsensus, compute_consensus
from curation.labeling.consensus.votes import read_votes
from curation.labeling.rounds.rounds import find_round, list_rounds
from curation.people.seal_access import SealAccess, describe_withheld_pairs, resolve_access
from curation.pooling.systems import AUDIT
from curation.store import Cursor, Round, Store

MIN_JUDGED = 10
"""A stratum has a rate only with this many judged pairs, or if all its pairs are judged."""

_OTHER_TEXT = """
SELECT DISTINCT p.query_id, p.document_id
FROM presentations p JOIN judged_versions v USING (query_id, document_id)
WHERE p.round_id = ? AND v.content_hash <> p.content_hash
"""


class StratumRate(NamedTuple):
    """The counts and the false-negative rate of one stratum of an audit.

    Attributes
    ----------
    judged: drawn pairs with a grade; judged, cannot_tell, disputed, waiting and other_text add up to `drawn`.
    cannot_tell: drawn pairs that nobody could grade, or that the reviewer left without a grade.
    other_text: drawn pairs that people have judged since with another text of the document.
    false_negatives: judged pairs with a relevance grade above the scale's lowest.
    rate: false negatives as a share of judged pairs; no value for fewer than `MIN_JUDGED` judged pairs.
    """

    name: str
    population: int
    drawn: int
    judged: int
    cannot_tell: int
    disputed: int
    waiting: int
    false_negatives: int
    rate: Estimate
    other_text: int = 0


class FalseNegative(NamedTuple):
    """An assumed negative that people judged relevant."""

    query_id: str
    document_id: str
    stratum: str
    grade: int


@dataclass(frozen=True)
class AuditReport:
    """The false-negative rate of an audit, from the judgments so far.

    Attributes
    ----------
    rate: false-negative rate over all strata, weighted by numbers of pairs; no value while a stratum has no
        rate.
    found: the false negatives that the person may see, ordered by query and document.
    sealed: number of false negatives that are not named, because their queries are sealed.
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
    rate: Estimate
    strata: list[StratumRate]
    found: list[FalseNegative]
    sealed: int

    @property
    def sentences(self) -> list[str]:
        """Give the false-negative rate, the pairs left out of the rate, and the relevant pairs."""
        rate = (
            f"False-negative rate over all {self.population:,} assumed negatives: "
            f"{self.rate.percent_text(1)}, from {self.judged:,} judged pairs."
        )
        other_text = sum(stratum.other_text for stratum in self.strata)
        pairs = pluralize(other_text, "pair")
        left_out = f"The rate leaves out {pairs} whose document has changed since the audit began."
        return [
            (self.rate.why or "") if self.rate.value is None else rate,
            *([left_out] if other_text else []),
            *(
                f"relevant: {pair.query_id}, {pair.document_id} ({pair.stratum}): grade {pair.grade}"
                for pair in self.found
            ),
            *filter(None, [describe_withheld_pairs(self.sealed)]),
        ]

    @property
    def tables(self) -> tuple[Table, ...]:
        """Show the counts and the false-negative rate of each stratum."""
        rows = (
            (
                *(stratum.name, stratum.population, stratum.drawn, stratum.judged, stratum.waiting),
                *(stratum.cannot_tell + stratum.disputed, stratum.false_negatives),
                *(percent(stratum.rate.value, 1), _format_interval(stratum.rate)),
            )
            for stratum in self.strata
        )
        counts = ("Stratum", "Pairs", "Drawn", "Judged", "Waiting", "No grade", "Relevant")
        columns = (*counts, "Rate", "95 % interval")
        title = f"{self.round}: assumed negatives of {', '.join(self.systems)} to depth {self.depth:,}"
        return (Table(title, columns, tuple(rows)),)


def report_audit(store: Store, name: str | None = None, access: SealAccess | None = None) -> AuditReport:
    """Compute the false-negative rate of a named audit, or of the latest audit.

    Without access, false negatives of sealed queries are counted and not named.

    Raises
    ------
    NotFoundError: no round has the name.
    RefusedError: the round is no audit, or there is no audit.
    """
    with store.reading() as cursor:
        audit_round = _find_audit(cursor, name)
        access = resolve_access(cursor, access)
        rows = cursor.execute(
            "SELECT query_id, document_id, system FROM candidate_sources WHERE pool_id = ? ORDER BY ALL",
            [audit_round.round_id],
        ).fetchall()
        votes = read_votes(cursor, audit_round.round_id)
        lowest = current_guide(cursor).values[0]
        other_text = set(cursor.execute(_OTHER_TEXT, [audit_round.round_id]).fetchall())
    consensus = {(pair.query_id, pair.document_id): pair for pair in compute_consensus(votes).pairs}
    stratum_of = {(row[0], row[1]): row[2].removeprefix(AUDIT) for row in rows}
    consensus_of = {pair: None if pair in other_text else consensus.get(pair) for pair in stratum_of}
    false_negatives = [
        FalseNegative(*pair, stratum_of[pair], row.grade)
        for pair, row in consensus_of.items()
        if row is not None and row.grade is not None and row.grade > lowest
    ]
    parameters = json.loads(audit_round.parameters)
    strata = [
        _measure_stratum(
            row,
            [consensus_of[pair] for pair, stratum in stratum_of.items() if stratum == row["name"]],
            lowest,
            sum(stratum_of.get(pair) == row["name"] for pair in other_text),
        )
        for row in parameters["strata"]
    ]
    visible_negatives = [pair for pair in false_negatives if access.can_show(pair.query_id)]
    return AuditReport(
        round=audit_round.name,
        pool_id=parameters["pool"],
        systems=list(parameters["systems"]),
        depth=parameters["depth"],
        seed=parameters["seed"],
        population=sum(stratum.population for stratum in strata),
        drawn=sum(stratum.drawn for stratum in strata),
        judged=sum(stratum.judged for stratum in strata),
        false_negatives=len(false_negatives),
        rate=combine_rates(strata),
        strata=strata,
        found=visible_negatives,
        sealed=len(false_negatives) - len(visible_negatives),
    )


def combine_rates(strata: Sequence[StratumRate]) -> Estimate:
    """Combine the strata's rates with their limits; there is no value as long as any stratum has no rate."""
    non_empty = [stratum for stratum in strata if stratum.population]
    strata_without_rate = ", ".join(
        f"{stratum.name} ({stratum.judged} of {stratum.drawn} drawn)"
        for stratum in non_empty
        if stratum.rate.value is None
    )
    judged = sum(stratum.judged for stratum in non_empty)
    if strata_without_rate or not non_empty:
        why = (
            f"Each stratum needs {MIN_JUDGED} judged pairs for a rate. These have "
            f"fewer: {strata_without_rate}."
        )
        return Estimate(n=judged, why=why if strata_without_rate else "")
    populations = np.array([stratum.population for stratum in non_empty])
    weights = populations / populations.sum()
    rates, lows, highs = np.array([stratum.rate[:3] for stratum in non_empty], dtype=np.float64).T
    rate = float((weights * rates).sum())
    lower_margin, upper_margin = (
        float(np.sqrt(((weights * distances) ** 2).sum())) for distances in (rates - lows, highs - rates)
    )
    return Estimate(rate, max(0.0, rate - lower_margin), min(1.0, rate + upper_margin), judged)


def _format_interval(estimate: Estimate) -> str:
    if not estimate.has_interval:
        return "–"
    return f"{percent(estimate.low, 1)} to {percent(estimate.high, 1)}"


def make_stratum_rate(
    name: str,
    population: int,
    drawn: int,
    judged: int,
    false_negatives: int,
    cannot_tell: int = 0,
    disputed: int = 0,
    other_text: int = 0,
) -> StratumRate:
    """Compute the false-negative rate of a stratum from the counts of its drawn pairs."""
    waiting = drawn - judged - cannot_tell - disputed - other_text
    rate = share_estimate(false_negatives, judged, min(MIN_JUDGED, population))
    counts = (name, population, drawn, judged, cannot_tell, disputed, waiting, false_negatives)
    return StratumRate(*counts, rate, other_text)


def _find_audit(cursor: Cursor, name: str | None) -> Round:
    if name is not None:
        round_ = find_round(cursor, name)
        if round_.kind != "audit":
            raise RefusedError(f"The round {name!r} is of kind {round_.kind}, so it is not an audit.")
        return round_
    audits = [round_ for round_ in list_rounds(cursor) if round_.kind == "audit"]
    if not audits:
        command = "`goldgrade negatives audit --annotators ada,grace --size 100`"
        raise RefusedError(f"No audit has been opened yet. Open an audit: {command}.")
    return audits[-1]


def _measure_stratum(
    stratum: Mapping[str, Any], pairs: Sequence[PairConsensus | None], lowest: int, other_text: int
) -> StratumRate:
    """Count a stratum's drawn pairs by outcome.

    Parameters
    ----------
    stratum: fields of the stored `AuditStratum`: name, population and number of drawn pairs.
    """
    grades = [pair.grade for pair in pairs if pair is not None and pair.grade is not None]
    ungraded_reasons = [pair.how for pair in pairs if pair is not None and pair.grade is None]
    disputed = ungraded_reasons.count("disputed")
    return make_stratum_rate(
        **stratum,
        judged=len(grades),
        false_negatives=sum(grade > lowest for grade in grades),
        cannot_tell=len(ungraded_reasons) - disputed,
        disputed=disputed,
        other_text=other_text,
    )
