"""Moving work in a round: reassignment to others, and sharing it with annotators who join.

Untouched items of somebody absent, and all open items of somebody who leaves, go to others. Who leaves is
deactivated, or may judge no more. Their right ends first, in a transaction of its own. Then what they have
not answered, also what they put off or took back, goes to the other members, round by round. An extension
adds candidates that no round has shown, and annotators who share the work.

Nobody gets a pair twice, or one whose expected grade they were shown in practice; new candidates go to such
annotators only if nobody else is free, as in a round that opens. What nobody can take stays with its
annotator, is counted with the reason, and can go to somebody who joins.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from curation.core.digests import digest
from curation.core.errors import InputError, RefusedError
from curation.core.text import pluralize
from curation.labeling.requests import MoveRequest
from curation.labeling.rounds.assignment import assign
from curation.labeling.rounds.candidates import Candidate
from curation.labeling.rounds.create_round import PRACTISED_BEFORE
from curation.labeling.rounds.rounds import RoundState, open_states
from curation.labeling.rounds.transfer import (
    Pair,
    RoundItem,
    Transfer,
    TransferInputs,
    TransferPlan,
    Work,
    carry_out,
    plan_transfer,
    read_inputs,
)
from curation.people.accounts import deactivate, set_role
from curation.people.annotators import JUDGING, require_annotators
from curation.store import COMMAND_LINE, Annotator, Cursor, Store

SEEN = "put off or taken back: they were seen, and stay"
HAD_BY_ALL = "everyone else has the pair already: it stays"
PRACTISED = "everybody else without the pair has practised on it and knows its grade: it stays"
_OPEN = """
SELECT count(*) FILTER (p.duplicate_of IS NULL AND (k.query_id IS NULL OR r.kind = 'practice')), count(*)
FROM live_presentations p
LEFT JOIN presentation_states s USING (presentation_id)
LEFT JOIN known_answers k USING (round_id, query_id, document_id)
JOIN rounds r USING (round_id)
WHERE p.round_id = ? AND p.annotator = ? AND NOT coalesce(s.answered, false)
"""

NEXT_UP = 20
"""Items at the head of a queue that are not moved, because a screen may hold them already."""
_Group = list[RoundItem]
"""An annotator's untouched showings of one query."""


def reassign(
    store: Store, name: str, from_: str, to: Sequence[str] = (), author: str = COMMAND_LINE
) -> Transfer:
    """Move what an annotator has not touched to others, whole queries where possible.

    Of who can judge no more, everything goes that is not answered.

    Parameters
    ----------
    to: who takes it, members of the round or not; everyone else in the round if nobody is named.

    Raises
    ------
    InputError: somebody would take over from themselves.
    NotFoundError: the round or a person is unknown.
    RefusedError: the round is closed or of a kind in which everyone has their own work, there is nothing to
        move or nobody to take it.
    """
    takers = list(dict.fromkeys(to))
    if from_ in takers:
        raise InputError(
            f"The work of {from_} cannot be reassigned to {from_}: name somebody else.",
            command="`--to` names who takes it.",
        )

    def read(cursor: Cursor) -> TransferInputs:
        return read_inputs(cursor, name, author, [from_, *takers], takers, with_new=False)

    def make(inputs: TransferInputs) -> TransferPlan:
        _refuse_own_work(inputs.state)
        others = takers or [who for who in inputs.at_work if who != from_]
        if not others:
            raise RefusedError(
                f"There is nobody else in {name}. Name who gets the work.", command="--to names them."
            )
        return _plan_reassignment(inputs, from_, others)

    return carry_out(store, read, make, "reassign", author)


def _plan_reassignment(inputs: TransferInputs, from_: str, others: Sequence[str]) -> TransferPlan:
    mine = [row for row in inputs.rows if row.annotator == from_]
    firsts = [
        row for row in mine if row.duplicate_of is None and not row.control_item and inputs.movable(row)
    ]
    seen = [row for row in mine if not inputs.movable(row) and not row.answered]
    left_out = Counter({SEEN: sum(row.duplicate_of is None and not row.control_item for row in seen)})
    away = from_ in inputs.away
    if not firsts and not (away and any(inputs.movable(row) for row in mine)):
        raise RefusedError(_nothing_to_move(inputs.state.round, from_, left_out))
    mover = _Mover(inputs, Counter(row.annotator for row in inputs.rows if not row.answered))
    left_out.update(_hand_on(mover, firsts, others, inputs.layout.seed))
    kept = len(firsts) - len(mover.moved)
    moved = {row.presentation_id for row in mover.moved}
    extra = [
        row
        for row in mine
        if inputs.movable(row)
        and row.presentation_id not in moved
        and (row.duplicate_of in moved if kept and not away else row not in firsts)
    ]
    detail = {"from": from_, "to": list(others)}
    withdrawn = [*mover.moved, *extra]
    return plan_transfer(inputs, withdrawn, mover.work, detail, left_out, len(mover.moved), kept)


class _Mover:
    """Gives items to people who never had them, and keeps count of everybody's load.

    Somebody who comes back may have judged in the round before.
    """

    def __init__(self, inputs: TransferInputs, loads: Counter[str]) -> None:
        self.work: Work = defaultdict(lambda: defaultdict(list))
        self.moved: list[RoundItem] = []
        self.loads = loads
        self.had = inputs.had()
        self._practised = inputs.practised

    def can_take(self, who: str, rows: _Group) -> bool:
        """Whether somebody has had none of these pairs, here or in practice."""
        return not _pairs(rows) & (self.had[who] | set(self._practised.get(who, ())))

    def add(self, who: str, candidates: Sequence[Candidate]) -> None:
        """Add candidates to the work of somebody."""
        for candidate in candidates:
            self.work[who][candidate.query_id].append(candidate)
        self.had[who].update(candidate[:2] for candidate in candidates)
        self.loads[who] += len(candidates)

    def move(self, rows: _Group, who: str) -> None:
        """Move the items of one annotator to another."""
        self.add(who, [row.candidate for row in rows])
        self.loads[rows[0].annotator] -= len(rows)
        self.moved.extend(rows)


def _hand_on(mover: _Mover, rows: Sequence[RoundItem], others: Sequence[str], seed: int) -> Counter[str]:
    """Move items query by query, the largest first, to the one of the others who has least to do.

    Where nobody can take a whole query, its pairs move one by one. Returns reason → pairs that stay.
    """

    def give(group: _Group) -> bool:
        free = [who for who in others if mover.can_take(who, group)]
        if free:
            query = group[0].query_id
            mover.move(group, min(free, key=lambda who: (mover.loads[who], digest(seed, query, who))))
        return bool(free)

    stays: Counter[str] = Counter()
    groups = _by_query(rows)
    for query in sorted(groups, key=lambda query: (-len(groups[query]), digest(seed, query))):
        if not give(groups[query]):
            for row in groups[query]:
                if not give([row]):
                    stays[HAD_BY_ALL if all(row.pair in mover.had[who] for who in others) else PRACTISED] += 1
    return stays


def _by_query(rows: Iterable[RoundItem]) -> dict[str, _Group]:
    groups: dict[str, _Group] = defaultdict(list)
    for row in rows:
        groups[row.query_id].append(row)
    return groups


def _refuse_own_work(state: RoundState) -> None:
    if state.kind in ("pilot", "practice"):
        raise RefusedError(
            f"{state.round} is a {state.kind} round: everyone works through it on their own, so nothing of "
            "it can be judged for somebody else."
        )


def _nothing_to_move(name: str, who: str, left_out: Mapping[str, int]) -> str:
    seen = sum(left_out.values())
    stay = pluralize(
        seen,
        "item was put off or taken back: it was seen, and stays",
        "items were put off or taken back: they were seen, and stay",
    )
    more = f" {stay}." if seen else ""
    return f"{who} has nothing untouched in {name}: there is nothing to move.{more}"


@dataclass(frozen=True)
class ReturnedWork:
    """What became of somebody's open items in one round.

    Attributes
    ----------
    open: items that they had not answered, without blind duplicates and control items.
    moved: how many of them others judge now; `per_annotator` says who, with duplicates and control items.
    why: why the rest stays; '' where all moved.
    """

    round: str
    open: int
    moved: int
    per_annotator: dict[str, int]
    why: str

    @property
    def sentence(self) -> str:
        """What became of them, in words."""
        people = ", ".join(self.per_annotator)
        moved = f"{self.round}: {self.moved:,} of {self.open:,} open items went to {people}."
        if self.moved == self.open:
            return moved
        stays = f"{self.open - self.moved:,} open items stay theirs until somebody joins. {self.why}"
        return f"{moved} {stays}" if self.moved else f"{self.round}: {stays}"


def deactivate_annotator(
    store: Store, name: str, author: str = COMMAND_LINE
) -> tuple[Annotator, list[ReturnedWork]]:
    """Deactivate somebody, and return to its rounds what they have not answered; all judgments count on.

    If it is done again, for somebody deactivated before, it returns what is still theirs.

    Raises
    ------
    NotFoundError: the project does not know the name.
    RefusedError: as `people.accounts.deactivate`; also if they are deactivated and nothing is left to return.
    """
    was_active = deactivate(store, name, author)
    returned = _return_work(store, name, author)
    if not was_active and not any(work.moved for work in returned):
        raise RefusedError(f"{name} is deactivated already.{_remains(returned)}")
    with store.reading() as cursor:
        return require_annotators(cursor, [name])[0], returned


def change_role(
    store: Store, name: str, role: str, author: str = COMMAND_LINE
) -> tuple[Annotator, list[ReturnedWork]]:
    """Give somebody another role; who may judge no more returns to its rounds what they have not answered.

    Raises
    ------
    InputError, NotFoundError, RefusedError: as `people.accounts.set_role`.
    """
    annotator = set_role(store, name, role, author)
    return annotator, [] if role in JUDGING else _return_work(store, name, author)


def _return_work(store: Store, name: str, author: str) -> list[ReturnedWork]:
    """Return somebody's open items, round by round; blind duplicates and control items alone are no work."""
    with store.reading() as cursor:
        counts = {
            state.round: cursor.execute(_OPEN, [state.round_id, name]).fetchall()[0]
            for state in open_states(cursor)
        }
    returned = [
        _return(store, round_, name, first, author) for round_, (first, every) in counts.items() if every
    ]
    return [work for work in returned if work.open]


def _return(store: Store, round_: str, name: str, count: int, author: str) -> ReturnedWork:
    try:
        transfer = reassign(store, round_, name, author=author)
    except RefusedError as error:  # a pilot or practice, or nobody else is in the round
        return ReturnedWork(round_, count, 0, {}, error.found)
    reasons = "; ".join(f"{number:,} {reason}" for reason, number in transfer.left_out.items())
    why = reasons if transfer.kept else ""
    return ReturnedWork(round_, count, transfer.moved, transfer.per_annotator, why)


def _remains(returned: Sequence[ReturnedWork]) -> str:
    left = sum(work.open - work.moved for work in returned)
    return f" {left:,} open items are still theirs: let somebody join the round to take them." if left else ""


def move_work(store: Store, request: MoveRequest, author: str = COMMAND_LINE) -> Transfer:
    """Hand somebody's untouched items to others, or add candidates and annotators who share the work.

    Raises
    ------
    InputError: both are asked for, or neither; also as `reassign`.
    NotFoundError, RefusedError: as `reassign` and `extend_round`.
    """
    extends = bool(request.join or request.new)
    if (request.from_ is not None) == extends:
        raise InputError(
            "Say whose items go to others; or who joins, and whether new candidates are added. Not both.",
            command="--from names whose items go; --join names who joins, --new adds candidates.",
        )
    if request.from_ is not None:
        return reassign(store, request.round, request.from_, request.to, author)
    return extend_round(store, request.round, request.join, request.new, author)


def extend_round(
    store: Store,
    name: str,
    annotators: Sequence[str] = (),
    candidates: bool = True,
    author: str = COMMAND_LINE,
) -> Transfer:
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
                command="`goldgrade practice NAME --annotators NAMES` makes one.",
            )
        return _plan_extension(inputs, [who for who in joining if who not in inputs.members])

    return carry_out(store, read, make, "extend", author)


def _plan_extension(inputs: TransferInputs, joined: Sequence[str]) -> TransferPlan:
    in_round = {row.pair for row in inputs.rows}
    fresh = [candidate for candidate in inputs.new.candidates if candidate[:2] not in in_round]
    loads = Counter(row.annotator for row in inputs.rows if not row.touched and row.duplicate_of is None)
    mover = _Mover(inputs, loads)
    for who, candidates in _assigned(inputs, fresh, [*inputs.at_work, *joined], loads).items():
        mover.add(who, candidates)
    if inputs.state.kind == "pilot":  # everybody has the same
        for who in joined:
            mover.add(who, sorted({row.candidate for row in inputs.rows}))
    else:
        _share(mover, inputs, joined)
    if not any(mover.work.values()):
        raise RefusedError(_nothing_to_add(inputs, joined))
    gone = {row.presentation_id for row in mover.moved}
    extra = [row for row in inputs.rows if row.duplicate_of in gone and not row.touched]
    left_out = Counter({PRACTISED_BEFORE: _practised_before(inputs, mover.work)})
    withdrawn, moved = [*mover.moved, *extra], len(mover.moved)
    detail = {"annotators": list(joined)}
    return plan_transfer(inputs, withdrawn, mover.work, detail, left_out, moved, candidates=len(fresh))


def _assigned(
    inputs: TransferInputs, fresh: Sequence[Candidate], people: Sequence[str], loads: Mapping[str, int]
) -> dict[str, list[Candidate]]:
    """The new candidates by annotator, each query for the round's overlap of people."""
    layout = inputs.layout
    if fresh and layout.overlap > len(people):
        raise RefusedError(
            f"Each pair of {inputs.state.round} is for {pluralize(layout.overlap, 'person', 'people')}, "
            f"and only {len(people)} work in it now. Name people who join."
        )
    pairs = {candidate[:2] for candidate in fresh}
    practised = {(who, pair[0]) for who in people for pair in inputs.practised.get(who, ()) if pair in pairs}
    work = assign(fresh, people, layout.overlap, layout.seed, loads, practised)
    return {who: [item for items in given.values() for item in items] for who, given in work.items()}


def _practised_before(inputs: TransferInputs, work: Work) -> int:
    """The number of pairs that go to an annotator who was shown their expected grade."""
    return sum(
        candidate[:2] in inputs.practised.get(who, ())
        for who, given in work.items()
        for items in given.values()
        for candidate in items
    )


def _share(mover: _Mover, inputs: TransferInputs, joined: Sequence[str]) -> None:
    """Move whole untouched queries to those who joined, until loads are even and who is away has no work.

    Each goes from the annotator with most items to the one who joined with least and can take it.
    """
    donors = [*inputs.members, *sorted(inputs.away.difference(inputs.members))]
    groups_of = {who: _movable(inputs, who) for who in donors}

    def offer(donor: str, taker: str) -> _Group | None:
        """The last of the donor's queries that makes the two loads more even and that the taker can judge."""
        more = mover.loads[donor] - mover.loads[taker]
        fitting = (
            group
            for group in groups_of[donor]
            if (donor in inputs.away or more > len(group)) and mover.can_take(taker, group)
        )
        return next(fitting, None)

    def next_move() -> tuple[_Group, str] | None:
        for taker in sorted(joined, key=lambda who: (mover.loads[who], joined.index(who))):
            offers = [group for donor in groups_of if (group := offer(donor, taker))]
            if offers:
                return max(
                    offers, key=lambda group: (mover.loads[group[0].annotator], group[0].annotator)
                ), taker
        return None

    while (move := next_move()) is not None:
        groups_of[move[0][0].annotator].remove(move[0])
        mover.move(*move)


def _pairs(rows: Sequence[RoundItem]) -> set[Pair]:
    return {row.pair for row in rows}


def _movable(inputs: TransferInputs, who: str) -> list[_Group]:
    """An annotator's queries without a touched item or one of the next items, the last queries first.

    Where the annotator can judge no more, all queries with unanswered items.
    """
    mine = [row for row in inputs.rows if row.annotator == who]
    blocked: set[str] = set()
    if who not in inputs.away:
        upcoming = [row for row in mine if not row.answered][:NEXT_UP]
        blocked = {row.query_id for row in mine if row.touched or row.requested}
        blocked |= {row.query_id for row in upcoming}
    free = [
        row
        for row in mine
        if inputs.movable(row)
        and row.query_id not in blocked
        and row.duplicate_of is None
        and not row.control_item
    ]
    return list(reversed(_by_query(free).values()))


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
