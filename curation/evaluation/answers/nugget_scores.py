"""Nugget scores: the share of a query's nuggets that an answer supports, according to grades of support.

    all        mean over the nuggets of a query: 1 for a supported nugget, 0.5 for partial support, else 0
    vital      mean over the vital nuggets of the query
    weighted   vital nuggets count 1, okay nuggets 0.5
    strict     a variant of each score: partial support counts 0

R. Pradeep et al. (2024), Initial nugget evaluation results for the TREC 2024 RAG track with the
AutoNuggetizer framework, section 3. On any other scale than that of the guide `answer-support`, the
highest grade is support, the lowest grade is no support, and the grades between are partial support.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from curation.core.statistics.arrays import Floats
from curation.evaluation.scoring.evidence import Pair
from curation.ingest.importers.nuggets import Nugget

PARTIAL = 0.5
"""Credit for partial support of a nugget."""
OKAY_WEIGHT = 0.5
"""The weight of an okay nugget; a vital nugget weighs 1."""
WEIGHTED = "nuggets_weighted"
_NUGGET_SCORES = ("nuggets_all", "nuggets_vital", WEIGHTED)
NUGGET_SCORES = (*_NUGGET_SCORES, *(f"{name}_strict" for name in _NUGGET_SCORES))
Nuggets = Mapping[str, Sequence[Nugget]]
"""Map from query id to the nuggets of the query."""


def score_answer(
    query_id: str, nuggets: Sequence[Nugget], answer_id: str | None, shares: Mapping[Pair, float]
) -> Floats:
    """Compute the nugget scores of one answer, in the order of `NUGGET_SCORES`; NaN for a score that needs
    nuggets which the query lacks.

    Parameters
    ----------
    answer_id: the id of the answer; None for a missing or an empty answer.
    shares: (nugget id, answer id) → grade as a share of the scale. An answer that lacks the grade of any
    nugget has no score, because an unknown grade is not a zero.
    """
    nugget_ids = [nugget.make_id(query_id) for nugget in nuggets]
    grades = [0.0 if answer_id is None else shares.get((name, answer_id), np.nan) for name in nugget_ids]
    if not nugget_ids or np.isnan(grades).any():
        return np.full(len(NUGGET_SCORES), np.nan)
    is_vital = np.array([nugget.vital for nugget in nuggets])
    weights = np.where(is_vital, 1.0, OKAY_WEIGHT)
    grade = np.array(grades)
    support = np.where((grade > 0) & (grade < 1), PARTIAL, grade)
    scores = []
    for credit in (support, np.floor(support)):
        vital_score = credit[is_vital].mean() if is_vital.any() else np.nan
        scores += [credit.mean(), vital_score, np.average(credit, weights=weights)]
    return np.array(scores)


def score_answers(ids: Mapping[str, str | None], nuggets: Nuggets, shares: Mapping[Pair, float]) -> Floats:
    """Score the nuggets of a system's answers, shape (Q, scores), in the order of `ids` (query → answer)."""
    pairs = ids.items()
    rows = [score_answer(query_id, nuggets.get(query_id, ()), answer, shares) for query_id, answer in pairs]
    return np.array(rows).reshape(len(rows), len(NUGGET_SCORES))
