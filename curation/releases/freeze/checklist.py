"""The checklist of a freeze: what stands in its way, and what is worth a look before.

It counts opinions against what was planned, a person once, in however many rounds: a pair lacks one for each
person who was asked about it in a round that counts, open or closed, and has no judgment of it that counts.
What a finished re-labeling replaced is not planned any more. A reviewer's decision needs no further opinion.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from curation.agreement.gate import GateCheck
from curation.core.errors import RefusedError
from curation.core.reports.page import Table
from curation.core.text import decimal, join_words, percent, pluralize
from curation.labeling.rounds.rounds import RoundState
from curation.releases.freeze.draft import CHANGED, ReleaseDraft

CheckState = Literal["ok", "warn", "block", "unknown"]
STATES: Mapping[str, CheckState] = {"met": "ok", "missed": "block", "not asked for": "ok"}
WORDS = {"ok": "ok", "warn": "to look at", "block": "in the way", "unknown": "not known"}


class FreezeCheck(NamedTuple):
    """One line of the checklist; `block` stops a freeze until somebody decides or gives a reason."""

    name: str
    state: CheckState
    sentence: str
    figure: str


def checklist(draft: ReleaseDraft) -> tuple[FreezeCheck, ...]:
    """Opinions, open rounds, disputes, the figures of the gate, and the seal, as they are at this moment."""
    return (
        _opinions(draft.opinions),
        _rounds(draft.open_rounds),
        _disputes(draft),
        *map(_figure, draft.gate.checks),
        _seal(draft.sealed),
    )


def check_table(checks: Sequence[FreezeCheck]) -> Table:
    """The checklist for a terminal."""
    rows = tuple((check.name, WORDS[check.state], check.figure, check.sentence) for check in checks)
    return Table("Checklist", ("Check", "State", "Figure", "What it says"), rows, words=True)


def _opinions(opinions: Counter[tuple[int, int]]) -> FreezeCheck:
    grades = opinions.total()
    if not grades:
        return FreezeCheck("opinions", "unknown", "No pair has a grade.", "–")
    lacking = sorted(((n, pair) for pair, n in opinions.items() if pair[0] < pair[1]), reverse=True)
    counts = [
        f"{count:,} of {grades:,} grades have {pluralize(given, 'opinion')} of {planned} planned"
        for count, (given, planned) in lacking
    ]
    whole = percent(1 - sum(count for count, _ in lacking) / grades)
    sentence = f"{'; '.join(counts) or 'All grades have every opinion that was planned'}."
    return FreezeCheck("opinions", "warn" if lacking else "ok", sentence, whole)


def _rounds(states: Sequence[RoundState]) -> FreezeCheck:
    shares = join_words([f"{state.round} is {percent(state.share)} answered" for state in states])
    sentence = f"Open rounds: {shares}." if states else "No round is open."
    return FreezeCheck("open rounds", "warn" if states else "ok", sentence, f"{len(states):,}")


def _disputes(draft: ReleaseDraft) -> FreezeCheck:
    disputed, kept, allowed = draft.disputed, draft.kept, draft.request.allow_disputed
    others = draft.disputed_anywhere - disputed - kept
    more = f" {pluralize(others, 'other disputed pair is', 'other disputed pairs are')} left out in any case."
    more = more if others else ""
    if kept:
        older = pluralize(kept, "disputed pair has", "disputed pairs have")
        more = f" {older} the grade from before the re-labeling whose votes disagree.{more}"
    if not disputed:
        none = "" if kept else "No pair of this release is disputed."
        return FreezeCheck("disputes", "warn" if kept else "ok", f"{none}{more}".strip(), f"{kept:,}")
    count = f"{pluralize(disputed, 'pair is', 'pairs are')} disputed and without a grade."
    what = "They are left out." if allowed else "Adjudicate first, or leave disputed pairs out."
    return FreezeCheck("disputes", "warn" if allowed else "block", f"{count} {what}{more}", f"{disputed:,}")


def _figure(check: GateCheck) -> FreezeCheck:
    sentence = check.sentence.partition(": ")[2]
    state = STATES.get(check.state, "unknown")
    return FreezeCheck(check.figure, state, f"{sentence[0].upper()}{sentence[1:]}.", decimal(check.value))


def _seal(sealed: Sequence[str]) -> FreezeCheck:
    if sealed:
        sentence = f"The grades of {join_words(sealed)} leave only with a reason, which is logged."
        return FreezeCheck("seal", "ok", sentence, ", ".join(sealed))
    return FreezeCheck("seal", "warn", "No part is sealed: systems can be tuned on every grade.", "–")


def refuse_open(draft: ReleaseDraft) -> None:
    """Refuse labels with open disputes, unless these may be left out, and labels that make an empty release.

    Raises
    ------
    RefusedError: the labels are such.
    """
    disputed, left_out = draft.disputed, draft.left_out
    if disputed and not draft.request.allow_disputed:
        raise RefusedError(
            f"{pluralize(disputed, 'judged pair is', 'judged pairs are')} disputed and open. Decide "
            "them first, or leave them out.",
            command="`goldgrade disputes` shows them, --allow-disputed leaves them out.",
        )
    if sum(draft.grades.values()):
        return
    if CHANGED in left_out:
        raise RefusedError(
            f"The release would be empty: {left_out[CHANGED]:,} × {CHANGED} than the corpus has now. "
            "Judge them again, or keep the grades.",
            command="`goldgrade round open NAME --again` opens a round for them, --allow-changed keeps them.",
        )
    raise RefusedError(
        "No graded pair is in a part of the split, so the release would be empty. Split again.",
        command="`goldgrade split` splits.",
    )
