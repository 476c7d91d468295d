"""Work that changes hands: untouched presentations of somebody absent, or shared with people who join.

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
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from curation.errors import InputError, RefusedError
from curation.labeling.annotators import require_annotators, require_author
from curation.labeling.known import Pool, read_pool, write_known
from curation.labeling.layouts import LaidOut, Layout, lay_out
from curation.labeling.lifecycle import RoundState, append_round_event, refuse_closed, round_state
from curation.labeling.orders import CLOSEST_DUPLICATE, Candidate, assign
from curation.labeling.rounds import (
    TRIES,
    Chosen,
    choose_candidates,
    project_mark,
    read_candidates,
    refuse_who_cannot_sign_in,
)
from curation.store import Cursor, Store, append, append_rows, fetch, record_event, utc_now
from curation.store.settings import COMMAND_LINE
from curation.text import digest

NEXT_UP = 20
"""Items at the head of a queue that are not shared out: a screen may hold them already."""

Pair = tuple[str, str]
Work = dict[str, dict[str, list[Candidate]]]


@dataclass(frozen=True)
class Reassigned:
    """What a reassignment did.

    Attributes
    ----------
    moved: pairs that others judge now; per_annotator says who, blind duplicates and known answers included.
    withdrawn: presentations that their annotator will not see any more.
    kept: untouched pairs that stay, because everyone else has them.
    left_out: reason → number of what stays, or is dropped and not planned anew.
    """

    round: str
    moved: int
    withdrawn: int
    kept: int
    per_annotator: dict[str, int]
    left_out: dict[str, int]


@dataclass(frozen=True)
class Extended:
    """What an extension did: candidates added, pairs moved to who joined, presentations by annotator."""

    round: str
    candidates: int
    moved: int
    presentations: int
    per_annotator: dict[str, int]
    joined: list[str]
    left_out: dict[str, int]


class _Held(NamedTuple):
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


class _Found(NamedTuple):
    """All that a plan rests on, read in one turn."""

    mark: tuple[object, ...]
    state: RoundState
    layout: Layout
    rows: list[_Held]
    starts: dict[str, int]
    members: list[str]
    pool: Pool | None
    new: Chosen


class _Plan(NamedTuple):
    """What is withdrawn, and what is shown instead; `detail` names the people, for the record."""

    withdrawn: list[_Held]
    laid: LaidOut
    moved: int
    kept: int
    candidates: int
    detail: dict[str, Any]
    left_out: dict[str, int]


def reassign(
    store: Store, name: str, from_: str, to: Sequence[str] = (), author: str = COMMAND_LINE
) -> Reassigned:
    """Move what an annotator has not touched to others, whole queries where possible.

    Parameters
    ----------
    to: who takes it; everyone else in the round if nobody is named. People may be named who were not in
        the round.

    Raises
    ------
    InputError: somebody would take over from themselves.
    NotFoundError: the round or a person is unknown.
    RefusedError: the round is closed or of a kind in which everyone has their own work, there is nothing to
        move or nobody to take it.
    """
    takers = list(dict.fromkeys(to))
    if from_ in takers:
        raise InputError(f"--to names {from_}, from whom the work is to be taken")

    def read(cursor: Cursor) -> _Found:
        return _read(cursor, name, author, [from_, *takers], takers, with_new=False)

    def make(found: _Found) -> _Plan:
        _refuse_own_work(found.state)
        others = takers or [who for who in found.members if who != from_]
        if not others:
            raise RefusedError(f"There is nobody else in {name}. Name somebody with --to.")
        return _plan_reassign(found, from_, others)

    plan = _carry_out(store, read, make, "reassign", author)
    return Reassigned(
        round=name,
        moved=plan.moved,
        withdrawn=len(plan.withdrawn),
        kept=plan.kept,
        per_annotator=_per_annotator(plan),
        left_out=plan.left_out,
    )


def extend_round(
    store: Store,
    name: str,
    annotators: Sequence[str] = (),
    candidates: bool = True,
    author: str = COMMAND_LINE,
) -> Extended:
    """Add to a round the candidates in play that no round has shown, and people who share its work.

    New candidates go to exactly the round's overlap of people. Who joins gets untouched queries of those
    with most before them, until it is even; the next 20 items of each queue stay. In a pilot, who joins gets
    what everybody has.

    Parameters
    ----------
    annotators: who joins.
    candidates: add candidates; only a round of kind labeling takes any.

    Raises
    ------
    NotFoundError: the round or a person is unknown.
    RefusedError: the round is closed or a practice, or there is nothing to add.
    """
    joining = list(dict.fromkeys(annotators))

    def read(cursor: Cursor) -> _Found:
        return _read(cursor, name, author, joining, joining, with_new=candidates)

    def make(found: _Found) -> _Plan:
        if found.state.kind == "practice":
            raise RefusedError(
                f"{name} is a practice round: `goldset practice open` makes one for those who join."
            )
        return _plan_extend(found, [who for who in joining if who not in found.members])

    plan = _carry_out(store, read, make, "extend", author)
    return Extended(
        round=name,
        candidates=plan.candidates,
        moved=plan.moved,
        presentations=len(plan.laid.rows),
        per_annotator=_per_annotator(plan),
        joined=plan.detail["annotators"],
        left_out=plan.left_out,
    )


def members(parameters: Mapping[str, Any], events: Iterable[tuple[str, Mapping[str, Any]]]) -> list[str]:
    """Who works in a round: those it opened with, less whose work was taken over, and those who joined.

    Parameters
    ----------
    events: (kind, detail) of the round's events, in order.
    """
    names = dict.fromkeys(parameters.get("annotators", []))
    for kind, detail in events:
        if kind == "reassign":
            names.pop(detail["from"], None)
            names.update(dict.fromkeys(detail["to"]))
        elif kind == "extend":
            names.update(dict.fromkeys(detail.get("annotators", [])))
    return list(names)


def _carry_out(
    store: Store,
    read: Callable[[Cursor], _Found],
    make: Callable[[_Found], _Plan],
    kind: str,
    author: str,
) -> _Plan:
    """Read, plan outside of any turn, and write if it still holds; in one turn when it never does."""
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


def _holds(cursor: Cursor, found: _Found, plan: _Plan) -> bool:
    """Whether what the plan rests on is as it was, and nobody has acted on what is to be withdrawn."""
    if project_mark(cursor) != found.mark or round_state(cursor, found.state.round).closed:
        return False
    touched = cursor.execute(
        "SELECT count(*) FROM judgment_events WHERE presentation_id IN (SELECT unnest(?::TEXT[]))",
        [[row.presentation_id for row in plan.withdrawn]],
    ).fetchall()
    return not touched[0][0]


def _read(
    cursor: Cursor, name: str, author: str, people: Sequence[str], takers: Sequence[str], with_new: bool
) -> _Found:
    require_author(cursor, author, "lead")
    state = round_state(cursor, name)
    refuse_closed(state)
    known_people = {one.name: one for one in require_annotators(cursor, people)}
    refuse_who_cannot_sign_in([known_people[who] for who in takers])
    parameters = json.loads(
        cursor.execute("SELECT parameters FROM rounds WHERE round_id = ?", [state.round_id]).fetchall()[0][0]
    )
    events = cursor.execute(_EVENTS, [state.round_id]).fetchall()
    layout = Layout(
        name=name,
        kind=state.kind,
        annotators=members(parameters, [(kind, json.loads(detail)) for kind, detail in events]),
        overlap=int(parameters.get("overlap", 1)),
        duplicates=float(parameters.get("duplicates", 0.0)),
        seed=int(parameters.get("seed", 0)),
        known=float(parameters.get("known", 0.0)),
        per_day=parameters.get("per_day"),
    )
    rows = fetch(cursor, _Held, _HELD, [state.round_id])
    candidates = read_candidates(cursor) if with_new and state.kind == "labeling" else ([], set[str]())
    found = _Found(
        mark=project_mark(cursor),
        state=state,
        layout=layout,
        rows=rows,
        starts=dict(cursor.execute(_STARTS, [state.round_id]).fetchall()),
        members=layout.annotators,
        pool=read_pool(cursor) if layout.known else None,
        new=Chosen([], {}, {}),
    )
    return found._replace(new=choose_candidates(*candidates, again=False))


def _plan_reassign(found: _Found, from_: str, others: Sequence[str]) -> _Plan:
    mine = [row for row in found.rows if row.annotator == from_]
    firsts = [row for row in mine if row.duplicate_of is None and not row.known and not row.touched]
    left_out: Counter[str] = Counter()
    left_out["put off or taken back: they were seen, and stay"] = sum(
        row.touched and not row.answered and row.duplicate_of is None and not row.known for row in mine
    )
    if not firsts:
        raise RefusedError(_nothing_to_move(found.state.round, from_, left_out))
    work, moved = _deal(found, firsts, others)
    kept = len(firsts) - len(moved)
    left_out["everyone else has the pair already: it stays"] = kept
    gone = {row.presentation_id for row in moved}
    extra = [
        row
        for row in mine
        if not row.touched
        and row.presentation_id not in gone
        and (row.duplicate_of in gone if kept else row.known or row.duplicate_of is not None)
    ]
    plan = _planned(found, [*moved, *extra], work, len(moved), {"from": from_, "to": list(others)}, left_out)
    return plan._replace(kept=kept)


def _plan_extend(found: _Found, joined: Sequence[str]) -> _Plan:
    people = [*found.members, *joined]
    in_round = {row.pair for row in found.rows}
    fresh = [candidate for candidate in found.new.candidates if candidate[:2] not in in_round]
    left_out: Counter[str] = Counter()
    loads = Counter(row.annotator for row in found.rows if not row.touched and row.duplicate_of is None)
    if fresh and found.layout.overlap > len(people):
        raise RefusedError(
            f"Each pair of {found.state.round} is for {found.layout.overlap} people, and only {len(people)} "
            "work in it now. Name somebody with --annotators."
        )
    work: Work = defaultdict(lambda: defaultdict(list))
    for who, given in assign(fresh, people, found.layout.overlap, found.layout.seed, loads).items():
        for query, items in given.items():
            work[who][query].extend(items)
            loads[who] += len(items)
    moved: list[_Held] = []
    if found.state.kind == "pilot":
        pairs = sorted({row.candidate for row in found.rows})
        for who in joined:
            for candidate in pairs:
                work[who][candidate.query_id].append(candidate)
    else:
        moved = _share(found, joined, loads, work)
    if not any(work.values()):
        raise RefusedError(_nothing_to_add(found, joined))
    gone = {row.presentation_id for row in moved}
    extra = [row for row in found.rows if row.duplicate_of in gone and not row.touched]
    plan = _planned(found, [*moved, *extra], work, len(moved), {"annotators": list(joined)}, left_out)
    return plan._replace(candidates=len(fresh))


def _planned(
    found: _Found,
    withdrawn: list[_Held],
    work: Work,
    moved: int,
    detail: dict[str, Any],
    left_out: Counter[str],
) -> _Plan:
    taken = {row.pair for row in found.rows if not row.known} | {
        candidate[:2] for given in work.values() for items in given.values() for candidate in items
    }
    given_to = {who: dict(given) for who, given in sorted(work.items()) if given}
    withdrawn = [*withdrawn, *_near_repeats(found.rows, {row.presentation_id for row in withdrawn})]
    laid = lay_out(found.state.round_id, given_to, found.layout, found.pool, taken, found.starts)
    dropped = sum(row.duplicate_of is not None for row in withdrawn)
    planned = sum(row.duplicate_of is not None for row in laid.rows)
    left_out["blind duplicates dropped with what moved, and not planned anew"] = max(0, dropped - planned)
    left_out.update(laid.left_out)
    counts = {reason: count for reason, count in left_out.items() if count}
    return _Plan(withdrawn, laid, moved, 0, 0, detail, counts)


def _near_repeats(rows: Sequence[_Held], gone: Collection[str]) -> list[_Held]:
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


def _deal(found: _Found, firsts: Sequence[_Held], others: Sequence[str]) -> tuple[Work, list[_Held]]:
    """Give each query to whoever has least to do and none of its pairs; where nobody can, pair by pair."""
    has: dict[str, set[Pair]] = defaultdict(set)
    loads = dict.fromkeys(others, 0)
    for row in found.rows:
        has[row.annotator].add(row.pair)
        if row.annotator in loads and not row.answered:
            loads[row.annotator] += 1
    groups: dict[str, list[_Held]] = defaultdict(list)
    for row in firsts:
        groups[row.query_id].append(row)
    work: Work = defaultdict(lambda: defaultdict(list))
    moved: list[_Held] = []

    def give(rows: Sequence[_Held]) -> bool:
        pairs = {row.pair for row in rows}
        free = [who for who in others if not pairs & has[who]]
        if not free:
            return False
        salt = found.layout.seed
        who = min(free, key=lambda one: (loads[one], digest(salt, rows[0].query_id, one)))
        work[who][rows[0].query_id].extend(row.candidate for row in rows)
        has[who] |= pairs
        loads[who] += len(rows)
        moved.extend(rows)
        return True

    for query in sorted(groups, key=lambda q: (-len(groups[q]), digest(found.layout.seed, q))):
        if not give(groups[query]):
            for row in groups[query]:
                give([row])
    return work, moved


def _share(found: _Found, joined: Sequence[str], loads: Counter[str], work: Work) -> list[_Held]:
    """Move whole untouched queries to those who joined until nobody has much more to do than they."""
    has: dict[str, set[Pair]] = defaultdict(set)
    for row in found.rows:  # who comes back may have judged something here before
        has[row.annotator].add(row.pair)
    for who, given in work.items():
        has[who] |= {candidate[:2] for items in given.values() for candidate in items}
    movable = {who: _movable(found, who) for who in found.members}
    moved: list[_Held] = []
    while joined:
        taker = min(joined, key=lambda who: (loads[who], joined.index(who)))
        best: tuple[int, str, int] | None = None
        for donor, groups in movable.items():
            for place, group in enumerate(groups):
                fits = loads[donor] - loads[taker] > len(group) and not has[taker] & {r.pair for r in group}
                if fits and (best is None or (loads[donor], donor) > (best[0], best[1])):
                    best = (loads[donor], donor, place)
                if fits:
                    break
        if best is None:
            return moved
        _, donor, place = best
        group = movable[donor].pop(place)
        work[taker][group[0].query_id].extend(row.candidate for row in group)
        has[taker] |= {row.pair for row in group}
        loads[donor] -= len(group)
        loads[taker] += len(group)
        moved.extend(group)
    return moved


def _movable(found: _Found, who: str) -> list[list[_Held]]:
    """An annotator's queries of which nothing is touched and nothing comes up next, the last ones first."""
    mine = sorted((row for row in found.rows if row.annotator == who), key=lambda row: row.position)
    upcoming = [row for row in mine if not row.answered][:NEXT_UP]
    blocked = {row.query_id for row in mine if row.touched or row.requested}
    blocked |= {row.query_id for row in upcoming}
    groups: dict[str, list[_Held]] = defaultdict(list)
    for row in mine:
        if row.query_id not in blocked and row.duplicate_of is None and not row.known:
            groups[row.query_id].append(row)
    return list(reversed(groups.values()))


def _write(cursor: Cursor, found: _Found, plan: _Plan, kind: str, author: str) -> None:
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


def _carry_requests(cursor: Cursor, plan: _Plan) -> None:
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


def _per_annotator(plan: _Plan) -> dict[str, int]:
    return dict(sorted(Counter(row.annotator for row in plan.laid.rows).items()))


def _refuse_own_work(state: RoundState) -> None:
    if state.kind in ("pilot", "practice"):
        raise RefusedError(
            f"{state.round} is a {state.kind} round: everyone works through it on their own, so nothing of "
            "it can be judged for somebody else."
        )


def _nothing_to_move(name: str, who: str, left_out: Mapping[str, int]) -> str:
    seen = sum(left_out.values())
    more = f" {seen:,} items were put off or taken back: they were seen, and stay." if seen else ""
    return f"{who} has nothing untouched in {name}: there is nothing to move.{more}"


def _nothing_to_add(found: _Found, joined: Sequence[str]) -> str:
    name = found.state.round
    if joined:
        return (
            f"Nothing of {name} is left to share with {', '.join(joined)}: what is open was touched, comes "
            "up next, or is even already."
        )
    why = "; ".join(f"{count:,} {reason}" for reason, count in found.new.left_out.items()) or "none is new"
    return (
        f"There is nothing to add to {name} ({why}). Deepen the pool first, or name people who join with "
        "--annotators."
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

_EVENTS = """
SELECT kind, detail FROM round_events
WHERE round_id = ? AND kind IN ('reassign', 'extend') ORDER BY revision
"""
