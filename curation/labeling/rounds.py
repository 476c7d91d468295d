"""Rounds: campaigns of labeling, computed ahead when they open, and how far they are.

All that a round will show is worked out by `orders` before anybody grades, and written at once.
"""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple, TypeVar

from curation.errors import InputError, NotFoundError, RefusedError
from curation.labeling.annotators import require_annotators, require_author
from curation.labeling.known import KnownPair, KnownResult, Pool, known_results, read_pool, write_known
from curation.labeling.layouts import LaidOut, Layout, lay_out
from curation.labeling.orders import Candidate, assign
from curation.labeling.practice import practised
from curation.labeling.spacing import Spacing, quantiles, spacing
from curation.sources.corpus import current_snapshot
from curation.sources.queries import active_queries
from curation.store import Cursor, Store, append, append_rows, fetch, get_setting, record_event, utc_now
from curation.store.rows import Annotator, Presentation, Round
from curation.store.settings import COMMAND_LINE
from curation.text import canonical_json, digest, seeded

TRIES = 5
PILOT_QUERIES = 10
TOLD_BEFORE = "given to people who practised on them, nobody else being free: they know the expected grade"
Found = TypeVar("Found")


@dataclass(frozen=True)
class RoundOpened:
    """What a new round holds.

    Attributes
    ----------
    per_annotator: name → number of presentations, blind duplicates and known answers included.
    duplicates: name → number of blind duplicates.
    known: name → number of known answers planted blind.
    shortest_distance, median_distance: between the showings of a duplicate, in presentations; None
        without any duplicate.
    distances: quantiles of these distances by name: 'min', 'q1', 'median', 'q3', 'max'.
    left_out: reason → number of candidates or duplicates that the round does not have.
    """

    round: str
    round_id: str
    guide_hash: str
    candidates: int
    presentations: int
    per_annotator: dict[str, int]
    duplicates: dict[str, int]
    known: dict[str, int]
    shortest_distance: int | None
    median_distance: float | None
    distances: dict[str, float]
    left_out: dict[str, int]


class AnnotatorProgress(NamedTuple):
    """How far one annotator is; cannot_tell and flagged are part of answered."""

    annotator: str
    presentations: int
    answered: int
    cannot_tell: int
    later: int
    flagged: int
    duplicates: int
    duplicates_answered: int
    last_at: datetime | None


@dataclass(frozen=True)
class RoundStatus:
    """A round's progress.

    Attributes
    ----------
    guide_hash: the guide in force in the round now.
    complete: candidates with all their first showings answered; known answers are no candidates.
    late: presentations whose answer came after the round was closed.
    withdrawn: presentations that were moved to somebody else.
    """

    round: str
    kind: str
    opened_at: datetime
    guide_hash: str
    candidates: int
    complete: int
    annotators: list[AnnotatorProgress]
    paused: bool
    closed: bool
    closed_at: datetime | None
    late: int
    withdrawn: int
    spacing: Spacing
    known: list[KnownResult]


@dataclass(frozen=True)
class Chosen:
    """What a round will show.

    Attributes
    ----------
    parameters: what is stored with the round besides its layout.
    left_out: reason → number of candidates.
    sources: (query id, document id) → system, of what no pool proposed: noted under the round's id, and
        made candidates where they are none yet.
    """

    candidates: Sequence[Candidate]
    parameters: Mapping[str, Any]
    left_out: Mapping[str, int]
    sources: Mapping[tuple[str, str], str] = field(default_factory=dict)


def open_round(
    store: Store,
    name: str,
    annotators: Sequence[str],
    *,
    overlap: int = 2,
    duplicates: float = 0.08,
    seed: int = 0,
    again: bool = False,
    kind: str = "labeling",
    known: float = 0.0,
    per_day: int | None = None,
    queries: int = PILOT_QUERIES,
    author: str = COMMAND_LINE,
) -> RoundOpened:
    """Open a round over the candidates of the queries in play that no round has shown yet.

    A pilot shows the same few queries to everyone, without blind duplicates or known answers. It does not
    count: its candidates can be judged in a labeling round afterwards.

    Parameters
    ----------
    overlap: how many annotators judge each candidate.
    duplicates: blind duplicates as a share of each annotator's first showings, 0 to 0.5.
    again: take the candidates that a round has shown, or that are judged, too.
    kind: 'labeling' or 'pilot'; a pilot's overlap is everyone.
    known: share of known answers planted blind among each annotator's first showings, 0 to 0.5.
    per_day: answers expected of an annotator in a day; blind duplicates then come at least so many
        presentations later, where the order is long enough.
    queries: how many queries a pilot has.
    author: who opens it, for the audit trail: a lead or the command line.

    Raises
    ------
    InputError: the numbers do not fit together.
    NotFoundError: annotators that the project does not know.
    RefusedError: the name is taken, somebody cannot sign in, there is nothing to judge, the project kept
        changing, or the author is no lead.
    """
    if kind == "pilot":
        layout = _pilot_layout(name, annotators, seed, queries)
    else:
        layout = Layout.of(name, kind, annotators, overlap, duplicates, seed, known, per_day)

    def read(cursor: Cursor) -> tuple[list[tuple[str, str, str | None, bool]], set[str]]:
        return read_candidates(cursor, pilots=kind == "pilot")

    def choose(found: tuple[list[tuple[str, str, str | None, bool]], set[str]]) -> Chosen:
        chosen = choose_candidates(*found, again)
        return _some_queries(chosen, queries, seed) if kind == "pilot" else chosen

    return open_over(store, layout, read, choose, author)


def read_candidates(
    cursor: Cursor, pilots: bool = False
) -> tuple[list[tuple[str, str, str | None, bool]], set[str]]:
    """Every candidate (query id, document id, current content hash, shown before), and the queries in play.

    Parameters
    ----------
    pilots: what a pilot has shown counts as shown.
    """
    rows = cursor.execute(_CANDIDATES, [pilots, current_snapshot(cursor)]).fetchall()
    return rows, {query.query_id for query in active_queries(cursor)}


def _pilot_layout(name: str, annotators: Sequence[str], seed: int, queries: int) -> Layout:
    everyone = len(set(annotators))
    layout = Layout.of(name, "pilot", annotators, everyone, 0.0, seed)
    problems = []
    if everyone < 2:
        problems.append("a pilot compares annotators: name at least two")
    if queries < 1:
        problems.append(f"{queries} queries: a pilot has at least 1, usually {PILOT_QUERIES}")
    if problems:
        raise InputError(problems)
    return layout


def _some_queries(chosen: Chosen, count: int, seed: int) -> Chosen:
    """The candidates of `count` of the queries, by a seeded order."""
    queries = set(seeded({candidate.query_id for candidate in chosen.candidates}, seed, str)[:count])
    kept = [candidate for candidate in chosen.candidates if candidate.query_id in queries]
    left_out = dict(chosen.left_out)
    if len(kept) < len(chosen.candidates):
        left_out["the query is not among the pilot's"] = len(chosen.candidates) - len(kept)
    return Chosen(kept, {**chosen.parameters, "queries": count}, left_out)


def open_over(
    store: Store,
    layout: Layout,
    read: Callable[[Cursor], Found],
    choose: Callable[[Found], Chosen],
    author: str = COMMAND_LINE,
) -> RoundOpened:
    """Open a round over what `choose` makes, outside of any turn, of what `read` finds in one.

    Should candidates, rounds, corpus, sample or guide change in between, it reads and chooses again.

    Raises
    ------
    NotFoundError: annotators that the project does not know.
    RefusedError: the name is taken, somebody cannot sign in, there is nothing to judge, the project kept
        changing, or the author is no lead.
    """
    for _ in range(TRIES):
        with store.reading() as cursor:
            require_author(cursor, author, "lead")
            mark = project_mark(cursor)
            refuse_who_cannot_sign_in(require_annotators(cursor, layout.annotators))
            refuse_taken(cursor, layout.name)
            pool = read_pool(cursor) if layout.known else None
            told = practised(cursor)
            found = read(cursor)
        chosen = choose(found)
        planned = _plan(layout, str(mark[0]), chosen, pool, told)
        with store.transaction() as cursor:
            refuse_taken(cursor, layout.name)
            if project_mark(cursor) == mark:
                _write(cursor, planned, layout.kind, author)
                return planned.opened
    raise RefusedError("Other commands kept changing the project while the round was worked out. Try again.")


def round_status(store: Store, name: str) -> RoundStatus:
    """How far a round is.

    Raises
    ------
    NotFoundError: there is no round of that name.
    """
    with store.reading() as cursor:
        round_id = find_round(cursor, name).round_id
        progress = fetch(cursor, AnnotatorProgress, _PROGRESS, [round_id])
        candidates, complete = cursor.execute(_COMPLETE, [round_id]).fetchall()[0]
        kind, opened_at, guide_hash, paused, closed, closed_at, late, withdrawn = cursor.execute(
            _STATE, [round_id]
        ).fetchall()[0]
        return RoundStatus(
            round=name,
            kind=kind,
            opened_at=opened_at,
            guide_hash=guide_hash,
            candidates=candidates,
            complete=complete,
            annotators=progress,
            paused=paused,
            closed=closed,
            closed_at=closed_at,
            late=late,
            withdrawn=withdrawn,
            spacing=spacing(cursor, round_id),
            known=[] if kind == "practice" else known_results(cursor, round_id),
        )


def list_rounds(cursor: Cursor) -> list[Round]:
    """All rounds, oldest first."""
    return fetch(cursor, Round, f"{_ROUNDS} ORDER BY opened_at, round_id")


def find_round(cursor: Cursor, name: str) -> Round:
    """The round of that name.

    Raises
    ------
    NotFoundError: there is none; names those there are.
    """
    found = fetch(cursor, Round, f"{_ROUNDS} WHERE name = ?", [name])
    if found:
        return found[0]
    names = ", ".join(item.name for item in list_rounds(cursor)) or "none yet"
    raise NotFoundError(f"There is no round {name!r}. Rounds of this project: {names}.")


class _Planned(NamedTuple):
    """A round that is worked out and not written yet."""

    opened: RoundOpened
    rows: list[Presentation]
    parameters: dict[str, Any]
    sources: Mapping[tuple[str, str], str]
    known: list[KnownPair]


def _plan(
    layout: Layout, guide_hash: str, chosen: Chosen, pool: Pool | None, told: Collection[tuple[str, str, str]]
) -> _Planned:
    if not chosen.candidates:
        raise RefusedError(_nothing(chosen.left_out))
    names, seed = layout.annotators, layout.seed
    parameters = {
        "annotators": names,
        "overlap": layout.overlap,
        "duplicates": layout.duplicates,
        "seed": seed,
        "known": layout.known,
        "per_day": layout.per_day,
        **chosen.parameters,
    }
    round_id = digest("round", layout.name, guide_hash, parameters)
    pairs = {c[:2] for c in chosen.candidates}
    known = {(who, query) for who, query, document in told if (query, document) in pairs}
    work = assign(chosen.candidates, names, layout.overlap, seed, told=known)
    laid = lay_out(round_id, work, layout, pool, pairs)
    left_out = {**chosen.left_out, **laid.left_out}
    rows = {(row.annotator, row.query_id, row.document_id) for row in laid.rows}
    if rows & set(told):
        left_out[TOLD_BEFORE] = len(rows & set(told))
    opened = _opened(layout.name, round_id, guide_hash, len(chosen.candidates), laid, left_out)
    return _Planned(opened, laid.rows, parameters, chosen.sources, laid.known)


def _write(cursor: Cursor, planned: _Planned, kind: str, author: str) -> None:
    opened, parameters = planned.opened, planned.parameters
    cursor.execute(
        "INSERT INTO rounds VALUES (?, ?, ?, ?, ?, ?)",
        [opened.round_id, opened.round, kind, opened.guide_hash, canonical_json(parameters), utc_now()],
    )
    _write_sources(cursor, opened.round_id, planned.sources)
    append_rows(cursor, "presentations", planned.rows)
    write_known(cursor, opened.round_id, planned.known)
    detail = {"name": opened.round, **parameters, "presentations": opened.presentations}
    record_event(cursor, "open round", detail, author)


def _write_sources(cursor: Cursor, round_id: str, sources: Mapping[tuple[str, str], str]) -> None:
    pairs = sorted(sources)
    columns = {"query_id": [query_id for query_id, _ in pairs], "document_id": [d for _, d in pairs]}
    systems = [sources[pair] for pair in pairs]
    append(cursor, "candidate_sources", {"pool_id": [round_id] * len(pairs), **columns, "system": systems})
    cursor.execute(
        """
        INSERT INTO candidates
        SELECT query_id, document_id FROM candidate_sources s
        WHERE pool_id = ? AND NOT EXISTS (
            FROM candidates c WHERE c.query_id = s.query_id AND c.document_id = s.document_id)
        ORDER BY query_id, document_id
        """,
        [round_id],
    )


def project_mark(cursor: Cursor) -> tuple[object, ...]:
    """Whatever must not change between reading and writing: guide, corpus, sample, candidates, rounds."""
    counts = cursor.execute(
        """
        SELECT (SELECT count(*) FROM candidates), (SELECT count(*) FROM presentations),
               (SELECT count(*) FROM withdrawals), (SELECT count(*) FROM adjudications)
        """
    ).fetchall()
    return (
        get_setting(cursor, "guide"),
        get_setting(cursor, "corpus"),
        get_setting(cursor, "sample"),
        *counts,
    )


def _opened(
    name: str, round_id: str, guide_hash: str, candidates: int, laid: LaidOut, left_out: dict[str, int]
) -> RoundOpened:
    per_annotator: dict[str, int] = defaultdict(int)
    twice: dict[str, int] = defaultdict(int)
    position = {row.presentation_id: row.position for row in laid.rows}
    apart = []
    for row in laid.rows:
        per_annotator[row.annotator] += 1
        twice[row.annotator] += row.duplicate_of is not None
        if row.duplicate_of is not None:
            apart.append(row.position - position[row.duplicate_of])
    return RoundOpened(
        round=name,
        round_id=round_id,
        guide_hash=guide_hash,
        candidates=candidates,
        presentations=len(laid.rows),
        per_annotator=dict(per_annotator),
        duplicates=dict(twice),
        known=laid.per_known,
        shortest_distance=min(apart, default=None),
        median_distance=float(statistics.median(apart)) if apart else None,
        distances=quantiles(apart),
        left_out=left_out,
    )


def choose_candidates(
    rows: Sequence[tuple[str, str, str | None, bool]], active: set[str], again: bool
) -> Chosen:
    """The candidates to be judged, out of rows of `_CANDIDATES`, and the others by reason."""
    left_out: Counter[str] = Counter()
    chosen = []
    for query_id, document_id, content_hash, shown in rows:
        if content_hash is None:
            left_out["the document is not in the current corpus"] += 1
        elif query_id not in active:
            left_out["the query is not in the current sample"] += 1
        elif shown and not again:
            left_out["already in a round or judged"] += 1
        else:
            chosen.append(Candidate(query_id, document_id, content_hash))
    return Chosen(chosen, {"again": again}, dict(left_out))


def _nothing(left_out: Mapping[str, int]) -> str:
    if not left_out:
        return "There are no candidates to judge yet. Build a pool: `goldset pool --systems bm25 --depth 10`."
    why = "; ".join(f"{count:,} {reason}" for reason, count in left_out.items())
    return (
        f"There is nothing left to judge ({why}). Deepen the pool, or judge all pairs once more: "
        "on the page by showing candidates again, on the command line with --again."
    )


def refuse_who_cannot_sign_in(annotators: Sequence[Annotator]) -> None:
    """Work is for people who can see it.

    Raises
    ------
    RefusedError: somebody is known from imported judgments only; names them all.
    """
    imported = [annotator.name for annotator in annotators if annotator.imported]
    if imported:
        raise RefusedError(
            f"{', '.join(imported)} cannot sign in: known from imported judgments only. Give them a password "
            "with `goldset annotator add NAME`, or leave them out of the round."
        )


def refuse_taken(cursor: Cursor, name: str) -> None:
    """Round names are given once.

    Raises
    ------
    RefusedError: there is a round of that name.
    """
    if cursor.execute("SELECT 1 FROM rounds WHERE name = ?", [name]).fetchone():
        raise RefusedError(
            f"A round {name!r} exists already. Choose another name, or look at it with "
            f"`goldset round status {name}`."
        )


_CANDIDATES = """
SELECT c.query_id, c.document_id, s.content_hash,
       EXISTS (
           FROM presentations p JOIN rounds r USING (round_id)
           WHERE p.query_id = c.query_id AND p.document_id = c.document_id
             AND r.kind <> 'practice' AND (r.kind <> 'pilot' OR ?))
FROM candidates c
LEFT JOIN snapshot_documents s ON s.document_id = c.document_id AND s.snapshot_id = ?
ORDER BY c.query_id, c.document_id
"""

_ROUNDS = "SELECT round_id, name, kind, guide_hash, parameters, opened_at FROM rounds"

_PROGRESS = """
SELECT p.annotator, count(*), count(*) FILTER (s.answered),
       count(*) FILTER (s.kind = 'cannot_tell'), count(*) FILTER (s.kind = 'later'),
       count(*) FILTER (s.flagged), count(p.duplicate_of),
       count(*) FILTER (p.duplicate_of IS NOT NULL AND s.answered), max(s.submitted_at)
FROM live_presentations p LEFT JOIN presentation_states s USING (presentation_id)
WHERE p.round_id = ?
GROUP BY p.annotator ORDER BY p.annotator
"""

_COMPLETE = """
WITH pairs AS (
    SELECT p.query_id, p.document_id, bool_and(j.presentation_id IS NOT NULL) AS answered
    FROM live_presentations p LEFT JOIN current_judgments j USING (presentation_id)
    WHERE p.round_id = ? AND p.duplicate_of IS NULL AND NOT EXISTS (
        FROM known_answers k
        WHERE k.round_id = p.round_id AND k.query_id = p.query_id AND k.document_id = p.document_id)
    GROUP BY p.query_id, p.document_id)
SELECT count(*), count(*) FILTER (answered) FROM pairs
"""

_STATE = """
SELECT kind, opened_at, guide_hash, paused, closed, closed_at,
       (SELECT count(DISTINCT e.presentation_id)
        FROM judgment_events e JOIN presentations p USING (presentation_id)
        WHERE e.late AND p.round_id = r.round_id),
       (SELECT count(*) FROM withdrawals w JOIN presentations p USING (presentation_id)
        WHERE p.round_id = r.round_id)
FROM round_states r WHERE round_id = ?
"""
