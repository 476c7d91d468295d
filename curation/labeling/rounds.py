"""Rounds: campaigns of labeling, computed ahead when they open, and how far they are.

All that a round will show is worked out by `orders` before anybody grades, and written at once.
"""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from curation.errors import InputError, NotFoundError, RefusedError
from curation.labeling.annotators import require_annotators
from curation.labeling.orders import CLOSEST_DUPLICATE, Candidate, Step, assign, duplicates_wanted, order
from curation.sources.corpus import current_snapshot
from curation.sources.queries import active_queries
from curation.store import Cursor, Store, append_rows, fetch, get_setting, record_event, utc_now
from curation.store.rows import Annotator, Presentation, Round
from curation.text import canonical_json, digest

TRIES = 5


@dataclass(frozen=True)
class RoundOpened:
    """What a new round holds.

    Attributes
    ----------
    per_annotator: name → number of presentations, blind duplicates included.
    duplicates: name → number of blind duplicates.
    shortest_distance, median_distance: between the showings of a duplicate, in presentations; None
        without any duplicate.
    left_out: reason → number of candidates or duplicates that the round does not have.
    """

    round: str
    round_id: str
    guide_hash: str
    candidates: int
    presentations: int
    per_annotator: dict[str, int]
    duplicates: dict[str, int]
    shortest_distance: int | None
    median_distance: float | None
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
    """A round's progress; `complete` counts candidates with all their first showings answered."""

    round: str
    kind: str
    opened_at: datetime
    guide_hash: str
    candidates: int
    complete: int
    annotators: list[AnnotatorProgress]


def open_round(
    store: Store,
    name: str,
    annotators: Sequence[str],
    *,
    overlap: int = 2,
    duplicates: float = 0.08,
    seed: int = 0,
    again: bool = False,
) -> RoundOpened:
    """Open a round over the candidates of the queries in play that no round has shown yet.

    Parameters
    ----------
    overlap: how many annotators judge each candidate.
    duplicates: blind duplicates as a share of each annotator's first showings, 0 to 0.5.
    again: take the candidates that a round has shown, or that are judged, too.

    Raises
    ------
    InputError: the numbers do not fit together.
    NotFoundError: annotators that the project does not know.
    RefusedError: the name is taken, somebody cannot sign in, there is nothing to judge, or the project kept
        changing.
    """
    names = list(dict.fromkeys(annotators))
    _check(name, names, overlap, duplicates)
    parameters = {
        "annotators": names,
        "overlap": overlap,
        "duplicates": duplicates,
        "seed": seed,
        "again": again,
    }
    for _ in range(TRIES):
        with store.reading() as cursor:
            mark = _mark(cursor)
            _refuse_who_cannot_sign_in(require_annotators(cursor, names))
            _refuse_taken(cursor, name)
            rows = cursor.execute(_CANDIDATES, [current_snapshot(cursor)]).fetchall()
            active = {query.query_id for query in active_queries(cursor)}
        planned = _plan(name, str(mark[0]), parameters, *_choose(rows, active, again))
        with store.transaction() as cursor:
            _refuse_taken(cursor, name)
            if _mark(cursor) == mark:
                _write(cursor, planned, parameters)
                return planned.opened
    raise RefusedError("Other commands kept changing the project while the round was worked out. Try again.")


def round_status(store: Store, name: str) -> RoundStatus:
    """How far a round is.

    Raises
    ------
    NotFoundError: there is no round of that name.
    """
    with store.reading() as cursor:
        found = find_round(cursor, name)
        progress = fetch(cursor, AnnotatorProgress, _PROGRESS, [found.round_id])
        candidates, complete = cursor.execute(_COMPLETE, [found.round_id]).fetchone() or (0, 0)
    return RoundStatus(name, found.kind, found.opened_at, found.guide_hash, candidates, complete, progress)


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


def _presentations(round_id: str, annotator: str, showings: Sequence[Step]) -> list[Presentation]:
    rows: list[Presentation] = []
    first: dict[Candidate, str] = {}
    for position, (candidate, again) in enumerate(showings):
        presentation_id = digest("presentation", round_id, annotator, position)
        first.setdefault(candidate, presentation_id)
        duplicate_of = first[candidate] if again else None
        rows.append(Presentation(presentation_id, round_id, annotator, *candidate, position, duplicate_of))
    return rows


class _Planned(NamedTuple):
    """A round that is worked out and not written yet."""

    opened: RoundOpened
    rows: list[Presentation]


def _plan(
    name: str,
    guide_hash: str,
    parameters: dict[str, Any],
    candidates: Sequence[Candidate],
    left_out: dict[str, int],
) -> _Planned:
    if not candidates:
        raise RefusedError(_nothing(left_out))
    names, share, seed = parameters["annotators"], parameters["duplicates"], parameters["seed"]
    round_id = digest("round", name, guide_hash, parameters)
    work = assign(candidates, names, parameters["overlap"], seed)
    orders = {who: order(work[who], share, f"{seed}:{who}") for who in names}
    rows = [row for who in names for row in _presentations(round_id, who, orders[who])]
    planned = sum(duplicates_wanted(share, sum(map(len, work[who].values()))) for who in names)
    counts = {
        f"blind duplicates that would come back within {CLOSEST_DUPLICATE} presentations, or be half of a "
        "query's documents": planned - sum(row.duplicate_of is not None for row in rows),
        "blind duplicates come back alone: their query has no other document": sum(
            step.again and len(work[who][step.candidate.query_id]) == 1
            for who in names
            for step in orders[who]
        ),
    }
    left_out = {**left_out, **{reason: count for reason, count in counts.items() if count}}
    return _Planned(_opened(name, round_id, guide_hash, len(candidates), rows, left_out), rows)


def _write(cursor: Cursor, planned: _Planned, parameters: dict[str, Any]) -> None:
    opened = planned.opened
    cursor.execute(
        "INSERT INTO rounds VALUES (?, ?, 'labeling', ?, ?, ?)",
        [opened.round_id, opened.round, opened.guide_hash, canonical_json(parameters), utc_now()],
    )
    append_rows(cursor, "presentations", planned.rows)
    record_event(
        cursor, "open round", {"name": opened.round, **parameters, "presentations": opened.presentations}
    )


def _mark(cursor: Cursor) -> tuple[object, ...]:
    """Whatever must not change between reading and writing: guide, corpus, sample, candidates, rounds."""
    counts = cursor.execute(
        "SELECT (SELECT count(*) FROM candidates), (SELECT count(*) FROM presentations)"
    ).fetchall()
    return (
        get_setting(cursor, "guide"),
        get_setting(cursor, "corpus"),
        get_setting(cursor, "sample"),
        *counts,
    )


def _opened(
    name: str,
    round_id: str,
    guide_hash: str,
    candidates: int,
    rows: Sequence[Presentation],
    left_out: dict[str, int],
) -> RoundOpened:
    per_annotator: dict[str, int] = defaultdict(int)
    twice: dict[str, int] = defaultdict(int)
    position = {row.presentation_id: row.position for row in rows}
    distances = []
    for row in rows:
        per_annotator[row.annotator] += 1
        twice[row.annotator] += row.duplicate_of is not None
        if row.duplicate_of is not None:
            distances.append(row.position - position[row.duplicate_of])
    return RoundOpened(
        round=name,
        round_id=round_id,
        guide_hash=guide_hash,
        candidates=candidates,
        presentations=len(rows),
        per_annotator=dict(per_annotator),
        duplicates=dict(twice),
        shortest_distance=min(distances, default=None),
        median_distance=float(statistics.median(distances)) if distances else None,
        left_out=left_out,
    )


def _choose(
    rows: Sequence[tuple[str, str, str | None, bool]], active: set[str], again: bool
) -> tuple[list[Candidate], dict[str, int]]:
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
    return chosen, dict(left_out)


def _nothing(left_out: dict[str, int]) -> str:
    if not left_out:
        return "There are no candidates to judge yet. Build a pool: `goldset pool --systems bm25 --depth 10`."
    why = "; ".join(f"{count:,} {reason}" for reason, count in left_out.items())
    return (
        f"There is nothing left to judge ({why}). Deepen the pool, or judge all pairs once more with --again."
    )


def _check(name: str, annotators: Sequence[str], overlap: int, duplicates: float) -> None:
    problems = []
    if not name.strip():
        problems.append("the round needs a name")
    if not 1 <= overlap <= len(annotators):
        problems.append(
            f"--overlap {overlap} does not fit {len(annotators)} annotator(s): each pair is judged by "
            f"--overlap different people, so it is between 1 and {max(1, len(annotators))}"
        )
    if not 0 <= duplicates <= 0.5:
        problems.append(f"--duplicates {duplicates} is not a share between 0 and 0.5, such as 0.08")
    if problems:
        raise InputError(problems)


def _refuse_who_cannot_sign_in(annotators: Sequence[Annotator]) -> None:
    imported = [annotator.name for annotator in annotators if annotator.imported]
    if imported:
        raise RefusedError(
            f"{', '.join(imported)} cannot sign in: known from imported judgments only. Give them a password "
            "with `goldset annotator add NAME`, or leave them out of the round."
        )


def _refuse_taken(cursor: Cursor, name: str) -> None:
    if cursor.execute("SELECT 1 FROM rounds WHERE name = ?", [name]).fetchone():
        raise RefusedError(
            f"A round {name!r} exists already. Choose another name, or look at it with "
            f"`goldset round status {name}`."
        )


_CANDIDATES = """
SELECT c.query_id, c.document_id, s.content_hash,
       EXISTS (FROM presentations p WHERE p.query_id = c.query_id AND p.document_id = c.document_id)
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
FROM presentations p LEFT JOIN presentation_states s USING (presentation_id)
WHERE p.round_id = ?
GROUP BY p.annotator ORDER BY p.annotator
"""

_COMPLETE = """
WITH pairs AS (
    SELECT p.query_id, p.document_id, bool_and(j.presentation_id IS NOT NULL) AS answered
    FROM presentations p LEFT JOIN current_judgments j USING (presentation_id)
    WHERE p.round_id = ? AND p.duplicate_of IS NULL
    GROUP BY p.query_id, p.document_id)
SELECT count(*), count(*) FILTER (answered) FROM pairs
"""
