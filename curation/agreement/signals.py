"""Signals: statistical tests of an annotator's work that suggest a conversation.

The tests read the metrics of each annotator. A signal accuses nobody. A signal has a name, a label, and a
function that returns a p value with a sentence and the figures behind the sentence. To add a signal, write
its function here and add its record to `FEEDBACK`.

Some signals ask similar questions but remain separate:

- `agreement` asks whether grades follow the others' grades, `one grade` asks whether grades vary, and `bias`
  asks whether grades are higher or lower. A finding of `one grade` replaces a finding of `agreement`.
- `speed` asks whether answers came too quickly for reading the text; this signal needs times and no grades.

Five tests would give five times as many false findings, so all tests that are read together are corrected
together by the rule of Benjamini and Hochberg. For feedback, all tests of one annotator are corrected
together at `FALSE_SHARE`. The module `round_findings` corrects the tests of early warnings.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from scipy.special import bdtrc

from curation.agreement.agreement_with_others import OthersAgreement, compute_agreement_with_others
from curation.agreement.bias import AnnotatorBias, Decisions, compute_biases, read_decisions
from curation.agreement.fast_answers import MIN_ANSWERS, AnswerTimes, FastAnswers, count_fast, read_times
from curation.agreement.grades import Grades, read_grades
from curation.agreement.intra_annotator import IntraAgreement, read_repeats, score_repeats
from curation.agreement.modal_grade import ONE_GRADE_SHARE, ModalGrade, find_modes
from curation.agreement.outliers import find_outliers
from curation.core.statistics.estimate import Estimate, share_estimate
from curation.core.statistics.multiple_tests import find_fdr_threshold
from curation.core.text import decimal, interval_text, p_text, percent, pluralize
from curation.labeling.rounds.control_items import ControlResult, read_control_results
from curation.labeling.rounds.pace import MIN_SECONDS
from curation.labeling.rounds.rounds import find_round, list_rounds
from curation.store import Store

FALSE_SHARE = 0.1
"""Maximum share of annotators without a problem who get feedback, and maximum average share of false
findings.
"""
REMARKABLE = 0.1
"""Minimum bias, in grades, that is worth a conversation."""
USUAL_FAST = 0.25
"""Share of fast answers that quick readers do not exceed."""
NO_OTHERS = "no grades of others to compare with"


class Finding(NamedTuple):
    """A point to discuss: a sentence for people, and the figures behind the sentence, among them `p`."""

    about: str
    sentence: str
    evidence: dict[str, Any]


class AnnotatorMetrics(NamedTuple):
    """Metrics of one annotator's work; None for a metric that was not computed.

    Attributes
    ----------
    agreement: agreement with the others on the same pairs.
    bias: difference between the annotator's grades and the others' grades.
    fast, modal: speed and most frequent grade compared with the others; a sentence if there are too few data.
    left_out: the reason why others are not compared with this annotator; see `outliers.find_outliers`.
    feedback: points to discuss with the annotator.
    """

    annotator: str
    agreement: OthersAgreement | None = None
    bias: AnnotatorBias | None = None
    fast: FastAnswers | str | None = None
    modal: ModalGrade | str | None = None
    consistency: IntraAgreement | None = None
    control_items: Estimate | None = None
    left_out: str | None = None
    feedback: tuple[Finding, ...] = ()


class Signal(NamedTuple):
    """A test of one annotator's metrics.

    Attributes
    ----------
    label: the tested question in words for people.
    test: function that returns the possible finding on an annotator with its p value, or the reason why the
        test cannot be made, such as too few data.
    yields_to: name of a more specific signal, whose finding replaces the finding of this signal.
    """

    name: str
    label: str
    test: Callable[[AnnotatorMetrics], Finding | str]
    yields_to: str | None = None


class SignalResults(NamedTuple):
    """Findings of the signals among annotators.

    Attributes
    ----------
    findings: annotator and finding, ordered by annotator and signal.
    not_checked: signal, annotator and reason of each test that could not be made.
    tests: number of tests that were made.
    """

    findings: tuple[tuple[str, Finding], ...]
    not_checked: tuple[tuple[str, str, str], ...]
    tests: int = 0


def run_signals(people: Sequence[AnnotatorMetrics], signals: Sequence[Signal], share: float) -> SignalResults:
    """Test each annotator for every signal, and keep the findings that are significant among all these tests.

    Parameters
    ----------
    share: accepted share of false findings, `FALSE_SHARE` or `FALSE_ROUNDS`.
    """
    tests: dict[tuple[str, str], Finding] = {}
    not_checked = []
    for person in people:
        for signal in signals:
            outcome = signal.test(person)
            if isinstance(outcome, Finding):
                tests[person.annotator, signal.name] = outcome
            else:
                not_checked.append((signal.name, person.annotator, outcome))
    limit = find_fdr_threshold([finding.evidence["p"] for finding in tests.values()], share)
    significant = {key: finding for key, finding in tests.items() if finding.evidence["p"] <= limit}
    yields_to = {signal.name: signal.yields_to for signal in signals}
    findings = tuple(
        (annotator, finding)
        for (annotator, name), finding in significant.items()
        if (annotator, yields_to[name]) not in significant
    )
    return SignalResults(findings, tuple(not_checked), len(tests))


def find_feedback(person: AnnotatorMetrics) -> tuple[Finding, ...]:
    """List the points to discuss with one annotator; empty if no test is significant."""
    return tuple(finding for _, finding in run_signals([person], FEEDBACK, FALSE_SHARE).findings)


def compute_annotator_details(
    store: Store, round_name: str | None = None, seed: int = 0
) -> list[AnnotatorMetrics]:
    """Compute each annotator's metrics and feedback, by name, from the project or from one round.

    Raises
    ------
    NotFoundError: no round has this name.
    """
    with store.reading() as cursor:
        round_id = find_round(cursor, round_name).round_id if round_name else None
        all_rounds = [row.round_id for row in list_rounds(cursor) if row.kind in ("labeling", "audit")]
        repeats, grades = read_repeats(cursor, round_id), read_grades(cursor, round_id)
        times, decisions = read_times(cursor, round_id), read_decisions(cursor)
        rounds = [round_id] if round_id else all_rounds
        control_items = [item for name in rounds for item in read_control_results(cursor, name)]
    people = [row.annotator for row in repeats]
    all_metrics = measure_work(people, grades, times, decisions, seed)
    return [
        metrics._replace(
            consistency=score_repeats(row),
            control_items=compute_control_item_share(control_items, row.annotator),
            feedback=find_feedback(metrics),
        )
        for row, metrics in zip(repeats, all_metrics, strict=True)
    ]


def measure_work(
    people: Sequence[str],
    grades: Grades,
    times: AnswerTimes,
    decisions: Decisions | None = None,
    seed: int = 0,
) -> list[AnnotatorMetrics]:
    """Compute each annotator's metrics against the others who are no outliers.

    Parameters
    ----------
    decisions: decisions of reviewers (see `read_decisions`); without this argument no bias is computed.
    """
    outliers = find_outliers(grades)
    kappas, modes = (compute_agreement_with_others(grades, outliers, seed), find_modes(grades, outliers))
    bias = {} if decisions is None else compute_biases(grades, decisions, outliers, seed)
    fast = count_fast(people, times, outliers)
    return [
        AnnotatorMetrics(
            name, kappas.get(name), bias.get(name), fast[name], modes.get(name), left_out=outliers.get(name)
        )
        for name in people
    ]


def compute_control_item_share(results: Sequence[ControlResult], annotator: str) -> Estimate:
    """Compute the share of an annotator's control items that got the expected grade."""
    answers = [result for result in results if result.annotator == annotator]
    return share_estimate(sum(row.right for row in answers), sum(row.answered for row in answers))


def _test_agreement(person: AnnotatorMetrics) -> Finding | str:
    """Test agreement with the others by Student's t over queries, one-sided; see `OthersAgreement.p`."""
    agreement = person.agreement
    if agreement is None or agreement.p is None or agreement.kappa is None:
        return (agreement and agreement.undefined) or NO_OTHERS
    interval = ""
    if agreement.low is not None and agreement.high is not None:
        interval = f"95 % interval {interval_text(agreement.low, agreement.high, 2)}, "
    comparison = "far less than theirs with each other"
    if agreement.high is not None and agreement.high < 0:
        comparison = "less than chance would"
    elif agreement.low is None or agreement.low <= 0:
        comparison = "no better than chance would"
    return Finding(
        "agreement",
        f"Grades agree with the others' on the same pairs {comparison}: weighted kappa "
        f"{decimal(agreement.kappa, 2)} ({interval}{pluralize(agreement.pairs, 'pair')} of "
        f"{pluralize(agreement.queries, 'query', 'queries')}), among the others "
        f"{decimal(agreement.others, 2)}. Grade some of these pairs together, with the guide open. A "
        "scale read upside down or a misunderstood task can be the reason.",
        agreement._asdict(),
    )


def _test_one_grade(person: AnnotatorMetrics) -> Finding | str:
    """Test by an exact permutation of each pair's grades; see `ModalGrade.p`.

    An annotator who follows the others' grades gets no finding, even if nearly all pairs have one grade.
    """
    modal = person.modal
    if not isinstance(modal, ModalGrade):
        return modal or "no grades were read"
    follows = person.agreement is not None and person.agreement.follows
    return Finding(
        "one grade",
        f"Look at these together: {person.annotator} gave grade {modal.grade} to {modal.times:,} of "
        f"{pluralize(modal.pairs, 'pair')}; on these others gave it {modal.others_times:,} times of "
        f"{modal.others_grades:,}. A different reading of the guide can be the reason.",
        modal._asdict() | {"p": 1.0 if follows else modal.p},
    )


def _test_speed(person: AnnotatorMetrics) -> Finding | str:
    """Test the share of fast answers by an exact binomial test, one-sided, against `USUAL_FAST`."""
    fast = person.fast
    if not isinstance(fast, FastAnswers):
        return fast or "no times were read"
    limit = f"less than {MIN_SECONDS:g} second; there are too few others to compare with"
    if fast.compared:
        limit = (
            f"less than a third of the time that others take over texts as long, {fast.below_second:,} of "
            f"them in less than {MIN_SECONDS:g} second; of the others' answers, {fast.others_fast:,} of "
            f"{fast.others_answers:,} did"
        )
    reason = "Practice or easy pairs can be the reason."
    if fast.median < MIN_SECONDS:
        reason = f"Half of the answers took {fast.median:.1f} seconds or less: nobody reads at this pace."
    return Finding(
        "speed",
        f"Look at these together: {fast.fast:,} of {pluralize(fast.answers, 'answer')} of {person.annotator} "
        f"came in {limit}. {reason}",
        fast._asdict() | {"p": float(bdtrc(fast.fast - 1, fast.answers, USUAL_FAST))},
    )


def _test_bias(person: AnnotatorMetrics) -> Finding | str:
    """Test the bias by Student's t over queries; see `mean_p`."""
    bias = person.bias
    if bias is None or bias.bias is None or bias.bias_p is None:
        return (bias and bias.undefined) or NO_OTHERS
    interval = ""
    if bias.low is not None and bias.high is not None:
        interval = f"{interval_text(bias.low, bias.high, 2, '+')}, "
    p = bias.bias_p if abs(bias.bias) >= REMARKABLE else 1.0
    return Finding(
        "bias",
        f"Grades are {abs(bias.bias):.2f} {'higher' if bias.bias > 0 else 'lower'} than the others' or the "
        f"reviewer's on the same pairs ({interval}{pluralize(bias.grades, 'grade')}). Does the guide "
        "allow such a difference?",
        {"bias": bias.bias, "low": bias.low, "high": bias.high, "grades": bias.grades, "p": p},
    )


def _test_drift(person: AnnotatorMetrics) -> Finding | str:
    """Test the drift by a permutation test of the slope over the order of queries."""
    bias = person.bias
    if bias is None or bias.trend is None or bias.trend_p is None:
        return (bias and bias.no_trend) or NO_OTHERS
    return Finding(
        "drift",
        f"Compared with the others, grades have moved by {decimal(bias.trend, 2, '+')} from the first query "
        f"to the last (p {p_text(bias.trend_p)}). Has a reading of the guide changed?",
        {"trend": bias.trend, "queries": bias.queries, "p": bias.trend_p},
    )


AGREEMENT = Signal(
    "agreement",
    "weighted kappa with the others on the same pairs: below half of theirs among themselves",
    _test_agreement,
    yields_to="one grade",
)


ONE_GRADE_THROUGHOUT = Signal(
    "one grade",
    f"one grade on at least {percent(ONE_GRADE_SHARE)} of at least {MIN_ANSWERS} pairs that others graded, "
    "too, more often than the others' grades explain",
    _test_one_grade,
)


SPEED = Signal(
    "speed",
    f"answers in less than {MIN_SECONDS:g} second, or a third of the others' median time over texts as long: "
    f"more than {percent(USUAL_FAST)} of at least {MIN_ANSWERS}",
    _test_speed,
)


DURING_ROUND = (AGREEMENT, ONE_GRADE_THROUGHOUT, SPEED)
"""Signals that are tested while a round is open, because annotators can still correct their work."""


FEEDBACK = (
    *DURING_ROUND,
    Signal("bias", f"mean difference from others' grades: {REMARKABLE:g} or more, and not 0", _test_bias),
    Signal("drift", "slope of the bias over the order of queries: not 0", _test_drift),
)
"""Signals that are tested over all of an annotator's work, the most important first."""
