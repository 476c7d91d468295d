"""What in a round is worth a look, and first what could not be checked.

Findings are the signals of its people, agreement near chance, and paces too fast to have read the documents.
"No finding" covers only what was checked, so each check that could not be made is named with its reason.
One person reads all findings of a round, so their tests are corrected together: at most `FALSE_ROUNDS` of
rounds without a problem have any.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import NamedTuple

from curation.agreement.fast_answers import MIN_AT_FLOOR, read_times
from curation.agreement.grades import read_grades
from curation.agreement.inter_annotator import TENTATIVE
from curation.agreement.report import SLIGHT, AgreementReport, agreement_report, chance_unknown, verdict_of
from curation.agreement.signals import (
    DURING_ROUND,
    SPEED,
    Finding,
    SignalResults,
    annotator_metrics,
    run_signals,
)
from curation.core.reports.page import Table
from curation.core.text import join_words, pluralize
from curation.labeling.rounds.pace import FASTEST
from curation.labeling.rounds.rounds import find_round
from curation.store import Store

FALSE_ROUNDS = 0.05
"""At most so many of the rounds in which nothing is the matter get early warnings, however many people
work."""
_PEOPLE = "SELECT DISTINCT annotator FROM live_presentations WHERE round_id = ? ORDER BY annotator"
CHANCE, PACE = "near chance", "pace"
CHECKS = {
    CHANCE: f"ordinal alpha whose 95 % interval is below {SLIGHT}, or holds 0 and ends below {TENTATIVE}",
    PACE: f"a median below {FASTEST:g} second over at least {MIN_AT_FLOOR} timed answers",
}

"""What is checked besides the signals of people."""


class NotChecked(NamedTuple):
    """A check that could not be made, about these annotators (empty: about the round), and why."""

    about: str
    annotators: tuple[str, ...]
    why: str


@dataclass(frozen=True)
class RoundQuality:
    """What is worth a look in a round.

    Attributes
    ----------
    not_checked: what could not be checked, before anything else.
    findings: annotator (None: the whole round) and what to look at, the weightiest first.
    checks: how many checks were made.
    """

    round_name: str
    not_checked: tuple[NotChecked, ...]
    findings: tuple[tuple[str | None, Finding], ...]
    checks: int

    @property
    def sentences(self) -> list[str]:
        """What the findings mean, and each of them."""
        findings = (f"- {name or 'The round'}: {finding.sentence}" for name, finding in self.findings)
        return [self.conclusion, *findings]

    @property
    def tables(self) -> tuple[Table, ...]:
        """The checks that could not be made."""
        return (not_checked_table(self),)

    @property
    def conclusion(self) -> str:
        """What the absence or number of findings means, in a sentence."""
        missing = sum(max(1, len(check.annotators)) for check in self.not_checked)
        if not self.checks:
            return "Nothing could be checked yet."
        made = pluralize(self.checks, "check")
        more = f"; {missing:,} of {self.checks + missing:,} need more data" if missing else ""
        findings = pluralize(len(self.findings), "finding") if self.findings else "Nothing unusual"
        return f"{findings} in {made}{more}."


def round_quality(store: Store, round_name: str, report: AgreementReport | None = None) -> RoundQuality:
    """Look at a round and at everybody in it.

    Parameters
    ----------
    report: of this round, where it is made already.

    Raises
    ------
    NotFoundError: there is no round of that name.
    """
    raised = early_warnings(store, round_name)
    report = report or agreement_report(store, round_name)
    known = chance_unknown(report.between.ordinal) is None
    paced = [row for row in report.pace if row.enough]
    return RoundQuality(
        round_name,
        _not_checked(report, raised),
        (*_near_chance(report), *_paces(report), *_signals(report, raised)),
        known + len(paced) + raised.tests,
    )


def early_warnings(store: Store, round_name: str) -> SignalResults:
    """Test everybody in a round by every signal of a round.

    Raises
    ------
    NotFoundError: there is no round of that name.
    """
    with store.reading() as cursor:
        round_id = find_round(cursor, round_name).round_id
        people = [name for (name,) in cursor.execute(_PEOPLE, [round_id]).fetchall()]
        times, grades = read_times(cursor, round_id), read_grades(cursor, round_id)
    return run_signals(annotator_metrics(people, grades, times), DURING_ROUND, FALSE_ROUNDS)


def _near_chance(report: AgreementReport) -> tuple[tuple[None, Finding], ...]:
    verdict, alpha = verdict_of(report.between), report.between.ordinal
    if verdict.state != CHANCE:
        return ()
    figures = {"alpha": alpha.value, "low": alpha.low, "high": alpha.high, "units": alpha.n}
    return ((None, Finding(CHANCE, verdict.sentence, figures)),)


def _paces(report: AgreementReport) -> tuple[tuple[str, Finding], ...]:
    return tuple(
        (row.annotator, Finding(PACE, row.sentence, row._asdict())) for row in report.pace if row.unread
    )


def _signals(report: AgreementReport, raised: SignalResults) -> tuple[tuple[str, Finding], ...]:
    """Without the speed of those whose pace says more."""
    unread = {row.annotator for row in report.pace if row.unread}
    return tuple(
        (name, finding)
        for name, finding in raised.findings
        if not (finding.about == SPEED.name and name in unread)
    )


def _not_checked(report: AgreementReport, raised: SignalResults) -> tuple[NotChecked, ...]:
    checks = []
    why = chance_unknown(report.between.ordinal)
    if why:
        checks.append(NotChecked(CHANCE, (), why))
    groups: dict[tuple[str, str], list[str]] = defaultdict(list)
    for row in report.pace:
        if not row.enough:
            few = f"{row.answers:,} timed answers, {MIN_AT_FLOOR} are needed"
            groups[PACE, few].append(row.annotator)
    for about, name, reason in raised.not_checked:
        groups[about, reason].append(name)
    checks += [NotChecked(about, tuple(sorted(who)), reason) for (about, reason), who in groups.items()]
    return tuple(checks)


def not_checked_table(quality: RoundQuality) -> Table:
    """The checks that could not be made."""
    rows = (
        (check.about.capitalize(), join_words(check.annotators) or "The round", check.why)
        for check in quality.not_checked
    )
    return Table("Could not be checked", ("Check", "Of", "Why"), tuple(rows), words=True)
