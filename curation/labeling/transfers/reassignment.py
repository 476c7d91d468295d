"""Reassignment: the items that an absent annotator has not touched go to others.

Of who can judge no more, deactivated or an evaluator now, also what they put off or took back.

Nobody gets a pair twice, or one whose expected grade they were shown in practice. What nobody can take stays
with its annotator and is counted with the reason.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from curation.core.errors import InputError, RefusedError
from curation.core.text import amount, digest
from curation.labeling.rounds.lifecycle import RoundState
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

SEEN = "put off or taken back: they were seen, and stay"
HAD_BY_ALL = "everyone else has the pair already: it stays"
PRACTISED = "everybody else without the pair has practised on it and knows its grade: it stays"


def reassign(
    store: Store, name: str, from_: str, to: Sequence[str] = (), author: str = COMMAND_LINE
) -> TransferOutcome:
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
        found = f"The work of {from_} cannot go to {from_}: name somebody else."
        raise InputError(found, command="`--to` names who takes it.")

    def read(cursor: Cursor) -> TransferInputs:
        return read_inputs(cursor, name, author, [from_, *takers], takers, with_new=False)

    def make(inputs: TransferInputs) -> TransferPlan:
        _refuse_own_work(inputs.state)
        others = takers or [who for who in inputs.at_work if who != from_]
        if not others:
            raise RefusedError(
                f"There is nobody else in {name}. Name who gets the work.", command="--to names them."
            )
        return _plan(inputs, from_, others)

    return carry_out(store, read, make, "reassign", author)


def _plan(inputs: TransferInputs, from_: str, others: Sequence[str]) -> TransferPlan:
    mine = [row for row in inputs.rows if row.annotator == from_]
    firsts = [
        row for row in mine if row.duplicate_of is None and not row.control_item and inputs.movable(row)
    ]
    seen = [row for row in mine if not inputs.movable(row) and not row.answered]
    left_out = Counter({SEEN: sum(row.duplicate_of is None and not row.control_item for row in seen)})
    away = from_ in inputs.away
    if not firsts and not (away and any(inputs.movable(row) for row in mine)):
        raise RefusedError(_nothing_to_move(inputs.state.round, from_, left_out))
    reassigner = _Reassigner(inputs, others)
    reassigner.move(firsts)
    left_out.update(reassigner.stays)
    kept = len(firsts) - len(reassigner.moved)
    moved = {row.presentation_id for row in reassigner.moved}
    extra = [
        row
        for row in mine
        if inputs.movable(row)
        and row.presentation_id not in moved
        and (row.duplicate_of in moved if kept and not away else row not in firsts)
    ]
    detail = {"from": from_, "to": list(others)}
    withdrawn = [*reassigner.moved, *extra]
    return plan_transfer(
        inputs, withdrawn, reassigner.work, len(reassigner.moved), detail, left_out
    )._replace(kept=kept)


class _Reassigner:
    """Moves presentations to `others`: whole queries to the one who has least to do and can judge them."""

    def __init__(self, found: TransferInputs, others: Sequence[str]) -> None:
        self.work: Work = defaultdict(lambda: defaultdict(list))
        self.moved: list[RoundItem] = []
        self.stays: Counter[str] = Counter()
        self._others = others
        self._had = found.had()
        self._practised = found.practised
        self._seed = found.layout.seed
        open_rows = Counter(row.annotator for row in found.rows if not row.answered)
        self._loads = {who: open_rows[who] for who in others}

    def move(self, rows: Sequence[RoundItem]) -> None:
        """Query by query, the largest first; pair by pair where nobody can take a whole query."""
        groups: dict[str, list[RoundItem]] = defaultdict(list)
        for row in rows:
            groups[row.query_id].append(row)
        for query in sorted(groups, key=lambda q: (-len(groups[q]), digest(self._seed, q))):
            if not self._give(groups[query]):
                for row in groups[query]:
                    if not self._give([row]):
                        self.stays[self._why_stays(row.pair)] += 1

    def _give(self, rows: Sequence[RoundItem]) -> bool:
        pairs = {row.pair for row in rows}
        free = [who for who in self._others if not pairs & self._barred(who)]
        if not free:
            return False
        query = rows[0].query_id
        who = min(free, key=lambda one: (self._loads[one], digest(self._seed, query, one)))
        self.work[who][query].extend(row.candidate for row in rows)
        self._had[who] |= pairs
        self._loads[who] += len(rows)
        self.moved.extend(rows)
        return True

    def _barred(self, who: str) -> set[Pair]:
        """The pairs that somebody had before or has practised on."""
        return self._had[who] | set(self._practised.get(who, ()))

    def _why_stays(self, pair: Pair) -> str:
        return HAD_BY_ALL if all(pair in self._had[who] for who in self._others) else PRACTISED


def _refuse_own_work(state: RoundState) -> None:
    if state.kind in ("pilot", "practice"):
        raise RefusedError(
            f"{state.round} is a {state.kind} round: everyone works through it on their own, so nothing of "
            "it can be judged for somebody else."
        )


def _nothing_to_move(name: str, who: str, left_out: Mapping[str, int]) -> str:
    seen = sum(left_out.values())
    one = "item was put off or taken back: it was seen, and stays"
    many = "items were put off or taken back: they were seen, and stay"
    more = f" {amount(seen, one, many)}." if seen else ""
    return f"{who} has nothing untouched in {name}: there is nothing to move.{more}"
