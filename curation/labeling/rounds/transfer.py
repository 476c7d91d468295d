"""Transfers: work that moves from one annotator to another within a round.

A transfer withdraws a presentation and makes a new one, with its own id and position, for an annotator who
does not have the pair. Only untouched presentations move, so each pair keeps its exact number of judgments;
of who can judge no more, all that is not answered. Blind duplicates and control items are not carried over.
They are dropped with what moves and planned again in the order of the new annotator, as in a round that
opens. A duplicate that stays is dropped if too few items are left between it and its first showing.

If people keep working on the very items that are to move, the last try makes them wait.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from curation.core.reports.page import Table
from curation.core.text import left_out_sentences, pluralize
from curation.ingest.filters import outside_pairs
from curation.labeling.requests import RoundRequest
from curation.labeling.rounds.assignment import CLOSEST_DUPLICATE, RoundAssignment, lay_out
from curation.labeling.rounds.candidates import (
    OUTSIDE_FILTER,
    Candidate,
    Chosen,
    choose_candidates,
    read_candidates,
)
from curation.labeling.rounds.control_items import (
    ControlItemPool,
    practised,
    read_control_items,
    write_control_items,
)
from curation.labeling.rounds.create_round import project_fingerprint
from curation.labeling.rounds.rounds import (
    RoundState,
    append_round_event,
    find_round,
    list_rounds,
    members,
    refuse_closed,
    refuse_who_cannot_judge,
    round_parameters,
    round_state,
)
from curation.people.annotators import able_to_judge, require_annotators, require_author
from curation.store import Cursor, Store, append_rows, fetch, record_event, utc_now
from curation.store.planned_writes import write_if_unchanged

DROPPED = "blind duplicates dropped with what moved, and not planned again"
RECORDED = ("moved", "kept", "candidates", "withdrawn", "presentations")
Pair = tuple[str, str]
Work = dict[str, dict[str, list[Candidate]]]
"""Annotator → query id → candidates."""
_STARTS = "SELECT annotator, max(position) + 1 FROM presentations WHERE round_id = ? GROUP BY annotator"
_TOUCHED = """
SELECT presentation_id, answered FROM presentation_states WHERE presentation_id IN (SELECT unnest(?::TEXT[]))
"""
_ROWS = """
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


class RoundItem(NamedTuple):
    """A presentation of the round that is not withdrawn."""

    presentation_id: str
    annotator: str
    query_id: str
    document_id: str
    content_hash: str
    position: int
    duplicate_of: str | None
    touched: bool
    answered: bool
    control_item: bool
    requested: bool

    @property
    def pair(self) -> Pair:
        return self.query_id, self.document_id

    @property
    def candidate(self) -> Candidate:
        return Candidate(self.query_id, self.document_id, self.content_hash)


class TransferInputs(NamedTuple):
    """What a transfer is planned from.

    Attributes
    ----------
    rows: by annotator and position.
    starts: annotator → first free position.
    away: who has work here and can judge no more: deactivated, or an evaluator now.
    practised: annotator → pairs whose expected grade they were shown in practice.
    new: the candidates that no round has shown, if new ones are to be added.
    """

    state: RoundState
    layout: RoundRequest
    rows: list[RoundItem]
    starts: dict[str, int]
    members: list[str]
    away: frozenset[str]
    pool: ControlItemPool | None
    practised: Mapping[str, Collection[Pair]]
    new: Chosen

    @property
    def at_work(self) -> list[str]:
        """The members who can be given more."""
        return [who for who in self.members if who not in self.away]

    def movable(self, row: RoundItem) -> bool:
        """Whether an item may go to somebody else."""
        return not (row.answered if row.annotator in self.away else row.touched)

    def had(self) -> dict[str, set[Pair]]:
        """Annotator → the pairs that they have in the round, including annotators who left it."""
        had: dict[str, set[Pair]] = defaultdict(set)
        for row in self.rows:
            had[row.annotator].add(row.pair)
        return had


@dataclass(frozen=True)
class Transfer:
    """What an extension or a reassignment did.

    Attributes
    ----------
    candidates: how many were added.
    moved: pairs that others judge now. kept: untouched ones that stay, because nobody else can judge them.
    withdrawn: presentations that their annotator will not see; `presentations`: new ones.
    per_annotator: name → new presentations, blind duplicates and control items included.
    joined: who joined.
    left_out: reason → number of what stays, or was dropped and not planned again.
    """

    round: str
    candidates: int
    moved: int
    kept: int
    withdrawn: int
    presentations: int
    per_annotator: dict[str, int]
    joined: list[str]
    left_out: dict[str, int]

    @property
    def sentences(self) -> list[str]:
        """What was added and moved, and what stays."""
        sentences = []
        if self.candidates:
            sentences.append(f"{pluralize(self.candidates, 'candidate')} added to {self.round}.")
        if self.moved:
            people, pairs = ", ".join(self.per_annotator), pluralize(self.moved, "pair")
            sentences.append(f"{pairs} of {self.round} moved to {people}; {self.kept:,} stay.")
        return [*(sentences or [f"Nothing of {self.round} moved."]), *left_out_sentences(self.left_out)]

    @property
    def tables(self) -> list[Table]:
        """Who has how many new presentations."""
        return [Table("New presentations", ("Annotator", "Presentations"), tuple(self.per_annotator.items()))]


TransferPlan = tuple[Transfer, list[RoundItem], RoundAssignment, dict[str, Any]]
"""What it does, in numbers and names; what is withdrawn; what is shown instead; the people, for the trail."""


def carry_out(
    store: Store,
    read: Callable[[Cursor], TransferInputs],
    make: Callable[[TransferInputs], TransferPlan],
    kind: str,
    author: str,
) -> Transfer:
    """Read, plan and write if the plan still holds; after too many stale plans, in one transaction.

    Parameters
    ----------
    kind: of the round's event: 'reassign' or 'extend'.
    """
    transfer, *_ = write_if_unchanged(
        store,
        fingerprint=project_fingerprint,
        read=read,
        plan=make,
        write=lambda cursor, plan: _write(cursor, *plan, kind, author),
        still_holds=_still_holds,
    )
    return transfer


def read_inputs(
    cursor: Cursor, name: str, author: str, people: Sequence[str], takers: Sequence[str], with_new: bool
) -> TransferInputs:
    """Read what a transfer is planned from.

    Parameters
    ----------
    people, takers: who is named, and who of them gets work.

    Raises
    ------
    NotFoundError: the round, the author or a person is unknown.
    RefusedError: the round is closed or imported, a taker cannot sign in, or the author is no lead.
    """
    require_author(cursor, author, "lead")
    state = round_state(cursor, name)
    refuse_closed(state)
    known = require_annotators(cursor, people)
    refuse_who_cannot_judge([annotator for annotator in known if annotator.name in takers])
    layout = _layout(cursor, state)
    rows = round_items(cursor, state.round_id)
    able = {annotator.name for annotator in able_to_judge(cursor)}
    candidates = read_candidates(cursor) if with_new and state.kind == "labeling" else ([], set[str]())
    return TransferInputs(
        state=state,
        layout=layout,
        rows=rows,
        starts=dict(cursor.execute(_STARTS, [state.round_id]).fetchall()),
        members=list(layout.annotators),
        away=frozenset({*layout.annotators, *(row.annotator for row in rows)} - able),
        pool=read_control_items(cursor) if layout.control_items else None,
        practised=_practised(cursor),
        new=choose_candidates(*candidates, again=False),
    )


def plan_transfer(
    inputs: TransferInputs,
    withdrawn: Sequence[RoundItem],
    work: Work,
    detail: dict[str, Any],
    left_out: Counter[str],
    moved: int,
    kept: int = 0,
    candidates: int = 0,
) -> TransferPlan:
    """The plan of a transfer with `work` as presentations, and what is withdrawn with what moves."""
    taken = {row.pair for row in inputs.rows if not row.control_item} | {
        candidate[:2] for given in work.values() for items in given.values() for candidate in items
    }
    given_to = {who: dict(given) for who, given in sorted(work.items()) if given}
    all_withdrawn = [*withdrawn, *near_repeats(inputs.rows, {row.presentation_id for row in withdrawn})]
    laid = lay_out(inputs.state.round_id, given_to, inputs.layout, inputs.pool, taken, inputs.starts)
    dropped = sum(row.duplicate_of is not None for row in all_withdrawn)
    left_out[DROPPED] = max(0, dropped - sum(row.duplicate_of is not None for row in laid.rows))
    left_out.update(laid.left_out)
    transfer = Transfer(
        round=inputs.state.round,
        candidates=candidates,
        moved=moved,
        kept=kept,
        withdrawn=len(all_withdrawn),
        presentations=len(laid.rows),
        per_annotator=dict(sorted(Counter(row.annotator for row in laid.rows).items())),
        joined=detail.get("annotators", []),
        left_out={reason: count for reason, count in left_out.items() if count},
    )
    return transfer, all_withdrawn, laid, detail


def _practised(cursor: Cursor) -> dict[str, set[Pair]]:
    pairs: dict[str, set[Pair]] = defaultdict(set)
    for who, query_id, document_id in practised(cursor):
        pairs[who].add((query_id, document_id))
    return pairs


def _layout(cursor: Cursor, state: RoundState) -> RoundRequest:
    parameters = round_parameters(cursor, state.round_id)
    return RoundRequest(
        name=state.round,
        kind=state.kind,
        annotators=members(cursor, state.round_id),
        overlap=int(parameters.get("overlap", 1)),
        duplicates=float(parameters.get("duplicates", 0.0)),
        seed=int(parameters.get("seed", 0)),
        control_items=float(parameters.get("known", 0.0)),
        per_day=parameters.get("per_day"),
    )


def _still_holds(cursor: Cursor, plan: TransferPlan) -> bool:
    """Whether the round is still open and nobody has done more with what is to be withdrawn."""
    transfer, withdrawn, *_ = plan
    if round_state(cursor, transfer.round).closed:
        return False
    touched = {row.presentation_id for row in withdrawn if row.touched}
    states = cursor.execute(_TOUCHED, [[row.presentation_id for row in withdrawn]]).fetchall()
    return all(presentation in touched and not answered for presentation, answered in states)


def near_repeats(rows: Sequence[RoundItem], withdrawn: Collection[str]) -> list[RoundItem]:
    """Untouched blind duplicates that would come too soon, because items before them have moved."""
    places: dict[str, int] = {}
    counts: Counter[str] = Counter()
    near = []
    for row in rows:  # by annotator and position
        if row.presentation_id in withdrawn:
            continue
        first = places.get(row.duplicate_of or "")
        if first is not None and not row.touched and counts[row.annotator] - first < CLOSEST_DUPLICATE:
            near.append(row)
            continue
        places[row.presentation_id] = counts[row.annotator]
        counts[row.annotator] += 1
    return near


def _write(
    cursor: Cursor,
    transfer: Transfer,
    withdrawn: Sequence[RoundItem],
    laid: RoundAssignment,
    detail: Mapping[str, Any],
    kind: str,
    author: str,
) -> None:
    round_id = find_round(cursor, transfer.round).round_id
    withdraw(cursor, [row.presentation_id for row in withdrawn], kind, author)
    append_rows(cursor, "presentations", laid.rows)
    write_control_items(cursor, round_id, laid.items)
    _carry_requests(cursor, withdrawn, laid)
    counts = {name: getattr(transfer, name) for name in RECORDED}
    append_round_event(cursor, round_id, kind, {**detail, **counts}, author)
    record_event(cursor, f"{kind} round", {"name": transfer.round, **detail, **counts}, author)


def withdraw(cursor: Cursor, presentation_ids: Sequence[str], reason: str, author: str) -> None:
    """Nobody will see these presentations any more."""
    why = {"reason": reason, "author": author, "withdrawn_at": utc_now()}
    rows = [(presentation_id,) for presentation_id in presentation_ids]
    append_rows(cursor, "withdrawals", rows, ("presentation_id",), **why)


def round_items(cursor: Cursor, round_id: str) -> list[RoundItem]:
    """The items of a round that are not withdrawn, by annotator and position."""
    return fetch(cursor, RoundItem, _ROWS, [round_id])


def _carry_requests(cursor: Cursor, withdrawn: Sequence[RoundItem], laid: RoundAssignment) -> None:
    """Carry requests for one more opinion over to the new presentations."""
    places = {
        (row.query_id, row.document_id): row.presentation_id for row in laid.rows if row.duplicate_of is None
    }
    for row in withdrawn:
        if row.requested and row.pair in places:
            cursor.execute(
                """
                INSERT INTO opinion_requests
                SELECT ?, query_id, document_id, reviewer, asked_at
                FROM opinion_requests WHERE presentation_id = ?
                """,
                [places[row.pair], row.presentation_id],
            )


def withdraw_outside(cursor: Cursor, author: str) -> int:
    """Withdraw unanswered items outside the filter of their query, except in practice; returns their number.

    Pairs without an item in any round are left out when a round opens.
    """
    outside, count = outside_pairs(cursor), 0
    for stored in list_rounds(cursor) if outside else ():
        rows = [] if stored.kind == "practice" else round_items(cursor, stored.round_id)
        ids = {row.presentation_id for row in rows if row.pair in outside and not row.answered}
        ids |= {row.presentation_id for row in near_repeats(rows, ids)} if ids else set()
        withdraw(cursor, sorted(ids), OUTSIDE_FILTER, author)
        count += len(ids)
    return count
