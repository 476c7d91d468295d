"""The scores of ir-measures, with pytrec-eval-terrier, for rankings that are in order already.

The engine is shown no document of the run by its own id. All it needs is where the judged ones are, so these
get the label of their rank, and every query's list is the same labels with falling scores. So a run of a
million places costs few Python objects, nothing is left for its tie rule to decide, and below the last judged
document and the deepest measure nothing is sorted at all.

Measures with gains of their own have a call of their own: sharing one with plain nDCG, ir-measures may take
their gains for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from curation.evaluation.metrics.measures import Measure
from curation.evaluation.metrics.qrels import Ints, Qrels
from curation.evaluation.metrics.rankings import UNJUDGED, Floats, Rankings

_STEP = 64
"""Lists end at a multiple of this, so that most queries share one."""
_labels: list[str] = []


def engine_values(measures: Sequence[Measure], qrels: Qrels, ranking: Rankings) -> Floats:
    """Scores of shape (Q, M), 0 for queries that the run misses or that have nothing relevant.

    Parameters
    ----------
    measures: of any kind but rbp and judged.
    """
    values = np.zeros((len(qrels.query_ids), len(measures)))
    grades, lists = _shown(measures, qrels, ranking)
    own_gain = [measure.kind == "ndcg_exp" for measure in measures]
    for wanted in (False, True):
        chosen = [place for place, own in enumerate(own_gain) if own == wanted]
        if chosen:
            _fill(values, chosen, measures, qrels, grades, lists)
    for place, measure in enumerate(measures):
        if measure.kind == "mrr" and measure.depth is not None:
            below = values[:, place] * (measure.depth + 0.5) < 1
            values[below, place] = 0.0
    return values


def _fill(
    values: Floats,
    chosen: Sequence[int],
    measures: Sequence[Measure],
    qrels: Qrels,
    grades: dict[str, dict[str, int]],
    lists: dict[str, dict[str, float]],
) -> None:
    import ir_measures

    columns: dict[Any, list[int]] = {}
    for place in chosen:
        columns.setdefault(_engine_measure(measures[place], qrels), []).append(place)
    evaluator = ir_measures.pytrec_eval.evaluator(list(columns), grades)
    for query, measure, value in evaluator.iter_calc(lists):
        values[int(query), columns[measure]] = value


def _engine_measure(measure: Measure, qrels: Qrels) -> Any:
    """The measure of ir-measures; mrr is cut at its depth afterwards."""
    import ir_measures as ir

    relevant = qrels.relevant
    if measure.kind == "ndcg_exp":
        return ir.nDCG(gains={grade: 2**grade - 1 for grade in qrels.scale}) @ measure.depth
    if measure.kind == "ndcg":
        return ir.nDCG @ measure.depth
    if measure.kind == "map":
        return ir.AP(rel=relevant) if measure.depth is None else ir.AP(rel=relevant) @ measure.depth
    whole = {"mrr": ir.RR, "rprec": ir.Rprec, "bpref": ir.Bpref}
    if measure.kind in whole:
        return whole[measure.kind](rel=relevant)
    deep = {"recall": ir.R, "success": ir.Success, "precision": ir.P}
    return deep[measure.kind](rel=relevant) @ measure.depth


def _shown(
    measures: Sequence[Measure], qrels: Qrels, ranking: Rankings
) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """What the engine gets: label → grade of each query's judged documents, and label → score of its list.

    Judged documents that the run does not have get labels that no list has.
    """
    found = ranking.judged != UNJUDGED
    label = np.full(len(qrels.grade), UNJUDGED)
    label[ranking.judged[found]] = ranking.rank[found]
    last = np.zeros(len(qrels.query_ids), np.int64)
    np.maximum.at(last, ranking.query[found], ranking.rank[found])
    deepest = max((measure.depth or 0 for measure in measures), default=0)
    length = np.maximum(last, np.minimum(ranking.returned, deepest))
    length = -(-length // _STEP) * _STEP
    missing = label == UNJUDGED
    label[missing] = int(length.max(initial=0)) + 1 + np.arange(int(missing.sum()))
    names = _names(int(max(label.max(initial=0), length.max(initial=0))) + 1)
    return _grades(qrels, label, names), _lists(length, names)


def _grades(qrels: Qrels, label: Ints, names: list[str]) -> dict[str, dict[str, int]]:
    number = len(qrels.query_ids)
    ends = np.searchsorted(qrels.query, np.arange(number), side="right").tolist()
    labels, grades = [names[place] for place in label.tolist()], qrels.grade.tolist()
    starts = [0, *ends[:-1]]
    return {
        str(query): dict(zip(labels[start:end], grades[start:end], strict=True))
        for query, (start, end) in enumerate(zip(starts, ends, strict=True))
        if end > start
    }


def _lists(length: Ints, names: list[str]) -> dict[str, dict[str, float]]:
    """The list of each query that has any; queries of one length share theirs."""
    shared: dict[int, dict[str, float]] = {}
    lists = {}
    for query, size in enumerate(length.tolist()):
        if size and size not in shared:
            shared[size] = {names[place]: float(size - place + 1) for place in range(1, size + 1)}
        if size:
            lists[str(query)] = shared[size]
    return lists


def _names(number: int) -> list[str]:
    """At least so many labels."""
    _labels.extend(str(place) for place in range(len(_labels), number))
    return _labels
