"""How a judge that is not a person agrees with people, and how people agree among each other.

The judge's grade and the consensus grade of one text are two judgments of one pair. So all figures are those
between annotators, with their intervals by bootstrap over queries. With each is the same figure of people
among each other, on the pairs that both graded: a judge can hardly agree with people more than they do.

People's grades are those of the live project, or of a release's open parts. Grades of sealed parts stay where
they are. Of the live project, pairs of queries that a release seals are left out, no matter who asks: a judge
whose grades are guesses could otherwise read the sealed ones off its own confusion table, and a prompt that
is tuned on them would be tuned on the test set. Of a release, the open parts count. A sealed one counts when
it is named; its seal is then opened with a reason, which is logged.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from curation.agreement.between.annotator_pairs import AnnotatorPair, annotator_pairs
from curation.agreement.between.breakdowns import Part, breakdown
from curation.agreement.between.coefficients import COEFFICIENTS
from curation.agreement.between.grades import grades_of, value_counts
from curation.agreement.between.inter_annotator import (
    AgreementFigure,
    Judgeable,
    Size,
    basis_of,
    figure_of,
    figures_of,
    inter_agreement,
)
from curation.core.errors import RefusedError
from curation.core.statistics.arrays import Floats, Ints, ratio
from curation.core.statistics.intervals import MINIMUM_QUERIES, RESAMPLES, Sums, resampled_figures
from curation.core.text import amount
from curation.evaluation.llm_judges.human_grades import HumanGrades, PairKey, live_grades, release_grades
from curation.evaluation.llm_judges.stored import JudgeJudgment, judgments_of, require_judge
from curation.guides.guide import current_guide, guide_lines
from curation.store import COMMAND_LINE, Store

CONSENSUS, JUDGE = "consensus", "judge"
KAPPA, KAPPA_LABEL = "cohen_quadratic", "Cohen's kappa, quadratic"
OF_TWO = "Cohen's kappa is of two; `goldgrade agreement --breakdown pair` has it for each two people"
NEVER_GIVEN = "people gave this grade to none of the pairs"
FEW_PAIRS = "the judge and people share too few pairs"


class SideBySide(NamedTuple):
    """A figure of the judge against the consensus, and of people among each other on the same pairs."""

    label: str
    judge: AgreementFigure
    people: AgreementFigure


class JudgedGrade(NamedTuple):
    """What the judge said where people's grade is this one: shares of the pairs, with their intervals."""

    grade: int
    pairs: int
    same: AgreementFigure
    lower: AgreementFigure
    higher: AgreementFigure


@dataclass(frozen=True)
class JudgeCoverage:
    """The judge's pairs and people's.

    Attributes
    ----------
    judged: pairs that the judge judged, in whatever version, without `sealed` and `elsewhere`.
    compared: pairs with a grade of both, from `queries` queries.
    ungraded: judged pairs that no person judged. without_grade: judged by people, and no grade came of it.
    cannot_tell: pairs with a grade of people's that the judge could not tell.
    older: pairs that the judge judged in another version of the document than people.
    not_judged: pairs with a grade of people's that the judge did not judge.
    other_guide: of those compared, judged under another guide than the one in force.
    sealed: judged pairs of queries whose grades are sealed; elsewhere: of queries that are in none of the
        release's parts asked for.
    """

    judged: int
    compared: int
    queries: int
    ungraded: int
    without_grade: int
    cannot_tell: int
    older: int
    not_judged: int
    other_guide: int
    sealed: int
    elsewhere: int


@dataclass(frozen=True)
class JudgeAgreement:
    """How a judge agrees with people.

    Attributes
    ----------
    release, parts: what people's grades were taken from; None and () for the live project.
    figures: name → figure, for each of `COEFFICIENTS`, and Cohen's kappa of the judge.
    difference: the judge's grade less people's, mean in steps of the scale.
    confusion: pairs by people's grade (row) and the judge's (column), in the order of the scale.
    grades: by people's grade. types, boundaries: by query type and grade boundary.
    judgeable: whether they agree on what can be judged at all.
    left_out: reason → number.
    """

    judge: str
    release: str | None
    parts: tuple[str, ...]
    scale: tuple[int, ...]
    seed: int
    figures: dict[str, SideBySide]
    difference: AgreementFigure
    confusion: tuple[tuple[int, ...], ...]
    grades: tuple[JudgedGrade, ...]
    types: tuple[Part, ...]
    boundaries: tuple[Part, ...]
    judgeable: Judgeable
    coverage: JudgeCoverage
    left_out: dict[str, int]


def judge_agreement(
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
    reason: why grades of sealed parts are used; it is logged.

    Raises
    ------
    InputError: the release has no such part.
    NotFoundError: there is no such judge or release.
    RefusedError: no pair has a grade of both; grades outside the guide's scale; sealed grades without a
        reason.
    """
    with store.reading() as cursor:
        require_judge(cursor, judge)
    if release is not None:
        people = release_grades(store, release, split, f"compare the judge {judge}", reason, actor)
    with store.reading() as cursor:
        said = judgments_of(cursor, judge)
        lines = guide_lines(cursor)
        line = lines[current_guide(cursor).guide_hash]
        current = {name for name, one in lines.items() if one == line}
        if release is None:
            people = live_grades(cursor)
    return _agreement(judge, people, said, current, seed)


def _agreement(
    judge: str, people: HumanGrades, said: Sequence[JudgeJudgment], current: Collection[str], seed: int
) -> JudgeAgreement:
    by_judge, coverage = _compare(people, said, current)
    both = _both(people, by_judge)
    if not both:
        raise RefusedError(_nothing(judge, coverage))
    rows: list[tuple[str, str, str, int | None]] = []
    for pair, grade in by_judge.items():
        rows += [(*pair, CONSENSUS, people.consensus[pair]), (*pair, JUDGE, grade)]
    grades = grades_of(rows)
    whole = inter_agreement(grades, people.scale, seed)
    met = next(iter(annotator_pairs(grades, people.scale, seed)[0]), None)
    by = breakdown(grades, people.scale, people.types, seed)
    return JudgeAgreement(
        judge=judge,
        release=people.release,
        parts=people.parts,
        scale=people.scale,
        seed=seed,
        figures=_figures(whole.figures, met, people, both, seed),
        difference=met.difference if met else _few(len(both)),
        confusion=_confusion(both, people.scale),
        grades=_by_grade(both, people.scale, seed),
        types=by.type,
        boundaries=by.boundary,
        judgeable=whole.judgeable,
        coverage=coverage,
        left_out=dict(people.left_out),
    )


def _both(people: HumanGrades, by_judge: Mapping[PairKey, int | None]) -> dict[PairKey, tuple[int, int]]:
    """People's and the judge's grade of each pair that has both."""
    pairs = ((pair, people.consensus[pair], grade) for pair, grade in by_judge.items())
    return {pair: (own, grade) for pair, own, grade in pairs if own is not None and grade is not None}


def _compare(
    people: HumanGrades, said: Sequence[JudgeJudgment], current: Collection[str]
) -> tuple[dict[PairKey, int | None], JudgeCoverage]:
    """The judge's grade of each version that people's pairs are read by, None where it could not tell.

    The coverage counts what else the judge said.
    """
    found: dict[PairKey, JudgeJudgment] = {}
    judged: set[PairKey] = set()
    sealed: set[PairKey] = set()
    elsewhere: set[PairKey] = set()
    for row in said:
        pair = (row.query_id, row.document_id)
        outside = people.inside is not None and row.query_id not in people.inside
        (sealed if row.query_id in people.sealed else elsewhere if outside else judged).add(pair)
        if people.versions.get(pair) == row.content_hash:
            found[pair] = row
    known = judged & people.consensus.keys()
    graded = {pair for pair, grade in people.consensus.items() if grade is not None}
    both = {pair for pair in graded & found.keys() if found[pair].grade is not None}
    coverage = JudgeCoverage(
        judged=len(judged),
        compared=len(both),
        queries=len({query for query, _ in both}),
        ungraded=len(judged - known),
        without_grade=len(known - graded),
        cannot_tell=sum(found[pair].grade is None for pair in graded & found.keys()),
        older=len((known & graded) - found.keys()),
        not_judged=len(graded - judged),
        other_guide=sum(found[pair].guide_hash not in current for pair in both),
        sealed=len(sealed),
        elsewhere=len(elsewhere),
    )
    return {pair: found[pair].grade for pair in sorted(found)}, coverage


def _figures(
    judge: Mapping[str, AgreementFigure],
    met: AnnotatorPair | None,
    people: HumanGrades,
    both: Collection[PairKey],
    seed: int,
) -> dict[str, SideBySide]:
    among = people.given_for(both)
    basis = basis_of(value_counts(among, people.scale), among.unit_queries)
    others = figures_of(basis, people.scale, COEFFICIENTS, seed, RESAMPLES)
    found = {one.name: SideBySide(one.label, judge[one.name], others[one.name]) for one in COEFFICIENTS}
    nobody = AgreementFigure(None, None, None, 0, 0, OF_TWO)
    found[KAPPA] = SideBySide(KAPPA_LABEL, met.kappa if met else _few(len(both)), nobody)
    return found


def _confusion(both: Mapping[PairKey, tuple[int, int]], scale: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    table = np.zeros((len(scale), len(scale)), dtype=np.int64)
    steps = np.searchsorted(scale, np.asarray(list(both.values())))
    np.add.at(table, (steps[:, 0], steps[:, 1]), 1)
    return tuple(tuple(row) for row in table.tolist())


def _by_grade(
    both: Mapping[PairKey, tuple[int, int]], scale: Sequence[int], seed: int
) -> tuple[JudgedGrade, ...]:
    """Shares of the judge's same, lower and higher grades; resamples draw all queries that were compared."""
    queries, place = np.unique([query for query, _ in both], return_inverse=True)
    steps = np.searchsorted(scale, np.asarray(list(both.values())))
    return tuple(
        _judged_grade(value, step, steps, place, len(queries), seed) for step, value in enumerate(scale)
    )


def _judged_grade(value: int, step: int, steps: Ints, place: Ints, queries: int, seed: int) -> JudgedGrade:
    mine = steps[:, 0] == step
    apart = steps[:, 1] - step
    ways = (mine, mine & (apart == 0), mine & (apart < 0), mine & (apart > 0))
    per_query = np.stack([np.bincount(place[way], minlength=queries) for way in ways], axis=1).astype(float)
    there = np.flatnonzero(per_query[:, 0])
    pairs = int(mine.sum())
    size = Size(pairs, pairs, len(there))
    values: Floats = np.full((0, 3), np.nan)
    if len(there) >= MINIMUM_QUERIES:
        (values,) = resampled_figures([Sums(there, per_query[there], _shares)], queries, seed, RESAMPLES)
    points = _shares(per_query.sum(axis=0, keepdims=True))[0]
    same, lower, higher = (
        figure_of(float(point), drawn, size, NEVER_GIVEN)
        for point, drawn in zip(points, values.T, strict=True)
    )
    return JudgedGrade(value, pairs, same, lower, higher)


def _shares(sums: Floats) -> Floats:
    return ratio(sums[:, 1:], sums[:, :1])


def _few(units: int) -> AgreementFigure:
    return AgreementFigure(None, None, None, units, units, FEW_PAIRS)


def _nothing(judge: str, coverage: JudgeCoverage) -> str:
    sealed = f" {coverage.sealed:,} more are of queries whose grades are sealed." if coverage.sealed else ""
    older = f" {coverage.older:,} are about another version of their document." if coverage.older else ""
    return (
        f"Nothing to compare: of the {amount(coverage.judged, 'pair')} that the judge {judge} judged here, "
        f"none has a grade of people's.{older}{sealed} People grade pairs in a round (`goldgrade round "
        "open`), "
        "or their judgments are imported without --judge."
    )
