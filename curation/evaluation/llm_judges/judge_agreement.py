"""A judge's agreement with people, as statistics, sentences and tables."""

from __future__ import annotations

from dataclasses import dataclass

from curation.agreement import inter_annotator
from curation.agreement.coefficients import COEFFICIENTS
from curation.core.reports.tables import Table
from curation.core.statistics.estimate import Estimate
from curation.core.text import decimal, describe_left_out, pluralize
from curation.evaluation.llm_judges.judge_checks import JudgeChecks

KAPPA = "cohen_quadratic"
CLOSE_ALPHA = 0.1
"""Largest distance of the interval's lower end below people's alpha for a judge "as reliable as" people."""
_LABELS = {measure.name: measure.label for measure in COEFFICIENTS} | {KAPPA: "Cohen's kappa, quadratic"}


@dataclass(frozen=True)
class JudgeAgreement:
    """A judge's agreement with people, as computed by the module `measure_agreement`.

    Attributes
    ----------
    figures: name → figure of the judge against the consensus, and figure of people among each other on the
        same pairs, for each of `COEFFICIENTS` and Cohen's kappa.
    difference: the judge's grade minus people's grade, the mean in steps of the scale.
    confusion: numbers of pairs by people's grade (row) and the judge's grade (column), in the order of the
        scale.
    checks: consistency, length bias, and bias by kind of query.
    coverage: numbers of pairs by case. The judge judged `judged` pairs in any version, without `sealed`.
        `compared` pairs, of `queries` queries, have grades by the judge and by people. Nobody
        judged `ungraded` pairs, and people's judgments of `without_grade` pairs led to no grade. The judge
        could not grade `cannot_tell` pairs, judged `older` pairs in a different version of the document, and
        did not judge `not_judged` pairs. `other_guide` of the compared pairs were judged under a guide that
        is not current. `sealed` pairs have queries with sealed grades.
    """

    judge: str
    scale: tuple[int, ...]
    seed: int
    figures: dict[str, tuple[Estimate, Estimate]]
    difference: Estimate
    confusion: tuple[tuple[int, ...], ...]
    checks: JudgeChecks
    coverage: dict[str, int]

    @property
    def sentences(self) -> list[str]:
        """Describe in sentences how the judge's grades differ from people's, how many pairs were compared,
        and how many were left out."""
        counts = self.coverage
        lines = [self.verdict, *self.checks.own.sentences]
        mean, low, high = _show_figure(self.difference)
        if mean is not None and low is not None:
            interval = f"(95 % interval {low:+.3f} to {high:+.3f})"
            lines.append(
                f"On average, the judge's grade minus people's grade is {mean:+.3f} steps {interval}."
            )
        lines.append(
            f"Compared: {pluralize(counts['compared'], 'pair')} of "
            f"{pluralize(counts['queries'], 'query', 'queries')}. The judge graded "
            f"{pluralize(counts['judged'], 'pair')}; no person graded {counts['ungraded']:,} of these "
            f"pairs. People graded {counts['not_judged']:,} pairs that the judge did not grade."
        )
        reasons = {
            "the judge could not tell": counts["cannot_tell"],
            "people's judgments led to no grade": counts["without_grade"],
            "judged on another version of the document": counts["older"],
            "sealed by a release": counts["sealed"],
        }
        lines += describe_left_out({why: number for why, number in reasons.items() if number}, "pairs")
        if counts["other_guide"]:
            number = counts["other_guide"]
            lines.append(
                f"{number:,} of the compared pairs were judged under an earlier version of the guide."
            )
        return lines

    @property
    def verdict(self) -> str:
        """Say in one sentence how reliable the judge is, compared with people, and where the judge is
        biased."""
        alpha, human = self.figures["ordinal"]
        words = f"{self.judge} agrees with people's consensus (alpha {decimal(alpha.value, 2)})"
        if human.value is None or alpha.low is None or alpha.high is None:
            words += ", but too few pairs were judged by several people to compare it with people"
        else:
            figures = f"(alpha {decimal(alpha.value, 2)} against {decimal(human.value, 2)})"
            reliable = "perhaps as reliable as"
            if alpha.high < human.value:
                reliable = "less reliable than"
            elif alpha.low >= human.value - CLOSE_ALPHA:
                reliable = "as reliable as"
            words = f"{self.judge} is {reliable} human annotators {figures}"
        where = f" on {self.checks.group} than on other queries"
        biases = [("too kind", "too strict", "", self.difference)]
        biases.append(("kinder", "stricter", where, self.checks.group_bias))
        for kind, strict, where, bias in biases:
            if bias.value is not None and excludes_zero(bias):
                words += f", {decimal(abs(bias.value), 2)} grades {kind if bias.value > 0 else strict}{where}"
        length = self.checks.length
        if length.value is not None and excludes_zero(length):
            words += f", and {'kinder' if length.value > 0 else 'stricter'} on longer documents"
        return f"{words}."

    @property
    def tables(self) -> tuple[Table, ...]:
        """Make tables of the judge's agreement next to people's, of the checks, and of confusions."""
        figures = []
        for name, (judge, people) in self.figures.items():
            note = inter_annotator.why_not_shown(judge) or judge.why or ""
            figures.append((_LABELS[name], *_show_figure(judge), *_show_figure(people), note))
        caption = f"Agreement of {self.judge} with the consensus, and of people with each other"
        columns = ("statistic", "judge", "low", "high", "people", "low", "high", "note")
        confusion = tuple((grade, *row) for grade, row in zip(self.scale, self.confusion, strict=True))
        judged = (f"judge {value}" for value in self.scale)
        confusion_table = Table("Pairs by people's grade and the judge's", ("people", *judged), confusion)
        return (Table(caption, columns, tuple(figures)), self.checks.table, confusion_table)


def excludes_zero(estimate: Estimate) -> bool:
    """Return whether an estimate's interval excludes 0."""
    return estimate.low is not None and estimate.high is not None and not estimate.low <= 0 <= estimate.high


def _show_figure(estimate: Estimate) -> tuple[float | None, float | None, float | None]:
    """Return an estimate and its interval, or None if the estimate is not shown."""
    return (None, None, None) if inter_annotator.why_not_shown(estimate) else estimate[:3]
