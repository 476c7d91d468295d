"""The open items of annotators who leave, which other members of each round get.

The annotator's right to judge ends first, in a separate transaction. Then the unanswered items, including
skipped items and withdrawn answers, go to the other members, round by round.
"""

from __future__ import annotations

from dataclasses import dataclass

from curation.core.errors import RefusedError
from curation.labeling.rounds.items import read_round_items
from curation.labeling.rounds.reassignment import reassign
from curation.labeling.rounds.round_states import read_open_states
from curation.people.accounts import deactivate, set_role
from curation.people.annotators import JUDGING_ROLES, require_annotators
from curation.store import COMMAND_LINE, Annotator, Store


@dataclass(frozen=True)
class ReturnedWork:
    """A leaving annotator's open items in a round, and their new annotators.

    Attributes
    ----------
    open: the number of unanswered items, without blind duplicates and control items.
    moved: the number of open items that other annotators now judge.
    per_annotator: name → number of new presentations, including blind duplicates and control items.
    why: the reason why some items stay; '' if all moved.
    """

    round: str
    open: int
    moved: int
    per_annotator: dict[str, int]
    why: str

    @property
    def sentence(self) -> str:
        """Return a sentence that says how many items moved to others and how many stay."""
        people = ", ".join(self.per_annotator)
        moved = f"{self.round}: {self.moved:,} of {self.open:,} open items went to {people}."
        if self.moved == self.open:
            return moved
        stays = f"{self.open - self.moved:,} open items wait until a new annotator joins. {self.why}"
        return f"{moved} {stays}" if self.moved else f"{self.round}: {stays}"


def deactivate_annotator(
    store: Store, name: str, author: str = COMMAND_LINE
) -> tuple[Annotator, list[ReturnedWork]]:
    """Deactivate an annotator, and give their unanswered items to other members; all their judgments still
    count.

    For an annotator who is already deactivated, give away the items that remain.

    Raises
    ------
    NotFoundError: the annotator is not in the project.
    RefusedError: as `people.accounts.deactivate`; also if the annotator is already deactivated and no item
        moves.
    """
    was_active = deactivate(store, name, author)
    returned_work = _return_work(store, name, author)
    if not was_active and not any(work.moved for work in returned_work):
        open_count = sum(work.open for work in returned_work)
        remark = f" {open_count:,} open items still wait: add an annotator to the round to take the items."
        raise RefusedError(f"{name} is already deactivated.{remark if open_count else ''}")
    with store.reading() as cursor:
        return require_annotators(cursor, [name])[0], returned_work


def change_role(
    store: Store, name: str, role: str, author: str = COMMAND_LINE
) -> tuple[Annotator, list[ReturnedWork]]:
    """Change an annotator's role; if the new role may not judge, give their unanswered items to other
    members.

    Raises
    ------
    InputError, NotFoundError, RefusedError: as `people.accounts.set_role`.
    """
    annotator = set_role(store, name, role, author)
    return annotator, [] if role in JUDGING_ROLES else _return_work(store, name, author)


def _return_work(store: Store, name: str, author: str) -> list[ReturnedWork]:
    """Give an annotator's open items to other members; list the rounds in which the annotator had any."""
    open_counts: dict[str, int] = {}
    with store.reading() as cursor:
        for state in read_open_states(cursor):
            items = [item for item in read_round_items(cursor, state.round_id) if item.annotator == name]
            open_items = [item for item in items if not item.answered]
            if open_items:
                practice = state.kind == "practice"
                open_counts[state.round] = sum(
                    item.is_work or (practice and item.duplicate_of is None) for item in open_items
                )
    returned = [_reassign_all(store, round_, name, count, author) for round_, count in open_counts.items()]
    return [work for work in returned if work.open]


def _reassign_all(store: Store, round_: str, name: str, open_count: int, author: str) -> ReturnedWork:
    try:
        transfer = reassign(store, round_, name, author=author)
    except RefusedError as error:  # a pilot or practice, or nobody else is in the round
        return ReturnedWork(round_, open_count, 0, {}, error.found)
    reasons = "; ".join(f"{item_count:,} {reason}" for reason, item_count in transfer.left_out.items())
    reason_text = reasons if transfer.kept else ""
    return ReturnedWork(round_, open_count, transfer.moved, transfer.per_annotator, reason_text)
