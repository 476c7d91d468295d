"""Judges side by side, on the same pairs that people graded.

The resamples of queries are the same for all judges, so the differences between judges are paired.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from curation.agreement.inter_annotator import NO_UNITS, make_estimate
from curation.core.reports.tables import Table
from curation.core.statistics.arrays import Floats, ratio
from curation.core.statistics.bootstrap import Sums, resample_figures
from curation.core.statistics.estimate import Estimate
from curation.evaluation.llm_judges.human_grades import read_live_grades
from curation.evaluation.llm_judges.judge_judgments import list_judges, read_judge_judgments
from curation.evaluation.scoring.evidence import Pair
from curation.store import Cursor


class ComparedJudge(NamedTuple):
    """A judge on the pairs that all compared judges and people graded.

    Attributes
    ----------
    same: share of pairs with people's grade. difference: this share minus the first judge's.
    bias: mean of the judge's grade minus people's grade, in steps of the scale.
    """

    judge: str
    same: Estimate
    difference: Estimate
    bias: Estimate


def compare_judges(cursor: Cursor, seed: int = 0) -> list[ComparedJudge]:
    """Compare all judges of the project on their common pairs; an empty list without such pairs.

    The judge with the largest share of people's grades is first.
    """
    people = read_live_grades(cursor)
    graded = {pair: grade for pair, grade in people.consensus.items() if grade is not None}
    judged: dict[str, dict[Pair, int]] = {}
    for judge in (row.judge for row in list_judges(cursor)):
        judged[judge] = {}
        for row in read_judge_judgments(cursor, judge):
            pair = (row.query_id, row.document_id)
            if row.grade is not None and pair in graded and people.versions.get(pair) == row.content_hash:
                judged[judge][pair] = row.grade
    common = sorted(set(graded).intersection(*judged.values())) if len(judged) > 1 else []
    if not common:
        return []
    human = np.searchsorted(people.scale, [graded[pair] for pair in common])
    steps = {
        name: np.searchsorted(people.scale, [grades[pair] for pair in common])
        for name, grades in judged.items()
    }
    names = sorted(steps, key=lambda name: (-int((steps[name] == human).sum()), name))
    columns = [column for name in names for column in (steps[name] == human, steps[name] - human)]
    queries, index = np.unique([query for query, _ in common], return_inverse=True)
    sums = np.stack([np.bincount(index, column) for column in (*columns, np.ones(len(common)))], axis=1)

    def divide(totals: Floats) -> Floats:
        shares = ratio(totals[:, :-1], totals[:, -1:])
        return np.hstack([shares, shares[:, ::2] - shares[:, :1]])

    (values,) = resample_figures([Sums(np.arange(len(queries)), sums, divide)], len(queries), seed)
    points = divide(sums.sum(axis=0, keepdims=True))[0]
    estimates = [
        make_estimate(float(point), values[:, column], len(common), len(queries), NO_UNITS)
        for column, point in enumerate(points)
    ]
    count = len(names)
    return [
        ComparedJudge(name, estimates[2 * i], estimates[2 * count + i], estimates[2 * i + 1])
        for i, name in enumerate(names)
    ]


def build_comparison_table(judges: list[ComparedJudge]) -> Table:
    """Build the table of judges side by side."""
    rows = [
        (row.judge, *row.same[:3], *(row.difference[:3] if index else (None,) * 3), *row.bias[:3])
        for index, row in enumerate(judges)
    ]
    pairs = judges[0].same.n if judges else 0
    columns = (
        "judge",
        "people's grade",
        "low",
        "high",
        "minus first judge",
        "low",
        "high",
        "bias",
        "low",
        "high",
    )
    return Table(f"Judges on the same {pairs:,} pairs that people graded", columns, tuple(rows))
