"""The draw: which distinct queries of the traffic will be judged, and how likely each was to be drawn.

The queries that can be drawn and their random order are `sampling.frame`'s, the designs
`sampling.designs`'. What is drawn is stored with each query's probability, by whose inverse an estimate
over all traffic can weigh. Unless asked otherwise, the sample is stratified by frequency band, and each
band gets an equal share: as the bands carry about equal traffic, that is at the same time the allocation
proportional to traffic, with what a small head cannot use going to the others.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from curation.errors import InputError, RefusedError
from curation.sampling.bands import HEAD, TORSO
from curation.sampling.designs import DESIGNS, Drawing, Stratum, draw_pps, draw_stratified
from curation.sampling.frame import Frame, Limits, read_frame, state_of
from curation.sources.queries import query_id_of
from curation.store import Cursor, Store, append, fetch, get_setting, put_setting, record_event, utc_now
from curation.text import canonical_json, digest

FEW = 10
"""Below so many queries of a stratum nothing should be told about it alone."""

_NAMED = 5


@dataclass(frozen=True)
class Plan:
    """How to draw; see `sampling.strata`, `sampling.designs` and `sampling.weights` for the words.

    Attributes
    ----------
    strata: the dimensions that are crossed.
    design: 'stratified' or 'pps'.
    allocation: 'equal', 'proportional' or 'square-root'; None is 'equal', and all that pps can have.
    quotas: stratum → exact number, whatever the allocation.
    head, torso: shares of traffic at which these bands end.
    """

    strata: Sequence[str] = ("band",)
    design: str = "stratified"
    allocation: str | None = None
    quotas: Mapping[str, int] = field(default_factory=dict)
    head: float = HEAD
    torso: float = TORSO


@dataclass(frozen=True)
class SampleReport:
    """A sample that is now the current one.

    Attributes
    ----------
    added: queries that the project did not know before.
    drawn_before: this very sample was stored already; nothing was added.
    grouped: queries that count as another's spelling; their traffic is in its stratum's.
    left_out: reason → number of logged rows that could not be drawn from.
    warnings: what the numbers will not be able to say.
    parameters: what the draw was asked for, as it is stored.
    """

    sample_id: str
    size: int
    seed: int
    strata: list[Stratum]
    added: int
    drawn_before: bool
    grouped: int
    left_out: dict[str, int]
    warnings: list[str]
    parameters: dict[str, Any]


class _Drawn(NamedTuple):
    normalised: str
    stratum: str
    traffic: int
    probability: float


class _Spelling(NamedTuple):
    normalised: str
    text: str
    segment: str | None


def draw_sample(
    store: Store, size: int, seed: int, plan: Plan | None = None, limits: Limits | None = None
) -> SampleReport:
    """Draw `size` distinct queries of the traffic, store them and make them the current sample.

    Raises
    ------
    InputError: a size below 1, or a plan or limits that make no sense.
    RefusedError: there is no traffic, fewer distinct queries than asked for, or traffic arrived meanwhile.
    """
    plan, limits = plan or Plan(), limits or Limits()
    _check(size, plan)
    frame = read_frame(store, seed, limits, plan.strata, plan.head, plan.torso)
    if size > len(frame.traffic):
        raise RefusedError(_too_few(size, frame))
    drawing = _draw(frame, size, seed, plan)
    drawn = [
        _Drawn(frame.queries[int(row)].as_py(), frame.strata.name_of(row), int(frame.traffic[row]), chance)
        for row, chance in zip(drawing.rows, drawing.probability.tolist(), strict=True)
    ]
    parameters = _parameters(size, seed, plan, limits)
    sample_id = digest("sample", parameters, drawing.strata, sorted(drawn))
    known, added = _keep(store, sample_id, parameters, drawing.strata, drawn, limits, frame.state)
    warnings = _warnings(drawing.strata)
    return SampleReport(
        *(sample_id, size, seed, drawing.strata, added, known, frame.grouped, frame.left_out, warnings),
        parameters,
    )


def _check(size: int, plan: Plan) -> None:
    problems = []
    if size < 1:
        problems.append(f"A sample of {size} queries was asked for; expected at least 1.")
    if plan.design not in DESIGNS:
        problems.append(f"{plan.design!r} is no design; expected one of {', '.join(DESIGNS)}.")
    if plan.design == "pps" and (plan.allocation or plan.quotas):
        problems.append(
            "The design pps gives each stratum what its traffic makes likely, and takes no allocation or "
            "quota. Leave these out, or draw with the design stratified."
        )
    if problems:
        raise InputError(problems)


def _draw(frame: Frame, size: int, seed: int, plan: Plan) -> Drawing:
    if plan.design == "pps":
        return draw_pps(frame.traffic, frame.strata, size, seed)
    return draw_stratified(frame.traffic, frame.strata, size, plan.allocation or "equal", plan.quotas)


def _parameters(size: int, seed: int, plan: Plan, limits: Limits) -> dict[str, Any]:
    return {
        "size": size,
        "seed": seed,
        "design": plan.design,
        "strata": list(plan.strata),
        "allocation": None if plan.design == "pps" else plan.allocation or "equal",
        "quotas": dict(plan.quotas),
        "head": plan.head,
        "torso": plan.torso,
        "since": limits.since.isoformat() if limits.since else None,
        "until": limits.until.isoformat() if limits.until else None,
        "min_count": limits.min_count,
        "exclude_judged": limits.exclude_judged,
        "group_spellings": limits.group_spellings,
    }


# How each drawn query is shown: its most frequent spelling, and its most frequent segment; ties by text.
# White space is folded first, all that Python's str.split knows: nobody sees it, so it makes no spelling.
_SPELLINGS = r"""
    WITH drawn AS (SELECT unnest(?::VARCHAR[]) AS normalised),
    asked AS (SELECT t.* FROM traffic t SEMI JOIN drawn USING (normalised)),
    spelled AS (
        SELECT normalised, trim(regexp_replace(text, '[\p{Z}\x09-\x0d\x1c-\x1f\x{85}]+', ' ', 'g')) AS text,
               sum(count) AS times
        FROM asked GROUP BY ALL),
    segments AS (
        SELECT normalised, segment, sum(count) AS times FROM asked WHERE segment IS NOT NULL GROUP BY ALL)
    SELECT normalised, first(text ORDER BY spelled.times DESC, text) AS text,
           (SELECT first(segment ORDER BY s.times DESC, segment) FROM segments s
            WHERE s.normalised = spelled.normalised) AS segment
    FROM spelled GROUP BY normalised ORDER BY normalised
"""
_KNOWN = """
    SELECT normalised, min(query_id) FROM queries
    WHERE normalised IN (SELECT unnest(?::VARCHAR[])) GROUP BY normalised
"""


def _keep(
    store: Store,
    sample_id: str,
    parameters: dict[str, Any],
    strata: list[Stratum],
    drawn: list[_Drawn],
    limits: Limits,
    state: tuple[int, ...],
) -> tuple[bool, int]:
    """Store the sample and make it the current one: whether it was known, and how many queries were not."""
    with store.transaction() as cursor:
        if state_of(cursor, limits) != state:
            what = "Traffic, a round or a release" if limits.exclude_judged else "Traffic"
            raise RefusedError(f"{what} was added while the sample was drawn. Draw it again.")
        known = (
            cursor.execute("SELECT 1 FROM samples WHERE sample_id = ?", [sample_id]).fetchone() is not None
        )
        if known and get_setting(cursor, "sample") == sample_id:
            return True, 0
        added = 0 if known else _append(cursor, sample_id, parameters, strata, drawn)
        put_setting(cursor, "sample", sample_id)
        record_event(cursor, "sample", {"sample": sample_id, **parameters, "queries added": added})
    return known, added


def _append(
    cursor: Cursor,
    sample_id: str,
    parameters: dict[str, Any],
    strata: list[Stratum],
    drawn: list[_Drawn],
) -> int:
    query_ids, added = _add_queries(cursor, [query.normalised for query in drawn])
    report = canonical_json([stratum._asdict() for stratum in strata])
    cursor.execute(
        "INSERT INTO samples VALUES (?, ?, ?, ?)", [sample_id, canonical_json(parameters), report, utc_now()]
    )
    drawn = sorted(drawn, key=lambda query: query_ids[query.normalised])
    append(
        cursor,
        "sample_queries",
        {
            "sample_id": [sample_id] * len(drawn),
            "query_id": [query_ids[query.normalised] for query in drawn],
            "stratum": [query.stratum for query in drawn],
            "traffic": [query.traffic for query in drawn],
            "inclusion_probability": [query.probability for query in drawn],
        },
    )
    return added


def _add_queries(cursor: Cursor, normalised: list[str]) -> tuple[dict[str, str], int]:
    """The query id of each text, and how many queries were new; one known under another id keeps that."""
    known = dict(cursor.execute(_KNOWN, [normalised]).fetchall())
    spellings = fetch(cursor, _Spelling, _SPELLINGS, [normalised])
    new = [spelling for spelling in spellings if spelling.normalised not in known]
    ids = {spelling.normalised: query_id_of(spelling.normalised) for spelling in new}
    append(
        cursor,
        "queries",
        {
            "query_id": [ids[spelling.normalised] for spelling in new],
            "text": [spelling.text for spelling in new],
            "normalised": [spelling.normalised for spelling in new],
            "source": ["traffic"] * len(new),
            "metadata": [json.dumps({"segment": s.segment} if s.segment else {}) for s in new],
        },
    )
    return known | ids, len(new)


def _too_few(size: int, frame: Frame) -> str:
    population = len(frame.traffic)
    left_out = "; ".join(f"{count:,} rows {reason}" for reason, count in frame.left_out.items())
    if not population and not frame.left_out:
        return "There is no traffic to sample from. Bring a log in with `goldset import traffic`."
    if not population:
        return f"No query of the traffic can be drawn. Left out were {left_out}."
    narrowed = f" Left out were {left_out}." if left_out else ""
    return (
        f"The traffic holds {population:,} distinct queries and {size:,} were asked for.{narrowed} "
        f"Ask for at most {population:,}, or import more traffic."
    )


def _warnings(strata: list[Stratum]) -> list[str]:
    empty = [stratum.name for stratum in strata if not stratum.population]
    missed = [f"{s.name} ({s.population:,})" for s in strata if s.population and not s.drawn]
    few = [f"{s.name} ({s.drawn} of {s.population:,})" for s in strata if 0 < s.drawn < FEW]
    told = {
        f"No query of the traffic belongs to {_some(empty)}.": empty,
        f"No query was drawn from {_some(missed)}: results will say nothing about these.": missed,
        f"Fewer than {FEW} queries were drawn from {_some(few)}: too few for figures of their own.": few,
    }
    return [sentence for sentence, names in told.items() if names]


def _some(names: list[str]) -> str:
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more
