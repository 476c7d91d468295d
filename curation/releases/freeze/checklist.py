"""The checklist before a freeze: checks that block the freeze, and checks that only alert the lead.

The checklist compares the number of given opinions with the number of planned opinions. A pair lacks an
opinion for each annotator who was asked about the pair in a round that counts, open or closed, and who has no
judgment of the pair that counts. An annotator counts once for a pair, even after several rounds. A finished
re-labeling replaces the opinions that earlier rounds planned. A pair with a reviewer's decision needs no
further opinion.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from curation.agreement.fast_answers import MIN_AT_FLOOR, AnswerPace
from curation.agreement.gate import Gate, GateCheck
from curation.core.errors import RefusedError
from curation.core.reports.tables import Table
from curation.core.text import decimal, join_names, percent, pluralize
from curation.labeling.rounds.round_states import RoundState
from curation.queries.unanswerable import describe_share, is_usual_share
from curation.releases.freeze.draft import ReleaseDraft
from curation.releases.freeze.pair_selection import CHANGED

CheckState = Literal["ok", "warn", "block", "unknown"]
STATES: Mapping[str, CheckState] = {"met": "ok", "missed": "block", "not asked for": "ok"}
WORDS = {"ok": "ok", "warn": "to look at", "block": "blocks the freeze", "unknown": "not known"}


class FreezeCheck(NamedTuple):
    """One check of the checklist before a freeze, with its result in a sentence.

    The state `block` stops the freeze until somebody decides the disputed pairs or gives a reason.
    """

    name: str
    state: CheckState
    sentence: str
    figure: str


def checklist(draft: ReleaseDraft) -> tuple[FreezeCheck, ...]:
    """Check a release draft before the freeze: opinions, open rounds, disputes, annotators' paces, agreement
    and sealed parts."""
    return (
        _check_opinions(draft.opinions),
        _check_rounds(draft.open_rounds),
        _check_disputes(draft),
        _check_pace(draft.paces),
        *(_check_figure(check, draft.gate) for check in draft.gate.checks),
        _check_unanswerable(draft),
        _check_seal(draft.sealed),
    )


def check_table(checks: Sequence[FreezeCheck]) -> Table:
    """Make a table of the checklist before a freeze, for a terminal."""
    rows = tuple((check.name, WORDS[check.state], check.figure, check.sentence) for check in checks)
    return Table("Checklist", ("Check", "State", "Figure", "What it says"), rows, words=True)


def refuse_open(draft: ReleaseDraft) -> None:
    """Refuse to freeze labels with open disputes that may not be left out, or without any grade.

    Raises
    ------
    RefusedError: disputes are open, or the release would be empty.
    """
    disputed, left_out = draft.disputed, draft.left_out
    if disputed and not draft.request.allow_disputed:
        raise RefusedError(
            f"{pluralize(disputed, 'judged pair is', 'judged pairs are')} disputed and open. Decide the "
            "disputed pairs first, or leave them out.",
            command="`goldgrade disputes` shows the pairs. --allow-disputed leaves disputed pairs out.",
        )
    if sum(draft.grades.values()):
        return
    if CHANGED in left_out:
        raise RefusedError(
            f"The release would be empty: {left_out[CHANGED]:,} × {CHANGED} than the corpus has now. "
            "Judge these pairs again, or keep their grades.",
            command="`goldgrade round open NAME --again` opens a round for these pairs. --allow-changed "
            "keeps their grades.",
        )
    raise RefusedError(
        "No graded pair is in a part of the split, so the release would be empty. Split again.",
        command="`goldgrade split` makes a new split.",
    )


def _check_opinions(opinions: Counter[tuple[int, int]]) -> FreezeCheck:
    grades = opinions.total()
    if not grades:
        return FreezeCheck("opinions", "unknown", "No pair has a grade.", "–")
    lacking = sorted(((n, pair) for pair, n in opinions.items() if pair[0] < pair[1]), reverse=True)
    counts = [
        f"{count:,} of {grades:,} grades have {pluralize(given, 'opinion')} of {planned} planned"
        for count, (given, planned) in lacking
    ]
    complete = percent(1 - sum(count for count, _ in lacking) / grades)
    sentence = f"{'; '.join(counts) or 'All grades have every planned opinion'}."
    return FreezeCheck("opinions", "warn" if lacking else "ok", sentence, complete)


def _check_rounds(states: Sequence[RoundState]) -> FreezeCheck:
    shares = join_names([f"{state.round} is {percent(state.share)} answered" for state in states])
    sentence = f"Open rounds: {shares}." if states else "No round is open."
    return FreezeCheck("open rounds", "warn" if states else "ok", sentence, f"{len(states):,}")


def _check_disputes(draft: ReleaseDraft) -> FreezeCheck:
    disputed, n_older_grades, allowed = draft.disputed, draft.n_older_grades, draft.request.allow_disputed
    other_disputes = draft.disputed_anywhere - disputed - n_older_grades
    sentences = []
    if disputed:
        sentences.append(f"{pluralize(disputed, 'pair is', 'pairs are')} disputed and without a grade.")
        advice = "Adjudicate the pairs first, or leave out disputed pairs."
        sentences.append("The release leaves disputed pairs out." if allowed else advice)
    elif not n_older_grades:
        sentences.append("No pair of this release is disputed.")
    if n_older_grades:
        older = pluralize(n_older_grades, "disputed pair has", "disputed pairs have")
        sentences.append(f"{older} the old grade, because the votes of the re-labeling disagree.")
    if other_disputes:
        left_out = pluralize(other_disputes, "other disputed pair is", "other disputed pairs are")
        sentences.append(f"{left_out} left out in any case.")
    state: CheckState = "warn" if disputed or n_older_grades else "ok"
    if disputed and not allowed:
        state = "block"
    return FreezeCheck("disputes", state, " ".join(sentences), f"{disputed or n_older_grades:,}")


def _check_pace(paces: Sequence[AnswerPace]) -> FreezeCheck:
    too_fast = [pace.sentence for pace in paces if pace.unread]
    if too_fast:
        return FreezeCheck("pace", "warn", " ".join(too_fast), f"{len(too_fast):,}")
    if not any(pace.enough for pace in paces):
        return FreezeCheck("pace", "unknown", f"Nobody has {MIN_AT_FLOOR} timed answers.", "–")
    return FreezeCheck("pace", "ok", "Nobody answered faster than people can read.", "0")


def _check_figure(check: GateCheck, gate: Gate) -> FreezeCheck:
    text = check.sentence.partition(": ")[2]
    sentence = f"{text[0].upper()}{text[1:]}."
    if check in gate.against[:1]:
        sentence += f" {gate.advice}"
    return FreezeCheck(check.figure, STATES.get(check.state, "unknown"), sentence, decimal(check.value))


def _check_unanswerable(draft: ReleaseDraft) -> FreezeCheck:
    share = (draft.unanswerable, sum(draft.queries.values()))
    state: CheckState = "ok" if is_usual_share(*share) else "warn"
    return FreezeCheck("unanswerable", state, describe_share(*share), f"{share[0]:,}")


def _check_seal(sealed: Sequence[str]) -> FreezeCheck:
    if sealed:
        sentence = f"{join_names(sealed)}: to see grades, people must give a reason, which is logged."
        return FreezeCheck("seal", "ok", sentence, ", ".join(sealed))
    return FreezeCheck(
        "seal", "warn", "No part is sealed, so teams can tune their systems on every grade.", "–"
    )
