"""Work that changes hands: what a move rests on, and how it is carried out.

A move withdraws a presentation and makes a new one, with an id and a position of its own, for somebody who
does not have the pair. Only what nobody has touched moves, so each pair keeps exactly its number of voices.
Blind duplicates and known answers are not carried over: they are dropped with what moves, and planned anew
in the order of whoever takes it, as in a round that opens. A duplicate that stays is dropped where too little
is left between it and its first showing.

Everything is worked out without the file and written only if nothing that it rests on has changed. Where
people keep working on the very items, the last try makes them wait.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

from curation.labeling.annotators import require_annotators, require_author
from curation.labeling.known import Pool, read_pool, write_known
from curation.labeling.layouts import LaidOut, Layout, lay_out
from curation.labeling.lifecycle import RoundState, append_round_event, refuse_closed, round_state
from curation.labeling.members import members
from curation.labeling.orders import CLOSEST_DUPLICATE, Candidate
from curation.labeling.practice import practised
from curation.labeling.round_candidates import Chosen, choose_candidates, read_candidates
from curation.labeling.round_opening import TRIES, project_mark, refuse_who_cannot_sign_in
from curation.store import Cursor, Store, append, append_rows, fetch, record_event, utc_now

DROPPED = "blind duplicates dropped with what moved, and not planned anew"

Pair = tuple[str, str]
Work = dict[str, dict[str, list[Candidate]]]
"""Annotator → query id → candidates."""


class Held(NamedTuple):
    """A live presentation of the round."""

    presentation_id: str
    annotator: str
    query_id: str
    document_id: str
    content_hash: str
    position: int
    duplicate_of: str | None
    touched: bool
    answered: bool
    known: bool
    requested: bool

    @property
    def pair(self) -> Pair:
        return self.query_id, self.document_id

    @property
    def candidate(self) -> Candidate:
        return Candidate(self.query_id, self.document_id, self.content_hash)


class Found(NamedTuple):
    """All that a plan rests on, read in one turn.

    Attributes
    ----------
    rows: by annotator and position.
    starts: annotator → first free position.
    told: annotator → pairs whose expected grade they were shown in practice.
    new: the candidates that no round has shown, where they were asked for.
    """

    mark: tuple[object, ...]
    state: RoundState
    layout: Layout
    rows: list[Held]
    starts: dict[str, int]
    members: list[str]
    pool: Pool | None
    told: Mapping[str, Collection[Pair]]
    new: Chosen

    def had(self) -> dict[str, set[Pair]]:
        """Annotator → the pairs that they have in the round, who left it included."""
        had: dict[str, set[Pair]] = defaultdict(set)
        for row in self.rows:
            had[row.annotator].add(row.pair)
        return had


class Plan(NamedTuple):
    """What is withdrawn, and what is shown instead; `detail` names the people, for the record."""

    withdrawn: list[Held]
    laid: LaidOut
    moved: int
    kept: int
    candidates: int
    detail: dict[str, Any]
    left_out: dict[str, int]

    def per_annotator(self) -> dict[str, int]:
        """Name → number of new presentations, by name."""
        return dict(sorted(Counter(row.annotator for row in self.laid.rows).items()))


def carry_out(
    store: Store,
    read: Callable[[Cursor], Found],
    make: Callable[[Found], Plan],
    kind: str,
    author: str,
) -> Plan:
    """Read, plan outside of any turn, and write if it still holds; in one turn when it never does.

    Parameters
    ----------
    kind: of the round's event: 'reassign' or 'extend'.
    """
    for _ in range(TRIES):
        with store.reading() as cursor:
            found = read(cursor)
        plan = make(found)
        with store.transaction() as cursor:
            if _holds(cursor, found, plan):
                _write(cursor, found, plan, kind, author)
                return plan
    with store.transaction() as cursor:
        found = read(cursor)
        plan = make(found)
        _write(cursor, found, plan, kind, author)
    return plan


def read_found(
    cursor: Cursor, name: str, author: str, people: Sequence[str], takers: Sequence[str], with_new: bool
) -> Found:
    """What a plan rests on.

    Parameters
    ----------
    people, takers: who is named, and who of them is to get work.

    Raises
    ------
    NotFoundError: the round, the author or a person is unknown.
    RefusedError: the round is closed or imported, a taker cannot sign in, or the author is no lead.
    """
    require_author(cursor, author, "lead")
    state = round_state(cursor, name)
    refuse_closed(state)
    known_people = {one.name: one for one in require_annotators(cursor, people)}
    refuse_who_cannot_sign_in([known_people[who] for who in takers])
    layout = _layout(cursor, state)
    candidates = read_candidates(cursor) if with_new and state.kind == "labeling" else ([], set[str]())
    return Found(
        mark=project_mark(cursor),
        state=state,
        layout=layout,
        rows=fetch(cursor, Held, _HELD, [state.round_id]),
        starts=dict(cursor.execute(_STARTS, [state.round_id]).fetchall()),
        members=layout.annotators,
        pool=read_pool(cursor) if layout.known else None,
        told=_told(cursor),
        new=choose_candidates(*candidates, again=False),
    )


def planned(
    found: Found,
    withdrawn: Sequence[Held],
    work: Work,
    moved: int,
    detail: dict[str, Any],
    left_out: Counter[str],
) -> Plan:
    """The work as presentations, and what is withdrawn with what moves; nothing kept, no candidates."""
    taken = {row.pair for row in found.rows if not row.known} | {
        candidate[:2] for given in work.values() for items in given.values() for candidate in items
    }
    given_to = {who: dict(given) for who, given in sorted(work.items()) if given}
    gone = [*withdrawn, *_near_repeats(found.rows, {row.presentation_id for row in withdrawn})]
    laid = lay_out(found.state.round_id, given_to, found.layout, found.pool, taken, found.starts)
    dropped = sum(row.duplicate_of is not None for row in gone)
    left_out[DROPPED] = max(0, dropped - sum(row.duplicate_of is not None for row in laid.rows))
    left_out.update(laid.left_out)
    counts = {reason: count for reason, count in left_out.items() if count}
    return Plan(gone, laid, moved, 0, 0, detail, counts)


def _told(cursor: Cursor) -> dict[str, set[Pair]]:
    told: dict[str, set[Pair]] = defaultdict(set)
    for who, query_id, document_id in practised(cursor):
        told[who].add((query_id, document_id))
    return told


def _layout(cursor: Cursor, state: RoundState) -> Layout:
    stored = cursor.execute("SELECT parameters FROM rounds WHERE round_id = ?", [state.round_id]).fetchall()
    parameters = json.loads(stored[0][0])
    return Layout(
        name=state.round,
        kind=state.kind,
        annotators=members(cursor, state.round_id),
        overlap=int(parameters.get("overlap", 1)),
        duplicates=float(parameters.get("duplicates", 0.0)),
        seed=int(parameters.get("seed", 0)),
        known=float(parameters.get("known", 0.0)),
        per_day=parameters.get("per_day"),
    )


def _holds(cursor: Cursor, found: Found, plan: Plan) -> bool:
    """Whether what the plan rests on is as it was, and nobody has acted on what is to be withdrawn."""
    if project_mark(cursor) != found.mark or round_state(cursor, found.state.round).closed:
        return False
    touched = cursor.execute(
        "SELECT count(*) FROM judgment_events WHERE presentation_id IN (SELECT unnest(?::TEXT[]))",
        [[row.presentation_id for row in plan.withdrawn]],
    ).fetchall()
    return not touched[0][0]


def _near_repeats(rows: Sequence[Held], gone: Collection[str]) -> list[Held]:
    """Untouched blind duplicates that would come too soon, because what lay before them has moved."""
    places: dict[str, int] = {}
    counts: Counter[str] = Counter()
    near = []
    for row in rows:  # by annotator and position
        if row.presentation_id in gone:
            continue
        first = places.get(row.duplicate_of or "")
        if first is not None and not row.touched and counts[row.annotator] - first < CLOSEST_DUPLICATE:
            near.append(row)
            continue
        places[row.presentation_id] = counts[row.annotator]
        counts[row.annotator] += 1
    return near


def _write(cursor: Cursor, found: Found, plan: Plan, kind: str, author: str) -> None:
    round_id = found.state.round_id
    ids = [row.presentation_id for row in plan.withdrawn]
    if ids:
        columns = {"presentation_id": ids, "reason": [kind] * len(ids), "author": [author] * len(ids)}
        append(cursor, "withdrawals", {**columns, "withdrawn_at": [utc_now()] * len(ids)})
    append_rows(cursor, "presentations", plan.laid.rows)
    write_known(cursor, round_id, plan.laid.known)
    _carry_requests(cursor, plan)
    counts = {"moved": plan.moved, "kept": plan.kept, "candidates": plan.candidates, "withdrawn": len(ids)}
    detail = {**plan.detail, **counts, "presentations": len(plan.laid.rows)}
    append_round_event(cursor, round_id, kind, detail, author)
    record_event(cursor, f"{kind} round", {"name": found.state.round, **detail}, author)


def _carry_requests(cursor: Cursor, plan: Plan) -> None:
    """A moved showing that was asked for as one more opinion stays asked for."""
    places = {
        (r.query_id, r.document_id): r.presentation_id for r in plan.laid.rows if r.duplicate_of is None
    }
    for row in plan.withdrawn:
        if row.requested and row.pair in places:
            cursor.execute(
                """
                INSERT INTO opinion_requests
                SELECT ?, query_id, document_id, reviewer, asked_at
                FROM opinion_requests WHERE presentation_id = ?
                """,
                [places[row.pair], row.presentation_id],
            )


_HELD = """
SELECT p.presentation_id, p.annotator, p.query_id, p.document_id, p.content_hash, p.position, p.duplicate_of,
       s.presentation_id IS NOT NULL, coalesce(s.answered, false), k.query_id IS NOT NULL,
       o.presentation_id IS NOT NULL
FROM live_presentations p
LEFT JOIN presentation_states s USING (presentation_id)
LEFT JOIN known_answers k USING (round_id, query_id, document_id)
LEFT JOIN opinion_requests o USING (presentation_id)
WHERE p.round_id = ?
ORDER BY p.annotator, p.position
"""

_STARTS = "SELECT annotator, max(position) + 1 FROM presentations WHERE round_id = ? GROUP BY annotator"
