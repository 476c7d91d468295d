"""Leaving: who is deactivated, or may judge no more, returns their open work to its rounds.

Their right ends first, in a transaction of its own. Then what they have not answered goes, round by round, to
the other members who can take it. What nobody there can take stays counted as theirs until somebody joins.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from curation.core.errors import RefusedError
from curation.labeling.rounds.lifecycle import open_states
from curation.labeling.transfers.reassignment import reassign
from curation.people.accounts import deactivate, set_role
from curation.people.annotators import JUDGING, require_annotators
from curation.store import COMMAND_LINE, Cursor, Store


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


@dataclass(frozen=True)
class AccountChange:
    """A role or an end of access, and what it returned; all judgments remain and count."""

    name: str
    role: str
    active: bool
    returned: list[ReturnedWork]


def deactivate_annotator(store: Store, name: str, author: str = COMMAND_LINE) -> AccountChange:
    """Deactivate somebody, and return to its rounds what they have not answered.

    If it is done again, for somebody deactivated before, it returns what is still theirs.

    Raises
    ------
    NotFoundError: the project does not know the name.
    RefusedError: as `people.accounts.deactivate`; also if they are deactivated and nothing is left to return.
    """
    was_active = deactivate(store, name, author)
    returned = _return_work(store, name, author)
    if not was_active and not any(one.moved for one in returned):
        raise RefusedError(f"{name} is deactivated already.{_remains(returned)}")
    with store.reading() as cursor:
        require_annotator = require_annotators(cursor, [name])[0]
    return AccountChange(name, require_annotator.role, require_annotator.active, returned)


def change_role(store: Store, name: str, role: str, author: str = COMMAND_LINE) -> AccountChange:
    """Give somebody another role; who may judge no more returns to its rounds what they have not answered.

    Raises
    ------
    InputError, NotFoundError, RefusedError: as `people.accounts.set_role`.
    """
    changed = set_role(store, name, role, author)
    returned = [] if role in JUDGING else _return_work(store, name, author)
    return AccountChange(name, role, changed.active, returned)


def _return_work(store: Store, name: str, author: str) -> list[ReturnedWork]:
    with store.reading() as cursor:
        found = [(state.round, *_open_items(cursor, state.round_id, name)) for state in open_states(cursor)]
    returned = [_return(store, round_, name, first, author) for round_, first, every in found if every]
    return [one for one in returned if one.open]  # the rest were blind duplicates and control items


def _return(store: Store, round_: str, name: str, count: int, author: str) -> ReturnedWork:
    try:
        done = reassign(store, round_, name, author=author)
    except RefusedError as error:  # a pilot or practice, or nobody else is in the round
        return ReturnedWork(round_, count, 0, {}, error.found)
    reasons = "; ".join(f"{number:,} {reason}" for reason, number in done.left_out.items())
    return ReturnedWork(round_, count, done.moved, done.per_annotator, reasons if done.kept else "")


def _remains(returned: Sequence[ReturnedWork]) -> str:
    left = sum(one.open - one.moved for one in returned)
    return f" {left:,} open items are still theirs: let somebody join the round to take them." if left else ""


_OPEN = """
SELECT count(*) FILTER (p.duplicate_of IS NULL AND (k.query_id IS NULL OR r.kind = 'practice')), count(*)
FROM live_presentations p
LEFT JOIN presentation_states s USING (presentation_id)
LEFT JOIN known_answers k USING (round_id, query_id, document_id)
JOIN rounds r USING (round_id)
WHERE p.round_id = ? AND p.annotator = ? AND NOT coalesce(s.answered, false)
"""


def _open_items(cursor: Cursor, round_id: str, name: str) -> tuple[int, int]:
    """Their open items in a round: without blind duplicates and control items, and with them."""
    first, every = cursor.execute(_OPEN, [round_id, name]).fetchall()[0]
    return first, every
