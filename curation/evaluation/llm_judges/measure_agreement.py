"""The measurement of a judge's agreement with people, next to people's agreement with each other.

A judge is a model or a program. The judge's grade and people's consensus grade of one text are two judgments
of one pair, so agreement is computed as between two annotators, with intervals by bootstrap over queries.
Next to it is people's agreement with each other on the same pairs, because a judge can hardly agree with
people more than people do.

Queries that a release seals are left out, no matter who asks: otherwise the confusion table of guessed grades
could reveal sealed grades, and a prompt could be tuned on the test set.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from curation.agreement import inter_annotator
from curation.agreement.annotator_pairs import compare_annotator_pairs
from curation.agreement.coefficients import COEFFICIENTS, count_confusion
from curation.agreement.grades import count_values, make_grades
from curation.core.errors import RefusedError
from curation.core.statistics.estimate import Estimate
from curation.core.text import pluralize
from curation.evaluation.llm_judges.human_grades import HumanGrades, read_live_grades
from curation.evaluation.llm_judges.judge_agreement import KAPPA, JudgeAgreement
from curation.evaluation.llm_judges.judge_checks import (
    OwnAnswers,
    check_judge,
    read_lengths,
    read_own_answers,
)
from curation.evaluation.llm_judges.judge_judgments import JudgeJudgment, read_judge_judgments, require_judge
from curation.evaluation.scoring.evidence import Pair, PairGrades
from curation.guides.grade_meanings import group_equivalent_guides
from curation.guides.guide import current_guide
from curation.store import Cursor, Store

CONSENSUS, JUDGE = "consensus", "judge"
ONLY_PAIRS = "Cohen's kappa compares two people; `goldgrade agreement --breakdown pair` shows each pair"
FEW_PAIRS = "the judge and people share too few pairs"


def measure_judge_agreement(store: Store, judge: str, seed: int = 0) -> JudgeAgreement:
    """Compare a judge with people in the live project.

    Raises
    ------
    NotFoundError: no judge has this name.
    RefusedError: no pair has grades by the judge and by people; grades are outside the guide's scale.
    """
    with store.reading() as cursor:
        require_judge(cursor, judge)
        people = read_live_grades(cursor)
        judgments = read_judge_judgments(cursor, judge)
        current_guides = _find_current_guides(cursor)
    judge_grades, coverage = match_pairs(people, judgments, current_guides)
    with store.reading() as cursor:
        own = read_own_answers(cursor, judge)
        lengths = read_lengths(cursor, [people.versions[pair] for pair in judge_grades])
    return _compare_with_people(judge, people, judge_grades, coverage, seed, own, lengths)


def _find_current_guides(cursor: Cursor) -> set[str]:
    """Find the hashes of the current guide and of guides whose grades mean the same."""
    group_of = group_equivalent_guides(cursor)
    current_group = group_of[current_guide(cursor).guide_hash]
    return {guide for guide, group in group_of.items() if group == current_group}


def _compare_with_people(
    judge: str,
    people: HumanGrades,
    judge_grades: PairGrades,
    coverage: dict[str, int],
    seed: int,
    own: OwnAnswers,
    lengths: Mapping[str, int],
) -> JudgeAgreement:
    """Compare a judge with people's consensus, as if they were two annotators."""
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
    annotator_pairs, *_ = compare_annotator_pairs(grades, people.scale, seed)
    kappa = difference = Estimate(n=len(both), why=FEW_PAIRS)
    if annotator_pairs:
        kappa, difference = annotator_pairs[0].kappa, annotator_pairs[0].difference
    return JudgeAgreement(
        judge=judge,
        scale=people.scale,
        seed=seed,
        figures=_pair_figures_with_people(overall.figures, kappa, people, both, seed),
        difference=difference,
        confusion=count_confusion(both.values(), people.scale),
        checks=check_judge(
            both, people.scale, [lengths[people.versions[pair]] for pair in both], people.types, own, seed
        ),
        coverage=coverage,
    )


def match_pairs(
    people: HumanGrades, judgments: Sequence[JudgeJudgment], current_guides: Collection[str]
) -> tuple[dict[Pair, int | None], dict[str, int]]:
    """Map each pair to the judge's grade for the document version that people judged, and count the pairs
    that can and cannot be compared, by reason.

    A grade is None if the judge could not tell. `JudgeAgreement.coverage` explains the cases.
    """
    same_version: dict[Pair, JudgeJudgment] = {}
    judged: set[Pair] = set()
    sealed: set[Pair] = set()
    for row in judgments:
        pair = (row.query_id, row.document_id)
        if row.query_id in people.sealed:
            sealed.add(pair)
        else:
            judged.add(pair)
        if people.versions.get(pair) == row.content_hash:
            same_version[pair] = row
    judged_by_both = judged & people.consensus.keys()
    graded = {pair for pair, grade in people.consensus.items() if grade is not None}
    both = {pair for pair in graded & same_version.keys() if same_version[pair].grade is not None}
    coverage = {
        "judged": len(judged),
        "compared": len(both),
        "queries": len({query for query, _ in both}),
        "ungraded": len(judged - judged_by_both),
        "without_grade": len(judged_by_both - graded),
        "cannot_tell": len((graded & same_version.keys()) - both),
        "older": len((judged_by_both & graded) - same_version.keys()),
        "not_judged": len(graded - judged),
        "other_guide": sum(same_version[pair].guide_hash not in current_guides for pair in both),
        "sealed": len(sealed),
    }
    return {pair: same_version[pair].grade for pair in sorted(same_version)}, coverage


def _pair_figures_with_people(
    judge: Mapping[str, Estimate], kappa: Estimate, people: HumanGrades, both: Collection[Pair], seed: int
) -> dict[str, tuple[Estimate, Estimate]]:
    """Add people's agreement with each other to the judge's agreement with people, on the same pairs."""
    annotator_grades = people.select_grades(both)
    grade_counts = count_values(annotator_grades, people.scale)
    basis = inter_annotator.find_overlap(grade_counts, annotator_grades.unit_queries)
    human_figures = inter_annotator.estimate_coefficients(basis, people.scale, seed)
    names = [coefficient.name for coefficient in COEFFICIENTS]
    figures = {name: (judge[name], human_figures[name]) for name in names}
    return figures | {KAPPA: (kappa, Estimate(why=ONLY_PAIRS))}


def _explain_nothing_to_compare(judge: str, coverage: Mapping[str, int]) -> str:
    remark = ""
    if coverage["older"]:
        remark += f" {coverage['older']:,} pairs are about a different version of the document."
    if coverage["sealed"]:
        remark += f" {coverage['sealed']:,} more pairs belong to queries with sealed grades."
    return (
        f"There is nothing to compare: of the {pluralize(coverage['judged'], 'pair')} that the judge {judge} "
        f"judged here, none has a grade by people.{remark} Have people grade these pairs in a round "
        "(`goldgrade round open`), or import their judgments without --judge."
    )
