"""Extending a round: new candidates, and people who join and share its work.

Nobody who joins is given a pair whose expected grade they were shown in practice. New candidates go to such
people only where nobody else is free, as in a round that opens.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from curation.errors import RefusedError
from curation.labeling.handover import Found, Held, Pair, Plan, Work, carry_out, planned, read_found
from curation.labeling.orders import Candidate, assign
from curation.labeling.round_opening import TOLD_BEFORE
from curation.store import Cursor, Store
from curation.store.settings import COMMAND_LINE

NEXT_UP = 20
"""Items at the head of a queue that are not shared out: a screen may hold them already."""

PRACTISED = "those who joined have practised on the pair and know its grade: it stays where it is"


@dataclass(frozen=True)
class Extended:
    """What an extension did.

    Attributes
    ----------
    candidates: how many were added.
    moved: pairs that who joined judges now.
    presentations: new ones; `per_annotator` says whose.
    left_out: reason → number of what was not shared, or dropped and not planned anew.
    """

    round: str
    candidates: int
    moved: int
    presentations: int
    per_annotator: dict[str, int]
    joined: list[str]
    left_out: dict[str, int]


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

    def read(cursor: Cursor) -> Found:
        return read_found(cursor, name, author, joining, joining, with_new=candidates)

    def make(found: Found) -> Plan:
        if found.state.kind == "practice":
            raise RefusedError(
                f"{name} is a practice round: `goldset practice open` makes one for those who join."
            )
        return _plan(found, [who for who in joining if who not in found.members])

    plan = carry_out(store, read, make, "extend", author)
    return Extended(
        round=name,
        candidates=plan.candidates,
        moved=plan.moved,
        presentations=len(plan.laid.rows),
        per_annotator=plan.per_annotator(),
        joined=plan.detail["annotators"],
        left_out=plan.left_out,
    )


def _plan(found: Found, joined: Sequence[str]) -> Plan:
    in_round = {row.pair for row in found.rows}
    fresh = [candidate for candidate in found.new.candidates if candidate[:2] not in in_round]
    loads = Counter(row.annotator for row in found.rows if not row.touched and row.duplicate_of is None)
    work = _added(found, fresh, [*found.members, *joined], loads)
    sharing = _Sharing(found, joined, loads, work)
    if found.state.kind == "pilot":
        _give_all(found, joined, work)
    else:
        sharing.share()
    if not any(work.values()):
        raise RefusedError(_nothing_to_add(found, joined))
    gone = {row.presentation_id for row in sharing.moved}
    extra = [row for row in found.rows if row.duplicate_of in gone and not row.touched]
    left_out = Counter({TOLD_BEFORE: _told_before(found, work), PRACTISED: sharing.barred()})
    detail = {"annotators": list(joined)}
    withdrawn = [*sharing.moved, *extra]
    plan = planned(found, withdrawn, work, len(sharing.moved), detail, left_out)
    return plan._replace(candidates=len(fresh))


def _added(found: Found, fresh: Sequence[Candidate], people: Sequence[str], loads: Counter[str]) -> Work:
    """The new candidates as work, each query for the round's overlap of people; counted in `loads`."""
    if fresh and found.layout.overlap > len(people):
        raise RefusedError(
            f"Each pair of {found.state.round} is for {found.layout.overlap} people, and only {len(people)} "
            "work in it now. Name people who join."
        )
    pairs = {candidate[:2] for candidate in fresh}
    told = {(who, pair[0]) for who in people for pair in found.told.get(who, ()) if pair in pairs}
    work: Work = defaultdict(lambda: defaultdict(list))
    for who, given in assign(fresh, people, found.layout.overlap, found.layout.seed, loads, told).items():
        for query, items in given.items():
            work[who][query].extend(items)
            loads[who] += len(items)
    return work


def _give_all(found: Found, joined: Sequence[str], work: Work) -> None:
    """In a pilot everybody has the same."""
    pairs = sorted({row.candidate for row in found.rows})
    for who in joined:
        for candidate in pairs:
            work[who][candidate.query_id].append(candidate)


def _told_before(found: Found, work: Work) -> int:
    """Given pairs whose expected grade their annotator was shown."""
    return sum(
        candidate[:2] in found.told.get(who, ())
        for who, given in work.items()
        for items in given.values()
        for candidate in items
    )


class _Group(NamedTuple):
    """An annotator's untouched showings of one query."""

    donor: str
    rows: list[Held]

    @property
    def pairs(self) -> set[Pair]:
        return {row.pair for row in self.rows}


class _Sharing:
    """Moves whole untouched queries to those who joined until nobody has much more to do than they."""

    def __init__(self, found: Found, joined: Sequence[str], loads: Counter[str], work: Work) -> None:
        self.moved: list[Held] = []
        self._joined, self._loads, self._work = joined, loads, work
        self._told = found.told
        self._had = found.had()  # who comes back may have judged something here before
        for who, given in work.items():
            self._had[who] |= {candidate[:2] for items in given.values() for candidate in items}
        self._movable = {who: _movable(found, who) for who in found.members}

    def share(self) -> None:
        """Move query by query, from who has most to who has least and can take one."""
        while (found := self._next()) is not None:
            group, taker = found
            self._movable[group.donor].remove(group)
            self._work[taker][group.rows[0].query_id].extend(row.candidate for row in group.rows)
            self._had[taker] |= group.pairs
            self._loads[group.donor] -= len(group.rows)
            self._loads[taker] += len(group.rows)
            self.moved.extend(group.rows)

    def barred(self) -> int:
        """Pairs that would go to who joined, had they not practised on them."""
        return sum(
            len(group.rows)
            for groups in self._movable.values()
            for group in groups
            if any(self._evens(group, who) and not group.pairs & self._had[who] for who in self._joined)
        )

    def _next(self) -> tuple[_Group, str] | None:
        for taker in sorted(self._joined, key=lambda who: (self._loads[who], self._joined.index(who))):
            offered = [group for who in self._movable if (group := self._offer(who, taker))]
            if offered:
                return max(offered, key=lambda group: (self._loads[group.donor], group.donor)), taker
        return None

    def _offer(self, donor: str, taker: str) -> _Group | None:
        """The last of the donor's queries that makes the two more even and that the taker can judge."""
        barred = self._had[taker] | set(self._told.get(taker, ()))
        return next(
            (one for one in self._movable[donor] if self._evens(one, taker) and not barred & one.pairs), None
        )

    def _evens(self, group: _Group, taker: str) -> bool:
        return self._loads[group.donor] - self._loads[taker] > len(group.rows)


def _movable(found: Found, who: str) -> list[_Group]:
    """An annotator's queries of which nothing is touched and nothing comes up next, the last ones first."""
    mine = [row for row in found.rows if row.annotator == who]
    upcoming = [row for row in mine if not row.answered][:NEXT_UP]
    blocked = {row.query_id for row in mine if row.touched or row.requested}
    blocked |= {row.query_id for row in upcoming}
    groups: dict[str, list[Held]] = defaultdict(list)
    for row in mine:
        if row.query_id not in blocked and row.duplicate_of is None and not row.known:
            groups[row.query_id].append(row)
    return [_Group(who, rows) for rows in reversed(groups.values())]


def _nothing_to_add(found: Found, joined: Sequence[str]) -> str:
    name = found.state.round
    if joined:
        return (
            f"Nothing of {name} is left to share with {', '.join(joined)}: what is open was touched, comes "
            "up next, is even already, or they have practised on it."
        )
    why = _reasons(found.new.left_out) or "none is new"
    return f"There is nothing to add to {name} ({why}). Deepen the pool first, or name people who join."


def _reasons(left_out: Mapping[str, int]) -> str:
    return "; ".join(f"{count:,} {reason}" for reason, count in left_out.items())
