"""Transfers: work that moves from one annotator to another within a round.

A transfer withdraws a presentation and makes a new one, with its own id and position, for an annotator who
does not have the pair. Only untouched presentations move, so each pair keeps its exact number of judgments;
of who can judge no more, all that is not answered.
Blind duplicates and control items are not carried over. They are dropped with what moves and planned again in
the order of the new annotator, as in a round that opens. A duplicate that stays is dropped if too few items
are left between it and its first showing.

If people keep working on the very items that are to move, the last try makes them wait.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from curation.labeling.rounds.assignment import CLOSEST_DUPLICATE
from curation.labeling.rounds.candidates import Candidate, Chosen, choose_candidates, read_candidates
from curation.labeling.rounds.control_items import (
    ControlItemPool,
    practised,
    read_control_items,
    write_control_items,
)
from curation.labeling.rounds.create_round import project_fingerprint, refuse_who_cannot_judge
from curation.labeling.rounds.layout import RoundAssignment, RoundLayout, lay_out
from curation.labeling.rounds.lifecycle import RoundState, append_round_event, refuse_closed, round_state
from curation.labeling.rounds.rounds import members, round_parameters
from curation.people.annotators import able_to_judge, require_annotators, require_author
from curation.store import Cursor, Store, append_rows, fetch, record_event, utc_now
from curation.store.retry import write_if_unchanged

DROPPED = "blind duplicates dropped with what moved, and not planned again"
Pair = tuple[str, str]
Work = dict[str, dict[str, list[Candidate]]]
"""Annotator → query id → candidates."""


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
    layout: RoundLayout
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
class TransferOutcome:
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


class TransferPlan(NamedTuple):
    """What is withdrawn, and what is shown instead; `detail` names the people, for the audit trail."""

    round_id: str
    round: str
    withdrawn: list[RoundItem]
    laid: RoundAssignment
    moved: int
    kept: int
    candidates: int
    detail: dict[str, Any]
    left_out: dict[str, int]

    def outcome(self) -> TransferOutcome:
        """What it does, in numbers and names."""
        return TransferOutcome(
            round=self.round,
            candidates=self.candidates,
            moved=self.moved,
            kept=self.kept,
            withdrawn=len(self.withdrawn),
            presentations=len(self.laid.rows),
            per_annotator=dict(sorted(Counter(row.annotator for row in self.laid.rows).items())),
            joined=self.detail.get("annotators", []),
            left_out=self.left_out,
        )


def carry_out(
    store: Store,
    read: Callable[[Cursor], TransferInputs],
    make: Callable[[TransferInputs], TransferPlan],
    kind: str,
    author: str,
) -> TransferOutcome:
    """Read, plan and write if the plan still holds; after too many stale plans, in one transaction.

    Parameters
    ----------
    kind: of the round's event: 'reassign' or 'extend'.
    """
    plan = write_if_unchanged(
        store,
        fingerprint=project_fingerprint,
        read=read,
        plan=make,
        write=lambda cursor, plan: _write(cursor, plan, kind, author),
        still_holds=_still_holds,
    )
    return plan.outcome()


_STARTS = "SELECT annotator, max(position) + 1 FROM presentations WHERE round_id = ? GROUP BY annotator"


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
    known_people = {
        require_annotator.name: require_annotator for require_annotator in require_annotators(cursor, people)
    }
    refuse_who_cannot_judge([known_people[who] for who in takers])
    layout = _layout(cursor, state)
    rows = round_items(cursor, state.round_id)
    able = {one.name for one in able_to_judge(cursor)}
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
    moved: int,
    detail: dict[str, Any],
    left_out: Counter[str],
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
    counts = {reason: count for reason, count in left_out.items() if count}
    return TransferPlan(
        round_id=inputs.state.round_id,
        round=inputs.state.round,
        withdrawn=all_withdrawn,
        laid=laid,
        moved=moved,
        kept=0,
        candidates=0,
        detail=detail,
        left_out=counts,
    )


def _practised(cursor: Cursor) -> dict[str, set[Pair]]:
    pairs: dict[str, set[Pair]] = defaultdict(set)
    for who, query_id, document_id in practised(cursor):
        pairs[who].add((query_id, document_id))
    return pairs


def _layout(cursor: Cursor, state: RoundState) -> RoundLayout:
    parameters = round_parameters(cursor, state.round_id)
    return RoundLayout(
        name=state.round,
        kind=state.kind,
        annotators=members(cursor, state.round_id),
        overlap=int(parameters.get("overlap", 1)),
        duplicates=float(parameters.get("duplicates", 0.0)),
        seed=int(parameters.get("seed", 0)),
        control_items=float(parameters.get("known", 0.0)),
        per_day=parameters.get("per_day"),
    )


_TOUCHED = """
SELECT presentation_id, answered FROM presentation_states WHERE presentation_id IN (SELECT unnest(?::TEXT[]))
"""


def _still_holds(cursor: Cursor, plan: TransferPlan) -> bool:
    """Whether the round is still open and nobody has done more with what is to be withdrawn."""
    if round_state(cursor, plan.round).closed:
        return False
    touched = {row.presentation_id for row in plan.withdrawn if row.touched}
    states = cursor.execute(_TOUCHED, [[row.presentation_id for row in plan.withdrawn]]).fetchall()
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


def _write(cursor: Cursor, plan: TransferPlan, kind: str, author: str) -> None:
    ids = [row.presentation_id for row in plan.withdrawn]
    withdraw(cursor, ids, kind, author)
    append_rows(cursor, "presentations", plan.laid.rows)
    write_control_items(cursor, plan.round_id, plan.laid.items)
    _carry_requests(cursor, plan)
    counts = {"moved": plan.moved, "kept": plan.kept, "candidates": plan.candidates, "withdrawn": len(ids)}
    detail = {**plan.detail, **counts, "presentations": len(plan.laid.rows)}
    append_round_event(cursor, plan.round_id, kind, detail, author)
    record_event(cursor, f"{kind} round", {"name": plan.round, **detail}, author)


def withdraw(cursor: Cursor, presentation_ids: Sequence[str], reason: str, author: str) -> None:
    """Nobody will see these presentations any more."""
    why = {"reason": reason, "author": author, "withdrawn_at": utc_now()}
    append_rows(cursor, "withdrawals", [(one,) for one in presentation_ids], ("presentation_id",), **why)


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


def round_items(cursor: Cursor, round_id: str) -> list[RoundItem]:
    """The items of a round that are not withdrawn, by annotator and position."""
    return fetch(cursor, RoundItem, _ROWS, [round_id])


def _carry_requests(cursor: Cursor, plan: TransferPlan) -> None:
    """Carry requests for one more opinion over to the new presentations."""
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
