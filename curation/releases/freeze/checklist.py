"""The checklist of a freeze: what is to be known of the labels before they become a release.

Opinions are counted against what was planned, a person once, in however many rounds: a pair lacks one for
each person who was asked about it in a round that counts, open or closed, and has no judgment of it that
counts. What a finished re-labeling replaced is not planned any more. A reviewer's decision needs no further
opinion.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from curation.agreement.gate import GateCheck
from curation.core.reports.page import Table
from curation.core.text import amount, decimal, listed, percent
from curation.labeling.rounds.lifecycle import RoundState
from curation.releases.freeze.content import ReleaseDraft

CheckState = Literal["ok", "warn", "block", "unknown"]
STATES: Mapping[str, CheckState] = {"met": "ok", "missed": "block", "not asked for": "ok"}
WORDS = {"ok": "ok", "warn": "to look at", "block": "in the way", "unknown": "not known"}


class FreezeCheck(NamedTuple):
    """One line of the checklist; `block` stops a freeze until somebody decides or gives a reason."""

    name: str
    state: CheckState
    sentence: str
    figure: str


def checklist(
    content: ReleaseDraft, sealed: Sequence[str], allow_disputed: bool = False
) -> tuple[FreezeCheck, ...]:
    """Opinions, open rounds, disputes, the figures of the gate, and the seal, as they are at this moment."""
    return (
        _opinions(content.opinions),
        _rounds(content.open_rounds),
        _disputes(content.disputed, content.kept, content.agreement.counts.disputed, allow_disputed),
        *map(_figure, content.agreement.gate.checks),
        _seal(sealed),
    )


def check_table(checks: Sequence[FreezeCheck]) -> Table:
    """The checklist for a terminal."""
    rows = tuple((check.name, WORDS[check.state], check.figure, check.sentence) for check in checks)
    return Table("Checklist", ("Check", "State", "Figure", "What it says"), rows, words=True)


def _opinions(found: Counter[tuple[int, int]]) -> FreezeCheck:
    grades = found.total()
    if not grades:
        return FreezeCheck("opinions", "unknown", "No pair has a grade.", "–")
    lacking = sorted(((n, pair) for pair, n in found.items() if pair[0] < pair[1]), reverse=True)
    said = [
        f"{count:,} of {grades:,} grades have {amount(given, 'opinion')} of {planned} planned"
        for count, (given, planned) in lacking
    ]
    whole = percent(1 - sum(count for count, _ in lacking) / grades)
    sentence = f"{'; '.join(said) or 'All grades have every opinion that was planned'}."
    return FreezeCheck("opinions", "warn" if lacking else "ok", sentence, whole)


def _rounds(states: Sequence[RoundState]) -> FreezeCheck:
    said = listed([f"{state.round} is {percent(state.share)} answered" for state in states])
    sentence = f"Open rounds: {said}." if states else "No round is open."
    return FreezeCheck("open rounds", "warn" if states else "ok", sentence, f"{len(states):,}")


def _disputes(disputed: int, kept: int, everywhere: int, allowed: bool) -> FreezeCheck:
    others = everywhere - disputed - kept
    more = f" {amount(others, 'other disputed pair is', 'other disputed pairs are')} left out in any case."
    more = more if others else ""
    if kept:
        older = amount(kept, "disputed pair has", "disputed pairs have")
        more = f" {older} the grade from before the re-labeling whose votes disagree.{more}"
    if not disputed:
        none = "" if kept else "No pair of this release is disputed."
        return FreezeCheck("disputes", "warn" if kept else "ok", f"{none}{more}".strip(), f"{kept:,}")
    said = f"{amount(disputed, 'pair is', 'pairs are')} disputed and without a grade."
    what = "They are left out." if allowed else "Adjudicate first, or leave disputed pairs out."
    return FreezeCheck("disputes", "warn" if allowed else "block", f"{said} {what}{more}", f"{disputed:,}")


def _figure(check: GateCheck) -> FreezeCheck:
    said = check.sentence.partition(": ")[2]
    state = STATES.get(check.state, "unknown")
    return FreezeCheck(check.figure, state, f"{said[0].upper()}{said[1:]}.", decimal(check.value))


def _seal(sealed: Sequence[str]) -> FreezeCheck:
    if sealed:
        said = f"The grades of {listed(sealed)} leave only with a reason, which is logged."
        return FreezeCheck("seal", "ok", said, ", ".join(sealed))
    return FreezeCheck("seal", "warn", "No part is sealed: systems can be tuned on every grade.", "–")
