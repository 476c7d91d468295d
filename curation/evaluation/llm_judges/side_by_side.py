"""The comparison of several judges side by side, on the same pairs that people graded.

The resamples of queries are the same for all judges, so the differences between judges are paired.
"""

from __future__ import annotations

import numpy as np

from curation.agreement.inter_annotator import NO_UNITS, make_estimate
from curation.core.reports.tables import Table
from curation.core.statistics.arrays import Floats, ratio
from curation.core.statistics.bootstrap import Sums, resample_figures
from curation.core.text import pluralize
from curation.evaluation.llm_judges.human_grades import read_live_grades
from curation.evaluation.llm_judges.judge_judgments import list_judges, read_judge_judgments
from curation.evaluation.llm_judges.measure_agreement import match_pairs
from curation.store import Cursor


def compare_judges(cursor: Cursor, seed: int = 0) -> Table | None:
    """Compare all judges of the project on the pairs that both people and all judges graded; None if there
    are no such pairs.

    A judge's figure is the share of pairs on which it gave people's grade. The best judge is first.
    """
    people = read_live_grades(cursor)
    judged = {}
    for name in (row.judge for row in list_judges(cursor)):
        grades, _ = match_pairs(people, read_judge_judgments(cursor, name), ())
        judged[name] = {pair: grade for pair, grade in grades.items() if grade is not None}
    graded = {pair for pair, grade in people.consensus.items() if grade is not None}
    common = sorted(graded.intersection(*judged.values())) if len(judged) > 1 else []
    if not common:
        return None
    human = np.array([people.consensus[pair] for pair in common])
    same = {name: human == [grades[pair] for pair in common] for name, grades in judged.items()}
    names = sorted(same, key=lambda name: (-int(same[name].sum()), name))
    queries, index = np.unique([query for query, _ in common], return_inverse=True)
    columns = [*(same[name] for name in names), np.ones(len(common))]
    sums = np.stack([np.bincount(index, column) for column in columns], axis=1)

    def divide(totals: Floats) -> Floats:
        shares = ratio(totals[:, :-1], totals[:, -1:])
        return np.hstack([shares, shares - shares[:, :1]])

    (values,) = resample_figures([Sums(np.arange(len(queries)), sums, divide)], len(queries), seed)
    points = divide(sums.sum(axis=0, keepdims=True))[0].tolist()
    estimates = [
        make_estimate(point, values[:, column], len(common), len(queries), NO_UNITS)[:3]
        for column, point in enumerate(points)
    ]
    count = len(names)
    differences = [(None, None, None), *estimates[count + 1 :]]
    rows = [(name, *estimates[at], *differences[at]) for at, name in enumerate(names)]
    title = f"Judges on the same {pluralize(len(common), 'pair')} that people graded"
    heads = ("Judge", "Same grade as people", "low", "high", "Difference from the best", "low", "high")
    return Table(title, heads, tuple(rows))
