"""The scores of trec_eval, by pytrec-eval-terrier, for rankings that are in order already.

The engine is shown no document of the run by its own id. All it needs is where the judged ones are, so these
get the label of their rank, and every query's list is the same labels with falling scores. So a run of a
million places costs few Python objects, nothing is left for its tie rule to decide, and below the last judged
document and the deepest measure nothing is sorted at all.

Measures with gains of their own have a call of their own, where the gains are the grades.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from curation.evaluation.metrics.measures import Measure
from curation.evaluation.metrics.qrels import Ints, Qrels
from curation.evaluation.metrics.rankings import UNJUDGED, Floats, Rankings

_STEP = 64
"""Lists end at a multiple of this, so that most queries share one."""
_WHOLE = {"ndcg_exp": "ndcg", "ndcg": "ndcg", "map": "map", "gmap": "map", "mrr": "recip_rank"}
_WHOLE |= {"rprec": "Rprec", "bpref": "bpref"}
_DEEP = {"ndcg_exp": "ndcg_cut", "ndcg": "ndcg_cut", "map": "map_cut", "recall": "recall"}
_DEEP |= {"success": "success", "precision": "P"}
_labels: list[str] = []


class JudgedPlaces(NamedTuple):
    """All that the engine needs to know of a run, ordered by query.

    Attributes
    ----------
    query, label, grade: of each judged document; its label is its rank, or a number that no list has where
        the run does not have it.
    length: of each query's list, shape (Q,): to the last judged document and the deepest measure.
    """

    query: Ints
    label: Ints
    grade: Ints
    length: Ints


def judged_places(measures: Sequence[Measure], qrels: Qrels, ranking: Rankings) -> JudgedPlaces:
    """Where a ranking has the judged documents."""
    found = ranking.judged != UNJUDGED
    label = np.full(len(qrels.grade), UNJUDGED)
    label[ranking.judged[found]] = ranking.rank[found]
    last = np.zeros(len(qrels.query_ids), np.int64)
    np.maximum.at(last, ranking.query[found], ranking.rank[found])
    deepest = max((measure.depth or 0 for measure in measures), default=0)
    length = np.maximum(last, np.minimum(ranking.returned, deepest))
    missing = label == UNJUDGED
    # Beyond any rank: what is graded in a scenario may be anywhere in a list.
    beyond = int(ranking.returned.max(initial=0)) + _STEP
    first = np.searchsorted(qrels.query, qrels.query[missing])
    label[missing] = beyond + np.flatnonzero(missing) - first
    return JudgedPlaces(qrels.query, label, qrels.grade, length)


def with_grades(places: JudgedPlaces, query: Ints, rank: Ints, grades: Ints | int) -> JudgedPlaces:
    """The same where further documents had these grades.

    Parameters
    ----------
    query, rank: of each; rank 0 for one that the list does not have.
    """
    length = places.length.copy()
    np.maximum.at(length, query, rank)
    in_no_list = int(max(places.label.max(initial=0), length.max(initial=0))) + _STEP
    label = np.where(rank > 0, rank, in_no_list + np.arange(len(rank)))
    every = np.concatenate([places.query, query])
    order = np.argsort(every, kind="stable")
    grade = np.concatenate([places.grade, np.broadcast_to(grades, len(query))])
    return JudgedPlaces(every[order], np.concatenate([places.label, label])[order], grade[order], length)


def of_queries(places: JudgedPlaces, queries: Ints) -> JudgedPlaces:
    """The same for some of the queries; the others have neither grades nor a list."""
    chosen = np.zeros(len(places.length), bool)
    chosen[queries] = True
    inside = chosen[places.query]
    length = np.where(chosen, places.length, 0)
    return JudgedPlaces(places.query[inside], places.label[inside], places.grade[inside], length)


def engine_values(measures: Sequence[Measure], qrels: Qrels, places: JudgedPlaces) -> Floats:
    """Scores of shape (Q, M), 0 for queries that the run misses or that have nothing relevant.

    Parameters
    ----------
    measures: of any kind that the engine computes.
    """
    values = np.zeros((len(places.length), len(measures)))
    names = _names(int(max(places.label.max(initial=0), places.length.max(initial=0))) + _STEP + 1)
    for own_gain in (False, True):
        chosen = [place for place, measure in enumerate(measures) if (measure.kind == "ndcg_exp") == own_gain]
        if chosen:
            wanted = [measures[place] for place in chosen]
            grades = _grades(places, 2**places.grade - 1 if own_gain else places.grade, names)
            lists = _lists(_looked_at(wanted, places), names)
            _fill(values, chosen, list(map(_name, wanted)), grades, lists, qrels.relevant)
    for place, measure in enumerate(measures):
        if measure.kind == "mrr" and measure.depth is not None:
            below = values[:, place] * (measure.depth + 0.5) < 1
            values[below, place] = 0.0
    return values


def _fill(
    values: Floats,
    chosen: Sequence[int],
    names: Sequence[str],
    grades: dict[str, dict[str, int]],
    lists: dict[str, dict[str, float]],
    relevant: int,
) -> None:
    from pytrec_eval import RelevanceEvaluator

    found = RelevanceEvaluator(grades, set(names), relevance_level=relevant).evaluate(lists)
    queries = np.array([int(query) for query in found], np.int64)
    for place, name in zip(chosen, names, strict=True):
        values[queries, place] = [row[name] for row in found.values()]


def _name(measure: Measure) -> str:
    """What trec_eval calls the measure; mrr is cut at its depth afterwards."""
    if measure.recall is not None:
        return f"iprec_at_recall_{measure.recall:.2f}"
    if measure.depth is None or measure.kind == "mrr":
        return _WHOLE[measure.kind]
    return f"{_DEEP[measure.kind]}_{measure.depth}"


def _looked_at(measures: Sequence[Measure], places: JudgedPlaces) -> Ints:
    """How much of each list these measures look at, shape (Q,)."""
    length = -(-places.length // _STEP) * _STEP
    depths = [measure.depth for measure in measures if measure.depth is not None]
    deepest = max(depths, default=0) if len(depths) == len(measures) else int(length.max(initial=0))
    return np.minimum(length, deepest)


def _grades(places: JudgedPlaces, grade: Ints, names: list[str]) -> dict[str, dict[str, int]]:
    """Label → grade, or gain, of each query's judged documents."""
    ends = np.searchsorted(places.query, np.arange(len(places.length)), side="right").tolist()
    labels, grades = [names[label] for label in places.label.tolist()], grade.tolist()
    starts = [0, *ends][: len(ends)]
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
