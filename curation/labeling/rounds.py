"""Rounds: who judges what, in which order, computed ahead when a round opens.

Whole queries go to annotators, each query to exactly `overlap` of them, so that every candidate has
exactly that many first showings. An annotator's order is shuffled by query, and within a query by
document. Blind duplicates come back with the query on a second visit, mixed with documents held back
from the first one: a query that returns does not give a duplicate away.
"""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from curation.errors import InputError, NotFoundError, RefusedError
from curation.labeling.annotators import require_annotators
from curation.store import (
    Cursor,
    Store,
    append,
    fetch,
    get_setting,
    record_event,
    require_setting,
    utc_now,
)
from curation.store.rows import Presentation, Round
from curation.text import canonical_json, digest, seeded

CLOSEST_DUPLICATE = 20
"""Least distance, in presentations, between the two showings of a blind duplicate."""


class Candidate(NamedTuple):
    """A pair to be judged, and the document version that will be shown."""

    query_id: str
    document_id: str
    content_hash: str


class Showing(NamedTuple):
    """One step of an annotator's order; `again` marks a blind duplicate."""

    candidate: Candidate
    again: bool


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
    """Open a round over the candidates that no round has shown yet (`again`: over all of them).

    Parameters
    ----------
    overlap: how many annotators judge each candidate.
    duplicates: blind duplicates as a share of each annotator's first showings, 0 to 0.5.

    Raises
    ------
    InputError: the numbers do not fit together.
    NotFoundError: annotators that the project does not know.
    RefusedError: the name is taken, or there is nothing to judge.
    """
    names = list(dict.fromkeys(annotators))
    _check(name, names, overlap, duplicates)
    with store.reading() as cursor:
        guide_hash = get_setting(cursor, "guide") or ""
        require_annotators(cursor, names)
        _refuse_taken(cursor, name)
        candidates, left_out = _candidates(cursor, again)
    if not candidates:
        raise RefusedError(_nothing(left_out))
    parameters = {
        "annotators": names,
        "overlap": overlap,
        "duplicates": duplicates,
        "seed": seed,
        "again": again,
    }
    round_id = digest("round", name, guide_hash, parameters)
    work = assign(candidates, names, overlap, seed)
    orders = {who: order(work[who], duplicates, f"{seed}:{who}") for who in names}
    planned = sum(_wanted(duplicates, sum(map(len, work[who].values()))) for who in names)
    rows = [row for who in names for row in _presentations(round_id, who, orders[who])]
    missing = planned - sum(row.duplicate_of is not None for row in rows)
    if missing:
        left_out[f"blind duplicates that would come back within {CLOSEST_DUPLICATE} presentations"] = missing
    with store.transaction() as cursor:
        _refuse_taken(cursor, name)
        cursor.execute(
            "INSERT INTO rounds VALUES (?, ?, 'labeling', ?, ?, ?)",
            [round_id, name, guide_hash, canonical_json(parameters), utc_now()],
        )
        add_presentations(cursor, rows)
        record_event(cursor, "open round", {"name": name, **parameters, "presentations": len(rows)})
    return _opened(name, round_id, guide_hash, len(candidates), rows, left_out)


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


def add_presentations(cursor: Cursor, rows: Sequence[Presentation]) -> None:
    """Append presentations of a round."""
    if rows:
        append(
            cursor,
            "presentations",
            dict(zip(Presentation._fields, map(list, zip(*rows, strict=True)), strict=True)),
        )


def assign(
    candidates: Sequence[Candidate], annotators: Sequence[str], overlap: int, seed: int
) -> dict[str, dict[str, list[Candidate]]]:
    """Give each query, whole, to exactly `overlap` annotators: those with the least work so far.

    Returns
    -------
    annotator → query id → candidates. Large queries are dealt first, which keeps the loads even.
    """
    by_query: dict[str, list[Candidate]] = defaultdict(list)
    for candidate in sorted(candidates):
        by_query[candidate.query_id].append(candidate)
    load = dict.fromkeys(annotators, 0)
    work: dict[str, dict[str, list[Candidate]]] = {who: {} for who in annotators}
    for query_id in sorted(seeded(by_query, seed, str), key=lambda q: -len(by_query[q])):
        chosen = sorted(annotators, key=lambda who: (load[who], digest(seed, query_id, who)))[:overlap]
        for who in chosen:
            work[who][query_id] = by_query[query_id]
            load[who] += len(by_query[query_id])
    return work


def order(work: dict[str, list[Candidate]], duplicates: float, salt: str) -> list[Showing]:
    """One annotator's order: queries shuffled and kept together, second visits with blind duplicates.

    Parameters
    ----------
    work: query id → candidates.
    duplicates: share of the candidates to show again; fewer when the order is too short for the distance.
    salt: the seed and whatever makes this order differ from others.
    """
    visits = [_shuffled(work[query], salt, "document") for query in _shuffled_names(work, salt)]
    total = sum(map(len, visits))
    wanted = _wanted(duplicates, total)
    chosen = set(_duplicated(visits, wanted, total - CLOSEST_DUPLICATE - wanted, salt))
    firsts, seconds = [], []
    for visit in visits:
        again = [candidate for candidate in visit if candidate in chosen]
        fresh = [candidate for candidate in visit if candidate not in chosen]
        held = fresh[: min(len(again), len(fresh) - 1)] if len(fresh) > 1 else []
        firsts.append([Showing(candidate, False) for candidate in visit if candidate not in held])
        second = [Showing(c, True) for c in again] + [Showing(c, False) for c in held]
        seconds.append(sorted(second, key=lambda s: digest(salt, "second", s.candidate)))
    return _merge(firsts, seconds, salt)


def _wanted(duplicates: float, total: int) -> int:
    return round(duplicates * total)


def _duplicated(visits: list[list[Candidate]], wanted: int, last: int, salt: str) -> list[Candidate]:
    """The candidates to be shown again, from visits that end early enough for a second one."""
    eligible: list[Candidate] = []
    end = 0
    for visit in visits:
        end += len(visit)
        if end <= last:
            eligible.extend(visit)
    return _shuffled(eligible, salt, "duplicate")[:wanted]


def _merge(firsts: list[list[Showing]], seconds: list[list[Showing]], salt: str) -> list[Showing]:
    """Put each second visit between two first visits, at least CLOSEST_DUPLICATE after the first."""
    ends: list[int] = []
    for visit in firsts:
        ends.append((ends[-1] if ends else 0) + len(visit))
    follows: dict[int, list[list[Showing]]] = defaultdict(list)
    for index, second in enumerate(seconds):
        if second:
            places = [n for n, end in enumerate(ends) if end >= ends[index] + CLOSEST_DUPLICATE]
            pick = int(digest(salt, "place", second[0].candidate.query_id), 16) % len(places)
            follows[places[pick]].append(second)
    merged: list[Showing] = []
    for index, visit in enumerate(firsts):
        merged.extend(visit)
        for second in follows[index]:
            merged.extend(second)
    return merged


def _shuffled(candidates: Sequence[Candidate], salt: str, purpose: str) -> list[Candidate]:
    return sorted(candidates, key=lambda c: digest(salt, purpose, c.query_id, c.document_id))


def _shuffled_names(work: dict[str, list[Candidate]], salt: str) -> list[str]:
    return sorted(work, key=lambda query_id: digest(salt, "query", query_id))


def _presentations(round_id: str, annotator: str, showings: Sequence[Showing]) -> list[Presentation]:
    rows: list[Presentation] = []
    first: dict[Candidate, str] = {}
    for position, (candidate, again) in enumerate(showings):
        presentation_id = digest("presentation", round_id, annotator, position)
        first.setdefault(candidate, presentation_id)
        duplicate_of = first[candidate] if again else None
        rows.append(Presentation(presentation_id, round_id, annotator, *candidate, position, duplicate_of))
    return rows


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


def _candidates(cursor: Cursor, again: bool) -> tuple[list[Candidate], dict[str, int]]:
    snapshot = require_setting(
        cursor, "corpus", "The project has no corpus yet. Import one with `goldset import corpus PATH`."
    )
    rows = cursor.execute(
        """
        SELECT c.query_id, c.document_id, s.content_hash,
               EXISTS (FROM presentations p WHERE p.query_id = c.query_id AND p.document_id = c.document_id)
        FROM candidates c
        LEFT JOIN snapshot_documents s ON s.document_id = c.document_id AND s.snapshot_id = ?
        ORDER BY ALL
        """,
        [snapshot],
    ).fetchall()
    taken = [Candidate(*row[:3]) for row in rows if row[2] is not None and (again or not row[3])]
    gone = sum(row[2] is None for row in rows)
    counts = {
        "the document is not in the current corpus": gone,
        "already in a round or judged": len(rows) - gone - len(taken),
    }
    return taken, {reason: count for reason, count in counts.items() if count}


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


def _refuse_taken(cursor: Cursor, name: str) -> None:
    if cursor.execute("SELECT 1 FROM rounds WHERE name = ?", [name]).fetchone():
        raise RefusedError(
            f"A round {name!r} exists already. Choose another name, or look at it with "
            f"`goldset round status {name}`."
        )


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
