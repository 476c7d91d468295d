"""Signals: statistical tests of an annotator's work that suggest a conversation.

The tests read the metrics of each annotator. A signal accuses nobody. A signal has a name, a label, and a
function that returns a p value with a sentence and the figures behind the sentence. To add a signal, write
its function and its record in this module, and add the record to `FEEDBACK_SIGNALS`.

Some signals ask similar questions but remain separate:

- `agreement` asks whether grades follow the others' grades, `one grade` asks whether grades vary, and `bias`
  asks whether grades are higher or lower. A finding of `one grade` replaces a finding of `agreement`.
- `speed` asks whether answers came too quickly for reading the text; this signal needs times and no grades.

Five tests would give five times as many false findings, so all tests that are read together are corrected
together by the rule of Benjamini and Hochberg. The module `feedback` corrects all tests of one annotator
together, and the module `round_findings` corrects the early warnings of a round.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from scipy.special import bdtrc

from curation.agreement.annotator_metrics import AnnotatorMetrics, Finding
from curation.agreement.fast_answers import MIN_ANSWERS, FastAnswers
from curation.agreement.modal_grade import ONE_GRADE_SHARE, ModalGrade
from curation.core.statistics.multiple_tests import find_fdr_threshold
from curation.core.text import decimal, interval_text, p_text, percent, pluralize
from curation.labeling.rounds.pace import MIN_SECONDS

MIN_BIAS = 0.1
"""Minimum bias, in grades, that is worth a conversation."""
QUICK_READER_SHARE = 0.25
"""Quick readers give at most this share of fast answers."""
NO_OTHERS = "there are no other annotators' grades to compare with"


class Signal(NamedTuple):
    """A signal: a statistical test of one annotator's metrics, such as bias or speed.

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
    """The results of all signals, which are statistical tests, for all annotators.

    Attributes
    ----------
    findings: annotator and finding, ordered by annotator and signal.
    not_checked: signal, annotator and reason of each test that could not be made.
    tests: number of tests that were made.
    """

    findings: tuple[tuple[str, Finding], ...]
    not_checked: tuple[tuple[str, str, str], ...]
    tests: int = 0


def run_signals(
    annotators: Sequence[AnnotatorMetrics], signals: Sequence[Signal], share: float
) -> SignalResults:
    """Test each annotator for every signal, and return the findings that are significant among all tests.

    Parameters
    ----------
    share: accepted share of false findings among the tests.
    """
    tests: dict[tuple[str, str], Finding] = {}
    not_checked = []
    for metrics in annotators:
        for signal in signals:
            outcome = signal.test(metrics)
            if isinstance(outcome, Finding):
                tests[metrics.annotator, signal.name] = outcome
            else:
                not_checked.append((signal.name, metrics.annotator, outcome))
    threshold = find_fdr_threshold([finding.evidence["p"] for finding in tests.values()], share)
    significant = {key: finding for key, finding in tests.items() if finding.evidence["p"] <= threshold}
    yields_to = {signal.name: signal.yields_to for signal in signals}
    findings = tuple(
        (annotator, finding)
        for (annotator, name), finding in significant.items()
        if (annotator, yields_to[name]) not in significant
    )
    return SignalResults(findings, tuple(not_checked), len(tests))


def _test_agreement(metrics: AnnotatorMetrics) -> Finding | str:
    """Test agreement with the others by Student's t over queries, one-sided; see `OthersAgreement.p`."""
    agreement = metrics.agreement
    if agreement is None or agreement.p is None or agreement.kappa is None:
        return (agreement and agreement.undefined) or NO_OTHERS
    interval = ""
    if agreement.low is not None and agreement.high is not None:
        interval = f"95 % interval {interval_text(agreement.low, agreement.high, 2)}, "
    comparison = "far less than the others agree with each other"
    if agreement.high is not None and agreement.high < 0:
        comparison = "worse than chance"
    elif agreement.low is None or agreement.low <= 0:
        comparison = "no better than chance"
    return Finding(
        "agreement",
        f"The annotator's grades agree with the others' on the same pairs {comparison}: weighted kappa "
        f"{decimal(agreement.kappa, 2)} ({interval}{pluralize(agreement.pairs, 'pair')} of "
        f"{pluralize(agreement.queries, 'query', 'queries')}), and among the other annotators "
        f"{decimal(agreement.others, 2)}. Grade some of these pairs together, with the guide open. A "
        "reversed scale or a misunderstood task can be the reason.",
        agreement._asdict(),
    )


def _test_one_grade(metrics: AnnotatorMetrics) -> Finding | str:
    """Test the most frequent grade by an exact permutation of each pair's grades; see `ModalGrade.p`.

    An annotator who follows the others' grades gets no finding, even if nearly all pairs have one grade.
    """
    modal = metrics.modal
    if not isinstance(modal, ModalGrade):
        return modal or "no grades were read"
    follows = metrics.agreement is not None and metrics.agreement.follows
    return Finding(
        "one grade",
        f"Look at these together: {metrics.annotator} gave grade {modal.grade} to {modal.times:,} of "
        f"{pluralize(modal.pairs, 'pair')}; on these pairs, others gave it {modal.others_times:,} times of "
        f"{modal.others_grades:,}. A different reading of the guide can be the reason.",
        modal._asdict() | {"p": 1.0 if follows else modal.p},
    )


def _test_speed(metrics: AnnotatorMetrics) -> Finding | str:
    """Test the share of fast answers by an exact binomial test, one-sided, against `QUICK_READER_SHARE`."""
    fast = metrics.fast
    if not isinstance(fast, FastAnswers):
        return fast or "no times were read"
    time_limit = f"less than {MIN_SECONDS:g} second; there are too few others to compare with"
    if fast.compared:
        time_limit = (
            "less than a third of the time that others take for texts of the same length, "
            f"{fast.below_second:,} of them in less than {MIN_SECONDS:g} second (others: "
            f"{fast.others_fast:,} of {fast.others_answers:,})"
        )
    reason = "The reason can be experience, or easy pairs."
    if fast.median < MIN_SECONDS:
        reason = (
            f"Half of the answers took {fast.median:.1f} seconds or less, which is too short to read the "
            "documents."
        )
    return Finding(
        "speed",
        f"Look at these together: {fast.fast:,} of {pluralize(fast.answers, 'answer')} of "
        f"{metrics.annotator} came in {time_limit}. {reason}",
        fast._asdict() | {"p": float(bdtrc(fast.fast - 1, fast.answers, QUICK_READER_SHARE))},
    )


def _test_bias(metrics: AnnotatorMetrics) -> Finding | str:
    """Test an annotator's bias by Student's t over queries; see `mean_p`."""
    bias = metrics.bias
    if bias is None or bias.bias is None or bias.bias_p is None:
        return (bias and bias.undefined) or NO_OTHERS
    interval = ""
    if bias.low is not None and bias.high is not None:
        interval = f"{interval_text(bias.low, bias.high, 2, '+')}, "
    p = bias.bias_p if abs(bias.bias) >= MIN_BIAS else 1.0
    return Finding(
        "bias",
        f"The annotator's grades are {abs(bias.bias):.2f} {'higher' if bias.bias > 0 else 'lower'} than the "
        f"others' or the reviewer's on the same pairs ({interval}{pluralize(bias.grades, 'grade')}). Does "
        "the guide allow such a difference?",
        {"bias": bias.bias, "low": bias.low, "high": bias.high, "grades": bias.grades, "p": p},
    )


def _test_drift(metrics: AnnotatorMetrics) -> Finding | str:
    """Test the drift of an annotator's bias by a permutation test of the slope over the order of queries."""
    bias = metrics.bias
    if bias is None or bias.trend is None or bias.trend_p is None:
        return (bias and bias.no_trend) or NO_OTHERS
    return Finding(
        "drift",
        f"Compared with the others, this annotator's grades have shifted by {decimal(bias.trend, 2, '+')} "
        f"from the first query to the last (p {p_text(bias.trend_p)}). Ask whether the annotator reads "
        "the guide differently now.",
        {"trend": bias.trend, "queries": bias.queries, "p": bias.trend_p},
    )


AGREEMENT = Signal(
    "agreement",
    "weighted kappa with the others is below half of the others' kappa with each other",
    _test_agreement,
    yields_to="one grade",
)


ONE_GRADE_THROUGHOUT = Signal(
    "one grade",
    f"one grade on at least {percent(ONE_GRADE_SHARE)} of at least {MIN_ANSWERS} pairs that others "
    "graded, too, too, more often than the others' grades explain",
    _test_one_grade,
)


SPEED = Signal(
    "speed",
    f"answers in less than {MIN_SECONDS:g} second, or a third of the others' median time for texts of the "
    f"same length: more than {percent(QUICK_READER_SHARE)} of at least {MIN_ANSWERS}",
    _test_speed,
)


ROUND_SIGNALS = (AGREEMENT, ONE_GRADE_THROUGHOUT, SPEED)
"""Signals that are tested while a round is open, when annotators can still correct their work."""


FEEDBACK_SIGNALS = (
    *ROUND_SIGNALS,
    Signal(
        "bias",
        f"mean difference from the others' grades is {MIN_BIAS:g} or more, and significantly different "
        "from 0",
        _test_bias,
    ),
    Signal("drift", "the bias changes significantly from the first query to the last", _test_drift),
)
"""Signals that are tested over all of an annotator's work, the most important first."""
