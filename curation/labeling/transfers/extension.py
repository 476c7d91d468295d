"""Extending a round: new candidates, and annotators who join and share its work.

Who joins gets no pair whose expected grade they were shown in practice. New candidates go to such annotators
only if nobody else is free, as in a round that opens.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from curation.core.errors import RefusedError
from curation.core.text import amount
from curation.labeling.rounds.assignment import assign
from curation.labeling.rounds.candidates import Candidate
from curation.labeling.rounds.create_round import PRACTISED_BEFORE
from curation.labeling.transfers.transfer import (
    Pair,
    RoundItem,
    TransferInputs,
    TransferOutcome,
    TransferPlan,
    Work,
    carry_out,
    plan_transfer,
    read_inputs,
)
from curation.store import COMMAND_LINE, Cursor, Store

NEXT_UP = 20
"""Items at the head of a queue that are not moved, because a screen may hold them already."""

PRACTISED = "those who joined have practised on the pair and know its grade: it stays where it is"


def extend_round(
    store: Store,
    name: str,
    annotators: Sequence[str] = (),
    candidates: bool = True,
    author: str = COMMAND_LINE,
) -> TransferOutcome:
    """Add to a round the candidates that no round has shown, and annotators who share its work.

    Each new candidate goes to exactly the round's overlap of annotators. Who joins gets untouched queries of
    those with most open items, until loads are even; the next 20 items of each queue stay. In a pilot, who
    joins gets what everybody has.

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

    def read(cursor: Cursor) -> TransferInputs:
        return read_inputs(cursor, name, author, joining, joining, with_new=candidates)

    def make(inputs: TransferInputs) -> TransferPlan:
        if inputs.state.kind == "practice":
            raise RefusedError(
                f"{name} is a practice round: those who join need one of their own.",
                command="`goldgrade practice open` makes one.",
            )
        return _plan(inputs, [who for who in joining if who not in inputs.members])

    return carry_out(store, read, make, "extend", author)


def _plan(inputs: TransferInputs, joined: Sequence[str]) -> TransferPlan:
    in_round = {row.pair for row in inputs.rows}
    fresh = [candidate for candidate in inputs.new.candidates if candidate[:2] not in in_round]
    loads = Counter(row.annotator for row in inputs.rows if not row.touched and row.duplicate_of is None)
    work = _added(inputs, fresh, [*inputs.at_work, *joined], loads)
    sharing = _Sharing(inputs, joined, loads, work)
    if inputs.state.kind == "pilot":
        _give_all(inputs, joined, work)
    else:
        sharing.share()
    if not any(work.values()):
        raise RefusedError(_nothing_to_add(inputs, joined))
    gone = {row.presentation_id for row in sharing.moved}
    extra = [row for row in inputs.rows if row.duplicate_of in gone and not row.touched]
    left_out = Counter({PRACTISED_BEFORE: _practised_before(inputs, work), PRACTISED: sharing.barred()})
    detail = {"annotators": list(joined)}
    withdrawn = [*sharing.moved, *extra]
    plan = plan_transfer(inputs, withdrawn, work, len(sharing.moved), detail, left_out)
    return plan._replace(candidates=len(fresh))


def _added(
    inputs: TransferInputs, fresh: Sequence[Candidate], people: Sequence[str], loads: Counter[str]
) -> Work:
    """The new candidates as work, each query for the round's overlap of people; counted in `loads`."""
    if fresh and inputs.layout.overlap > len(people):
        raise RefusedError(
            f"Each pair of {inputs.state.round} is for {amount(inputs.layout.overlap, 'person', 'people')}, "
            f"and only {len(people)} work in it now. Name people who join."
        )
    pairs = {candidate[:2] for candidate in fresh}
    practised = {(who, pair[0]) for who in people for pair in inputs.practised.get(who, ()) if pair in pairs}
    work: Work = defaultdict(lambda: defaultdict(list))
    layout = inputs.layout
    for who, given in assign(fresh, people, layout.overlap, layout.seed, loads, practised).items():
        for query, items in given.items():
            work[who][query].extend(items)
            loads[who] += len(items)
    return work


def _give_all(inputs: TransferInputs, joined: Sequence[str], work: Work) -> None:
    """In a pilot everybody has the same."""
    pairs = sorted({row.candidate for row in inputs.rows})
    for who in joined:
        for candidate in pairs:
            work[who][candidate.query_id].append(candidate)


def _practised_before(inputs: TransferInputs, work: Work) -> int:
    """The number of pairs that go to an annotator who was shown their expected grade."""
    return sum(
        candidate[:2] in inputs.practised.get(who, ())
        for who, given in work.items()
        for items in given.values()
        for candidate in items
    )


class _Group(NamedTuple):
    """An annotator's untouched showings of one query."""

    donor: str
    rows: list[RoundItem]

    @property
    def pairs(self) -> set[Pair]:
        return {row.pair for row in self.rows}


class _Sharing:
    """Moves whole untouched queries to those who joined, until loads are even and who is away has none."""

    def __init__(self, found: TransferInputs, joined: Sequence[str], loads: Counter[str], work: Work) -> None:
        self.moved: list[RoundItem] = []
        self._joined, self._loads, self._work = joined, loads, work
        self._practised = found.practised
        self._had = found.had()  # somebody who comes back may have judged here before
        for who, given in work.items():
            self._had[who] |= {candidate[:2] for items in given.values() for candidate in items}
        self._away = found.away
        donors = [*found.members, *sorted(found.away.difference(found.members))]
        self._movable = {who: _movable(found, who) for who in donors}

    def share(self) -> None:
        """Move query by query, from who has most to who has least and can take one."""
        while True:
            move = self._next()
            if move is None:
                return
            group, taker = move
            self._movable[group.donor].remove(group)
            self._work[taker][group.rows[0].query_id].extend(row.candidate for row in group.rows)
            self._had[taker] |= group.pairs
            self._loads[group.donor] -= len(group.rows)
            self._loads[taker] += len(group.rows)
            self.moved.extend(group.rows)

    def barred(self) -> int:
        """The number of pairs that stay only because those who joined have practised on them."""
        return sum(
            len(group.rows)
            for groups in self._movable.values()
            for group in groups
            if any(self._evens(group, who) and not group.pairs & self._had[who] for who in self._joined)
        )

    def _next(self) -> tuple[_Group, str] | None:
        for taker in sorted(self._joined, key=lambda who: (self._loads[who], self._joined.index(who))):
            offers = [self._offer(donor, taker) for donor in self._movable]
            offered = [group for group in offers if group is not None]
            if offered:
                return max(offered, key=lambda group: (self._loads[group.donor], group.donor)), taker
        return None

    def _offer(self, donor: str, taker: str) -> _Group | None:
        """The last of the donor's queries that makes the two loads more even and that the taker can judge."""
        barred = self._had[taker] | set(self._practised.get(taker, ()))
        return next(
            (one for one in self._movable[donor] if self._evens(one, taker) and not barred & one.pairs), None
        )

    def _evens(self, group: _Group, taker: str) -> bool:
        if group.donor in self._away:
            return True
        return self._loads[group.donor] - self._loads[taker] > len(group.rows)


def _movable(inputs: TransferInputs, who: str) -> list[_Group]:
    """An annotator's queries of which nothing is touched or among the next items, the last ones first.

    Of who can judge no more, all that is not answered.
    """
    mine = [row for row in inputs.rows if row.annotator == who]
    blocked: set[str] = set()
    if who not in inputs.away:
        upcoming = [row for row in mine if not row.answered][:NEXT_UP]
        blocked = {row.query_id for row in mine if row.touched or row.requested}
        blocked |= {row.query_id for row in upcoming}
    groups: dict[str, list[RoundItem]] = defaultdict(list)
    for row in mine:
        if (
            inputs.movable(row)
            and row.query_id not in blocked
            and row.duplicate_of is None
            and not row.control_item
        ):
            groups[row.query_id].append(row)
    return [_Group(who, rows) for rows in reversed(groups.values())]


def _nothing_to_add(inputs: TransferInputs, joined: Sequence[str]) -> str:
    name = inputs.state.round
    if joined:
        return (
            f"Nothing of {name} is left to share with {', '.join(joined)}: what is open was touched, comes "
            "up next, is even already, or they have practised on it."
        )
    reasons = (f"{count:,} {reason}" for reason, count in inputs.new.left_out.items())
    why = "; ".join(reasons) or "none is new"
    return f"There is nothing to add to {name} ({why}). Deepen the pool first, or name people who join."
