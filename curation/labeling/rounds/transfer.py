"""Transfers: presentations that are withdrawn from one annotator and created again for another.

A transfer withdraws a presentation and makes a new presentation, with a new id and position, for an annotator
who does not have the pair. Only presentations without an event move, so each pair keeps its exact number of
judgments. If the annotator may no longer judge, all unanswered presentations move. Blind duplicates and
control items of moved items are dropped, and planned anew for the new annotator, as in a new round. A
duplicate that stays is dropped if too few items are left between its two showings.

If annotators keep answering items that should move, the last try blocks their answers until the transfer is
done.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from curation.core.reports.tables import Table
from curation.core.text import describe_left_out, pluralize
from curation.labeling.requests import RoundRequest
from curation.labeling.rounds import control_items, rounds
from curation.labeling.rounds.assignment import RoundAssignment, lay_out
from curation.labeling.rounds.candidates import Candidate, Selection, choose_candidates, read_candidates
from curation.labeling.rounds.create_round import read_project_fingerprint
from curation.labeling.rounds.items import RoundItem, find_near_repeats, read_round_items, withdraw
from curation.labeling.rounds.round_states import RoundState, read_round_state, refuse_closed
from curation.people.annotators import list_eligible_annotators, require_annotators, require_author
from curation.store import Cursor, Store, append_rows, record_event, write_if_unchanged

DROPPED_DUPLICATES = "blind duplicates were dropped, because their items moved"
RECORDED_COUNTS = ("moved", "kept", "candidates", "withdrawn", "presentations")
ItemGroup = list[RoundItem]
"""The items of one annotator and one query."""


class TransferInputs(NamedTuple):
    """Stored rows needed to plan a transfer.

    Attributes
    ----------
    items: the round's items by annotator and position.
    start_positions: annotator → first free position.
    unable_annotators: annotators with items in the round who may no longer judge, because they are
        deactivated or became evaluators.
    practised_pairs: (annotator, pair) whose expected grade practice has shown to the annotator.
    new_candidates: candidates that no round has shown, if the transfer adds candidates.
    """

    state: RoundState
    layout: RoundRequest
    items: list[RoundItem]
    start_positions: dict[str, int]
    members: list[str]
    unable_annotators: frozenset[str]
    pool: control_items.ControlItemPool | None
    practised_pairs: set[control_items.AnnotatorPair]
    new_candidates: Selection

    @property
    def able_members(self) -> list[str]:
        """Return the members who can be given more items."""
        return [member for member in self.members if member not in self.unable_annotators]

    def is_movable(self, item: RoundItem) -> bool:
        """Return whether an item may move to a different annotator."""
        if item.annotator in self.unable_annotators:
            return not item.answered
        return not item.has_events


class TransferBuilder:
    """A plan, built step by step, that gives items and candidates to annotators who never had these pairs.

    Attributes
    ----------
    work: annotator → query id → assigned candidates.
    moved: the items taken from other annotators.
    loads: annotator → number of items.
    assigned_pairs: the pairs that annotators have in the round, or had before leaving the round.
    """

    def __init__(self, inputs: TransferInputs, loads: Counter[str]) -> None:
        self.work: dict[str, dict[str, list[Candidate]]] = defaultdict(lambda: defaultdict(list))
        self.moved: list[RoundItem] = []
        self.loads = loads
        self.assigned_pairs = {(item.annotator, *item.pair) for item in inputs.items}
        self._practised_pairs = inputs.practised_pairs

    def can_take(self, annotator: str, items: ItemGroup) -> bool:
        """Return whether an annotator has seen none of these pairs, in the round or in practice."""
        pairs = {(annotator, *item.pair) for item in items}
        return pairs.isdisjoint(self.assigned_pairs) and pairs.isdisjoint(self._practised_pairs)

    def add(self, annotator: str, candidates: Sequence[Candidate]) -> None:
        """Add candidates to an annotator's work."""
        for candidate in candidates:
            self.work[annotator][candidate.query_id].append(candidate)
            self.assigned_pairs.add((annotator, *candidate.pair))
        self.loads[annotator] += len(candidates)

    def transfer(self, items: ItemGroup, annotator: str) -> None:
        """Transfer one annotator's items to another."""
        self.add(annotator, [item.candidate for item in items])
        self.loads[items[0].annotator] -= len(items)
        self.moved.extend(items)


@dataclass(frozen=True)
class Transfer:
    """The result of extending a round or reassigning its items.

    Attributes
    ----------
    candidates: the number of candidates added.
    moved: the number of items that now belong to different annotators.
    kept: the number of untouched items that stay, because no other annotator can judge the items.
    withdrawn: the number of presentations that their annotator will not see.
    presentations: the number of new presentations.
    per_annotator: name → number of new presentations, including blind duplicates and control items.
    joined: the annotators who joined.
    left_out: reason → number of items that stay, or that were dropped and not planned again.
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
        """Return sentences with the numbers of added candidates, of moved pairs and, by reason, of items that
        stay."""
        sentences = []
        if self.candidates:
            sentences.append(f"{pluralize(self.candidates, 'candidate')} added to {self.round}.")
        if self.moved:
            people, pairs = ", ".join(self.per_annotator), pluralize(self.moved, "pair")
            sentences.append(f"{pairs} of {self.round} moved to {people}; {self.kept:,} stay.")
        return [*(sentences or [f"No items of {self.round} moved."]), *describe_left_out(self.left_out)]

    @property
    def tables(self) -> list[Table]:
        """Return a table of how many new presentations each annotator gets."""
        return [Table("New presentations", ("Annotator", "Presentations"), tuple(self.per_annotator.items()))]


class TransferPlan(NamedTuple):
    """The plan for a transfer.

    Attributes
    ----------
    withdrawn_items: the items to withdraw.
    assignment: the new presentations.
    event_detail: the people that the round's event names.
    """

    transfer: Transfer
    withdrawn_items: list[RoundItem]
    assignment: RoundAssignment
    event_detail: dict[str, Any]


def group_by_query(items: Iterable[RoundItem]) -> dict[str, ItemGroup]:
    """Group an annotator's items by query, keeping their order."""
    groups: dict[str, ItemGroup] = defaultdict(list)
    for item in items:
        groups[item.query_id].append(item)
    return groups


def execute_transfer(
    store: Store,
    read_inputs: Callable[[Cursor], TransferInputs],
    make_plan: Callable[[TransferInputs], TransferPlan],
    kind: str,
    author: str,
) -> Transfer:
    """Plan a transfer and write the plan; plan again if it is outdated, the last time within one transaction.

    Parameters
    ----------
    kind: the kind of the round's event: 'reassign' or 'extend'.
    """
    plan = write_if_unchanged(
        store,
        fingerprint=read_project_fingerprint,
        read=read_inputs,
        plan=make_plan,
        write=lambda cursor, plan: _write_transfer(cursor, plan, kind, author),
        still_holds=_is_current,
    )
    return plan.transfer


def read_transfer_inputs(
    cursor: Cursor, round_name: str, author: str, people: Sequence[str], takers: Sequence[str], extends: bool
) -> TransferInputs:
    """Read the stored rows that the plan of a transfer of items needs.

    Parameters
    ----------
    people: the people whom the author named.
    takers: the annotators who get items.

    Raises
    ------
    NotFoundError: the round, the author or a person is unknown.
    RefusedError: the round is closed or imported, a taker cannot sign in, or the author is not a lead.
    """
    require_author(cursor, author, "lead")
    state = read_round_state(cursor, round_name)
    refuse_closed(state)
    named_annotators = require_annotators(cursor, people)
    rounds.refuse_unable_annotators([annotator for annotator in named_annotators if annotator.name in takers])
    layout = _read_layout(cursor, state)
    items = read_round_items(cursor, state.round_id)
    round_annotators = {*layout.annotators, *(item.annotator for item in items)}
    able_annotators = {annotator.name for annotator in list_eligible_annotators(cursor)}
    candidates = read_candidates(cursor) if extends and state.kind == "labeling" else ([], set[str]())
    return TransferInputs(
        state=state,
        layout=layout,
        items=items,
        start_positions=rounds.read_free_positions(cursor, state.round_id),
        members=list(layout.annotators),
        unable_annotators=frozenset(round_annotators - able_annotators),
        pool=control_items.read_control_items(cursor) if layout.control_items else None,
        practised_pairs=control_items.read_practised_pairs(cursor),
        new_candidates=choose_candidates(*candidates, again=False),
    )


def plan_transfer(
    inputs: TransferInputs,
    builder: TransferBuilder,
    dropped: Sequence[RoundItem],
    detail: dict[str, Any],
    left_out: Counter[str],
    kept: int = 0,
    candidates: int = 0,
) -> TransferPlan:
    """Plan a transfer: the new presentations for the builder's work, and the items to withdraw.

    Parameters
    ----------
    dropped: items that are withdrawn with the moved items.
    """
    batches = [candidates for queries in builder.work.values() for candidates in queries.values()]
    judged_pairs = {item.pair for item in inputs.items if not item.is_control_item}
    judged_pairs |= {candidate.pair for candidates in batches for candidate in candidates}
    work = {annotator: dict(queries) for annotator, queries in sorted(builder.work.items()) if queries}
    withdrawn = [*builder.moved, *dropped]
    withdrawn += find_near_repeats(inputs.items, {item.presentation_id for item in withdrawn})
    assignment = lay_out(
        inputs.state.round_id, work, inputs.layout, inputs.pool, judged_pairs, inputs.start_positions
    )
    withdrawn_duplicates = sum(item.duplicate_of is not None for item in withdrawn)
    new_duplicates = sum(row.duplicate_of is not None for row in assignment.rows)
    left_out[DROPPED_DUPLICATES] = max(0, withdrawn_duplicates - new_duplicates)
    left_out.update(assignment.left_out)
    transfer = Transfer(
        round=inputs.state.round,
        candidates=candidates,
        moved=len(builder.moved),
        kept=kept,
        withdrawn=len(withdrawn),
        presentations=len(assignment.rows),
        per_annotator=dict(sorted(Counter(row.annotator for row in assignment.rows).items())),
        joined=detail.get("annotators", []),
        left_out={reason: count for reason, count in left_out.items() if count},
    )
    return TransferPlan(transfer, withdrawn, assignment, detail)


def _read_layout(cursor: Cursor, state: RoundState) -> RoundRequest:
    """Read the request with which a round was opened, updated with the round's current members."""
    parameters = rounds.read_parameters(cursor, state.round_id)
    return RoundRequest(
        name=state.round,
        kind=state.kind,
        annotators=rounds.read_members(cursor, state.round_id),
        overlap=int(parameters.get("overlap", 1)),
        duplicates=float(parameters.get("duplicates", 0.0)),
        seed=int(parameters.get("seed", 0)),
        control_items=float(parameters.get("known", 0.0)),
        per_day=parameters.get("per_day"),
    )


def _is_current(cursor: Cursor, plan: TransferPlan) -> bool:
    """Return whether a plan is still current: the round is open, and the items to withdraw have no new
    events."""
    state = read_round_state(cursor, plan.transfer.round)
    planned = {item.presentation_id: item for item in plan.withdrawn_items}
    items = [item for item in read_round_items(cursor, state.round_id) if item.presentation_id in planned]
    has_changed = any(
        item.answered or (item.has_events and not planned[item.presentation_id].has_events) for item in items
    )
    return not state.closed and not has_changed


def _write_transfer(cursor: Cursor, plan: TransferPlan, kind: str, author: str) -> None:
    transfer, assignment = plan.transfer, plan.assignment
    round_id = rounds.find_round(cursor, transfer.round).round_id
    withdraw(cursor, [item.presentation_id for item in plan.withdrawn_items], kind, author)
    append_rows(cursor, "presentations", assignment.rows)
    control_items.write_control_items(cursor, round_id, assignment.items)
    _move_requests(cursor, plan.withdrawn_items, assignment)
    counts = {name: getattr(transfer, name) for name in RECORDED_COUNTS}
    detail = {**plan.event_detail, **counts}
    rounds.append_event(cursor, round_id, kind, detail, author)
    record_event(cursor, f"{kind} round", {"name": transfer.round, **detail}, author)


def _move_requests(cursor: Cursor, withdrawn: Sequence[RoundItem], assignment: RoundAssignment) -> None:
    """Transfer requests for second opinions to the new presentations."""
    firsts = [row for row in assignment.rows if row.duplicate_of is None]
    new_ids = {(row.query_id, row.document_id): row.presentation_id for row in firsts}
    for item in withdrawn:
        if item.is_second_opinion and item.pair in new_ids:
            cursor.execute(
                """
                INSERT INTO opinion_requests
                SELECT ?, query_id, document_id, reviewer, asked_at
                FROM opinion_requests WHERE presentation_id = ?
                """,
                [new_ids[item.pair], item.presentation_id],
            )
