"""Findings of an open or closed round, from checks of its annotators and their agreement.

Findings are the signals of the round's annotators, agreement near chance, and paces too fast for reading.
"Nothing unusual" covers only the checks that were made, so every other check is listed with its reason. One
person reads all findings of a round, so the tests are corrected together: of the rounds without a problem, at
most the share `FALSE_ROUNDS` has a finding.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import NamedTuple

from curation.agreement.annotator_metrics import Finding, compute_metrics
from curation.agreement.fast_answers import MIN_AT_FLOOR, read_times
from curation.agreement.grades import read_grades
from curation.agreement.report import AgreementReport, make_agreement_report
from curation.agreement.signals import ROUND_SIGNALS, SPEED, SignalResults, run_signals
from curation.agreement.verdict import SLIGHT, TENTATIVE, chance_unknown, judge_alpha
from curation.core.reports.tables import Table
from curation.core.text import join_names, pluralize
from curation.labeling.rounds.pace import MIN_SECONDS
from curation.labeling.rounds.rounds import find_round
from curation.store import Store

FALSE_ROUNDS = 0.05
"""Maximum share of rounds without a problem that get an early warning, for any number of annotators."""
_ANNOTATORS = "SELECT DISTINCT annotator FROM live_presentations WHERE round_id = ? ORDER BY annotator"
CHANCE, PACE = "near chance", "pace"
CHECKS = {
    CHANCE: f"ordinal alpha with a 95 % interval below {SLIGHT}, or one that contains 0 and ends below "
    f"{TENTATIVE}",
    PACE: f"median time below {MIN_SECONDS:g} second, over {MIN_AT_FLOOR} timed answers or more",
}
"""Map from each check of a round or of a pace to its criterion; the signals of annotators are apart."""


class NotChecked(NamedTuple):
    """A check that could not be made, with its annotators (empty means the whole round) and the reason."""

    about: str
    annotators: tuple[str, ...]
    why: str


@dataclass(frozen=True)
class RoundQuality:
    """Findings of a round, and the checks that could not be made.

    Attributes
    ----------
    not_checked: the checks that could not be made, which are shown first.
    findings: annotator (None for the whole round) and finding, the most important first.
    checks: number of checks that were made.
    """

    round_name: str
    not_checked: tuple[NotChecked, ...]
    findings: tuple[tuple[str | None, Finding], ...]
    checks: int

    @property
    def sentences(self) -> list[str]:
        """List the conclusion and the findings, in one sentence each."""
        findings = (f"- {name or 'The round'}: {finding.sentence}" for name, finding in self.findings)
        return [self.conclusion, *findings]

    @property
    def tables(self) -> tuple[Table, ...]:
        """Make the table of checks that could not be made."""
        return (make_unchecked_table(self),)

    @property
    def conclusion(self) -> str:
        """Say in one sentence how many checks were made, how many findings they had, and how many checks need
        more data."""
        missing = sum(max(1, len(check.annotators)) for check in self.not_checked)
        if not self.checks:
            return "There is not yet enough data for any check."
        checks = pluralize(self.checks, "check")
        suffix = f"; {missing:,} of {self.checks + missing:,} need more data" if missing else ""
        findings = pluralize(len(self.findings), "finding") if self.findings else "Nothing unusual"
        return f"{findings} in {checks}{suffix}."


def check_round(store: Store, round_name: str, report: AgreementReport | None = None) -> RoundQuality:
    """Check a round and all its annotators for unusual work.

    Parameters
    ----------
    report: the agreement report of this round, if it was computed before.

    Raises
    ------
    NotFoundError: there is no round of that name.
    """
    signals = find_early_warnings(store, round_name)
    report = report or make_agreement_report(store, round_name)
    chance_checks = int(chance_unknown(report.between.ordinal) is None)
    paces = [row for row in report.pace if row.enough]
    return RoundQuality(
        round_name,
        _list_unchecked(report, signals),
        (*_find_near_chance(report), *_find_fast_paces(report), *_select_signals(report, signals)),
        chance_checks + len(paces) + signals.tests,
    )


def find_early_warnings(store: Store, round_name: str) -> SignalResults:
    """Test each annotator of an open round for every early-warning signal.

    Raises
    ------
    NotFoundError: there is no round of that name.
    """
    with store.reading() as cursor:
        round_id = find_round(cursor, round_name).round_id
        annotators = [name for (name,) in cursor.execute(_ANNOTATORS, [round_id]).fetchall()]
        times, grades = read_times(cursor, round_id), read_grades(cursor, round_id)
    return run_signals(compute_metrics(annotators, grades, times), ROUND_SIGNALS, FALSE_ROUNDS)


def make_unchecked_table(quality: RoundQuality) -> Table:
    """Make the table of checks that could not be made."""
    rows = (
        (check.about.capitalize(), join_names(check.annotators) or "The round", check.why)
        for check in quality.not_checked
    )
    return Table("Could not be checked", ("Check", "Of", "Why"), tuple(rows), words=True)


def _find_near_chance(report: AgreementReport) -> tuple[tuple[None, Finding], ...]:
    verdict, alpha = judge_alpha(report.between), report.between.ordinal
    if verdict.state != CHANCE:
        return ()
    figures = {"alpha": alpha.value, "low": alpha.low, "high": alpha.high, "units": alpha.n}
    return ((None, Finding(CHANCE, verdict.sentence, figures)),)


def _find_fast_paces(report: AgreementReport) -> tuple[tuple[str, Finding], ...]:
    unread = [row for row in report.pace if row.unread]
    return tuple((row.annotator, Finding(PACE, row.sentence, row._asdict())) for row in unread)


def _select_signals(report: AgreementReport, signals: SignalResults) -> tuple[tuple[str, Finding], ...]:
    """Select the signals' findings, leaving out speed for annotators who already have a finding on pace."""
    unread = {row.annotator for row in report.pace if row.unread}
    return tuple(
        (name, finding)
        for name, finding in signals.findings
        if not (finding.about == SPEED.name and name in unread)
    )


def _list_unchecked(report: AgreementReport, signals: SignalResults) -> tuple[NotChecked, ...]:
    checks = []
    why = chance_unknown(report.between.ordinal)
    if why:
        checks.append(NotChecked(CHANCE, (), why))
    groups: dict[tuple[str, str], list[str]] = defaultdict(list)
    for row in report.pace:
        if not row.enough:
            few = f"{row.answers:,} timed answers; {MIN_AT_FLOOR} are needed"
            groups[PACE, few].append(row.annotator)
    for about, name, reason in signals.not_checked:
        groups[about, reason].append(name)
    checks += [NotChecked(about, tuple(sorted(names)), reason) for (about, reason), names in groups.items()]
    return tuple(checks)
