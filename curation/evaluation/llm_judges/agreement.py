"""The agreement of a judge with people, next to the agreement of people among each other.

A judge is a model or a program, not a person. The judge's grade and the consensus grade of one text are two
judgments of one pair. All figures are therefore the same as between two annotators, with intervals by
bootstrap over queries. Next to each figure is the agreement of people among each other on the pairs that the
judge and people graded, because a judge can hardly agree with people more than people agree with each other.

People's grades come from the live project, or from the open parts of a release. In the live project, pairs of
queries that a release seals are left out, no matter who asks. Without this rule, a judge whose grades are
guesses could reveal sealed grades by its confusion table, and a prompt could be tuned on the test set. In a
release, the parts that are not sealed count. A sealed part counts only if the request names the part and a
reason, which is logged.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from curation.agreement import breakdowns, inter_annotator
from curation.agreement.breakdowns import AnnotatorPair, Breakdown
from curation.agreement.coefficients import COEFFICIENTS, count_confusion
from curation.agreement.grades import count_values, make_grades
from curation.agreement.inter_annotator import Judgeable
from curation.core.errors import RefusedError
from curation.core.reports.tables import Table
from curation.core.statistics.arrays import Floats, Ints, ratio
from curation.core.statistics.estimate import Estimate
from curation.core.statistics.intervals import MINIMUM_QUERIES, RESAMPLES, Sums, resample_figures
from curation.core.text import describe_left_out, pluralize
from curation.evaluation.llm_judges import human_grades
from curation.evaluation.llm_judges.human_grades import HumanGrades, PairKey
from curation.evaluation.llm_judges.imported import JudgeJudgment, read_judge_judgments, require_judge
from curation.guides.grade_meanings import group_equivalent_guides
from curation.guides.guide import current_guide
from curation.store import COMMAND_LINE, Store

CONSENSUS, JUDGE = "consensus", "judge"
KAPPA = "cohen_quadratic"
_LABELS = {measure.name: measure.label for measure in COEFFICIENTS} | {KAPPA: "Cohen's kappa, quadratic"}
ONLY_PAIRS = "Cohen's kappa compares two people; `goldgrade agreement --breakdown pair` shows each pair"
NEVER_GIVEN = "people gave this grade to no pair"
FEW_PAIRS = "the judge and people share too few pairs"


class JudgedGrade(NamedTuple):
    """Shares of the judge's grades among the pairs with the same grade by people, with intervals."""

    grade: int
    pairs: int
    same: Estimate
    lower: Estimate
    higher: Estimate


@dataclass(frozen=True)
class JudgeAgreement:
    """The agreement of a judge with people.

    Attributes
    ----------
    release, parts: the source of people's grades; None and () for the live project.
    figures: name → figure of the judge against the consensus, and figure of people among each other on the
        same pairs, for each of `COEFFICIENTS` and Cohen's kappa.
    difference: the judge's grade minus people's grade, the mean in steps of the scale.
    confusion: numbers of pairs by people's grade (row) and the judge's grade (column), in the order of the
        scale.
    grades: shares of the judge's grades for each grade by people.
    types, boundaries: figures by query type, and by grade boundary.
    judgeable: the agreement on whether a pair can be judged at all.
    coverage: numbers of pairs by case. The judge judged `judged` pairs in any version, without `sealed` and
        `elsewhere`. `compared` pairs, of `queries` queries, have grades by the judge and by people. Nobody
        judged `ungraded` pairs, and people's judgments of `without_grade` pairs led to no grade. The judge
        could not grade `cannot_tell` pairs, judged `older` pairs in a different version of the document, and
        did not judge `not_judged` pairs. `other_guide` of the compared pairs were judged under a guide that
        is not current. `sealed` pairs have queries with sealed grades, `elsewhere` pairs have queries outside
        the parts.
    left_out: reason → number of pairs.
    """

    judge: str
    release: str | None
    parts: tuple[str, ...]
    scale: tuple[int, ...]
    seed: int
    figures: dict[str, tuple[Estimate, Estimate]]
    difference: Estimate
    confusion: tuple[tuple[int, ...], ...]
    grades: tuple[JudgedGrade, ...]
    types: tuple[Breakdown, ...]
    boundaries: tuple[Breakdown, ...]
    judgeable: Judgeable
    coverage: dict[str, int]
    left_out: dict[str, int]

    @property
    def sentences(self) -> list[str]:
        """Sentences on the difference of grades, on the compared pairs, and on the pairs that were left
        out."""
        counts, lines = self.coverage, []
        mean, low, high = _show_figure(self.difference)
        if mean is not None and low is not None:
            interval = f"(95 % interval {low:+.3f} to {high:+.3f})"
            lines.append(f"The judge's grade minus people's: {mean:+.3f} steps {interval}.")
        lines.append(
            f"Compared: {pluralize(counts['compared'], 'pair')} of "
            f"{pluralize(counts['queries'], 'query', 'queries')}. The judge graded "
            f"{pluralize(counts['judged'], 'pair')}; no person graded {counts['ungraded']:,} of these pairs. "
            f"People's grades without the judge's: {counts['not_judged']:,}."
        )
        reasons = {
            "the judge could not tell": counts["cannot_tell"],
            "people's judgments led to no grade": counts["without_grade"],
            "judged by the judge in another version of the document": counts["older"],
            "a release seals the grades of the query (--release, --part and --reason)": counts["sealed"],
            "the query is in none of the compared parts": counts["elsewhere"],
            **self.left_out,
        }
        lines += describe_left_out({why: number for why, number in reasons.items() if number}, "pairs")
        if counts["other_guide"]:
            number = counts["other_guide"]
            lines.append(f"{number:,} of the compared pairs were judged under a guide that is not current.")
        return lines

    @property
    def tables(self) -> tuple[Table, ...]:
        """Tables of the judge's figures next to people's, of the confusion, and of the breakdowns."""
        where = f"the release {self.release}, {', '.join(self.parts)}" if self.release else "the project"
        figures = []
        for name, (judge, people) in self.figures.items():
            note = inter_annotator.why_not_shown(judge) or judge.why or ""
            figures.append((_LABELS[name], *_show_figure(judge), *_show_figure(people), note))
        confusion = []
        for grade, counts in zip(self.grades, self.confusion, strict=True):
            lower, higher = (_show_figure(share)[0] for share in (grade.lower, grade.higher))
            confusion.append((grade.grade, *counts, *_show_figure(grade.same), lower, higher))
        breakdown_rows = []
        for part in (*self.types, *self.boundaries):
            shown = (*_show_figure(part.alpha), _show_figure(part.raw)[0])
            breakdown_rows.append((f"{part.kind}: {part.name}", *shown, part.alpha.n, part.queries))
        judged = (f"judge {value}" for value in self.scale)
        return (
            Table(
                f"{self.judge} against the consensus of {where}; people among each other",
                ("statistic", "judge", "low", "high", "people", "low", "high", "note"),
                tuple(figures),
            ),
            Table(
                "Pairs by people's grade and the judge's, and shares of each row",
                ("people", *judged, "same", "low", "high", "lower", "higher"),
                tuple(confusion),
            ),
            Table(
                "By query type and grade boundary",
                ("part", "alpha", "low", "high", "same", "pairs", "queries"),
                tuple(breakdown_rows),
            ),
        )


def _show_figure(estimate: Estimate) -> tuple[float | None, float | None, float | None]:
    """Return the figure and its interval, or None for figures that are not shown."""
    return (None, None, None) if inter_annotator.why_not_shown(estimate) else estimate[:3]


def measure_judge_agreement(
    store: Store,
    judge: str,
    release: str | None = None,
    split: str | None = None,
    reason: str | None = None,
    seed: int = 0,
    actor: str = COMMAND_LINE,
) -> JudgeAgreement:
    """Compare a judge with people: on the live project, or on parts of a release.

    Parameters
    ----------
    split: a part of the release or 'all'; None is all parts that are not sealed.
    reason: the reason for using grades of sealed parts, which is logged.

    Raises
    ------
    InputError: the release lacks this part.
    NotFoundError: no judge or release has this name.
    RefusedError: no pair has grades by the judge and by people; grades are outside the guide's scale; sealed
        grades are used without a reason.
    """
    with store.reading() as cursor:
        require_judge(cursor, judge)
    if release is not None:
        purpose = f"compare the judge {judge}"
        people = human_grades.read_release_grades(store, release, split, purpose, reason, actor)
    with store.reading() as cursor:
        judgments = read_judge_judgments(cursor, judge)
        group_of = group_equivalent_guides(cursor)
        current_group = group_of[current_guide(cursor).guide_hash]
        current_guides = {guide for guide, group in group_of.items() if group == current_group}
        if release is None:
            people = human_grades.read_live_grades(cursor)
    judge_grades, coverage = _compare_pairs(people, judgments, current_guides)
    both = {
        pair: (human_grade, grade)
        for pair, grade in judge_grades.items()
        if (human_grade := people.consensus[pair]) is not None and grade is not None
    }
    if not both:
        raise RefusedError(_explain_nothing_to_compare(judge, coverage))
    rows: list[tuple[str, str, str, int | None]] = []
    for pair, grade in judge_grades.items():
        rows += [(*pair, CONSENSUS, people.consensus[pair]), (*pair, JUDGE, grade)]
    grades = make_grades(rows)
    overall = inter_annotator.compute_agreement(grades, people.scale, seed)
    annotator_pair = next(iter(breakdowns.compare_annotator_pairs(grades, people.scale, seed)[0]), None)
    types, boundaries = breakdowns.compute_breakdowns(grades, people.scale, people.types, seed)
    return JudgeAgreement(
        judge=judge,
        release=people.release,
        parts=people.parts,
        scale=people.scale,
        seed=seed,
        figures=_pair_figures_with_people(overall.figures, annotator_pair, people, both, seed),
        difference=annotator_pair.difference if annotator_pair else Estimate(n=len(both), why=FEW_PAIRS),
        confusion=count_confusion(both.values(), people.scale),
        grades=_compute_grade_shares(both, people.scale, seed),
        types=types,
        boundaries=boundaries,
        judgeable=overall.judgeable,
        coverage=coverage,
        left_out=dict(people.left_out),
    )


def _compare_pairs(
    people: HumanGrades, judgments: Sequence[JudgeJudgment], current_guides: Collection[str]
) -> tuple[dict[PairKey, int | None], dict[str, int]]:
    """Find the judge's grade of people's version of each pair (None for cannot-tell), and count all cases."""
    same_version: dict[PairKey, JudgeJudgment] = {}
    judged: set[PairKey] = set()
    sealed: set[PairKey] = set()
    elsewhere: set[PairKey] = set()
    for row in judgments:
        pair = (row.query_id, row.document_id)
        if row.query_id in people.sealed:
            sealed.add(pair)
        elif people.query_ids is not None and row.query_id not in people.query_ids:
            elsewhere.add(pair)
        else:
            judged.add(pair)
        if people.versions.get(pair) == row.content_hash:
            same_version[pair] = row
    known = judged & people.consensus.keys()
    graded = {pair for pair, grade in people.consensus.items() if grade is not None}
    both = {pair for pair in graded & same_version.keys() if same_version[pair].grade is not None}
    coverage = {
        "judged": len(judged),
        "compared": len(both),
        "queries": len({query for query, _ in both}),
        "ungraded": len(judged - known),
        "without_grade": len(known - graded),
        "cannot_tell": len((graded & same_version.keys()) - both),
        "older": len((known & graded) - same_version.keys()),
        "not_judged": len(graded - judged),
        "other_guide": sum(same_version[pair].guide_hash not in current_guides for pair in both),
        "sealed": len(sealed),
        "elsewhere": len(elsewhere),
    }
    return {pair: same_version[pair].grade for pair in sorted(same_version)}, coverage


def _pair_figures_with_people(
    judge: Mapping[str, Estimate],
    annotator_pair: AnnotatorPair | None,
    people: HumanGrades,
    both: Collection[PairKey],
    seed: int,
) -> dict[str, tuple[Estimate, Estimate]]:
    human_grades = people.select_grades(both)
    basis = inter_annotator.find_overlap(count_values(human_grades, people.scale), human_grades.unit_queries)
    human_figures = inter_annotator.estimate_coefficients(basis, people.scale, COEFFICIENTS, seed, RESAMPLES)
    figures = {name: (judge[name], human_figures[name]) for name in _LABELS if name != KAPPA}
    kappa = annotator_pair.kappa if annotator_pair else Estimate(n=len(both), why=FEW_PAIRS)
    return figures | {KAPPA: (kappa, Estimate(why=ONLY_PAIRS))}


def _compute_grade_shares(
    both: Mapping[PairKey, tuple[int, int]], scale: Sequence[int], seed: int
) -> tuple[JudgedGrade, ...]:
    """Compute the shares of pairs with an equal, a lower and a higher grade by the judge; resamples draw all
    compared queries.
    """
    queries, index = np.unique([query for query, _ in both], return_inverse=True)
    steps = np.searchsorted(scale, np.asarray(list(both.values())))
    count = len(queries)
    return tuple(_judge_grade(value, step, steps, index, count, seed) for step, value in enumerate(scale))


def _judge_grade(value: int, step: int, steps: Ints, index: Ints, queries: int, seed: int) -> JudgedGrade:
    graded_pairs = steps[:, 0] == step
    gaps = steps[:, 1] - step
    cases = (graded_pairs, graded_pairs & (gaps == 0), graded_pairs & (gaps < 0), graded_pairs & (gaps > 0))
    counts = np.stack([np.bincount(index[case], minlength=queries) for case in cases], axis=1).astype(float)
    graded = np.flatnonzero(counts[:, 0])
    pairs = int(graded_pairs.sum())
    values: Floats = np.full((0, 3), np.nan)
    if len(graded) >= MINIMUM_QUERIES:
        (values,) = resample_figures([Sums(graded, counts[graded], _to_shares)], queries, seed, RESAMPLES)
    points = _to_shares(counts.sum(axis=0, keepdims=True))[0]
    same, lower, higher = (
        inter_annotator.make_estimate(float(point), resamples, pairs, len(graded), NEVER_GIVEN)
        for point, resamples in zip(points, values.T, strict=True)
    )
    return JudgedGrade(value, pairs, same, lower, higher)


def _to_shares(sums: Floats) -> Floats:
    return ratio(sums[:, 1:], sums[:, :1])


def _explain_nothing_to_compare(judge: str, coverage: Mapping[str, int]) -> str:
    remark = ""
    if coverage["older"]:
        remark += f" {coverage['older']:,} pairs are about a different version of the document."
    if coverage["sealed"]:
        remark += f" {coverage['sealed']:,} more pairs belong to queries with sealed grades."
    return (
        f"Nothing to compare: of the {pluralize(coverage['judged'], 'pair')} that the judge {judge} judged "
        f"here, none has a grade by people.{remark} People grade pairs in a round (`goldgrade round "
        "open`), or their judgments are imported without --judge."
    )
