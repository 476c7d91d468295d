"""Scores of answers by nuggets, from people's grades of how far an answer says each.

    all        mean over the nuggets of a query: 1 where the answer supports one, 0.5 where in part, else 0
    vital      the same over its vital nuggets
    weighted   vital nuggets count 1, okay ones 0.5
    strict     of each: partial support counts 0

R. Pradeep et al. (2024), Initial nugget evaluation results for the TREC 2024 RAG track with the
AutoNuggetizer framework, section 3. On another scale than that of the guide `answer-support`, support is the
highest grade, and any grade between it and the lowest is partial support.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from curation.core.statistics.arrays import Floats
from curation.ingest.importers.answers.nuggets import Nugget

PARTIAL, OKAY_WEIGHT = 0.5, 0.5
WEIGHTED = "nuggets_weighted"
NUGGET_SCORES = (
    "nuggets_all",
    "nuggets_vital",
    WEIGHTED,
    "nuggets_all_strict",
    "nuggets_vital_strict",
    "nuggets_weighted_strict",
)


def nugget_scores(
    query_id: str, nuggets: Sequence[Nugget], answer_id: str | None, shares: Mapping[tuple[str, str], float]
) -> Floats:
    """The scores of one answer, in the order of `NUGGET_SCORES`; NaN without the nuggets that one needs.

    Parameters
    ----------
    answer_id: None is no answer, or an empty one, which says nothing.
    shares: (nugget id, answer id) → grade as a share of the scale. An answer without the grade of each nugget
        has no score: unknown is not zero.
    """
    names = [nugget.id_for(query_id) for nugget in nuggets]
    given = np.array([0.0 if answer_id is None else shares.get((name, answer_id), np.nan) for name in names])
    if not names or np.isnan(given).any():
        return np.full(len(NUGGET_SCORES), np.nan)
    vital = np.array([nugget.vital for nugget in nuggets])
    weights = np.where(vital, 1.0, OKAY_WEIGHT)
    support = np.where((given > 0) & (given < 1), PARTIAL, given)
    found = []
    for one in (support, np.floor(support)):
        of_vital = one[vital].mean() if vital.any() else np.nan
        found += [one.mean(), of_vital, np.average(one, weights=weights)]
    return np.array(found)


def scores_of_answers(
    answer_ids: Mapping[str, str | None],
    nuggets: Mapping[str, Sequence[Nugget]],
    shares: Mapping[tuple[str, str], float],
) -> Floats:
    """The scores of a system's answers, shape (Q, scores); `answer_ids` are by query, in their order."""
    rows = [nugget_scores(one, nuggets.get(one, ()), given, shares) for one, given in answer_ids.items()]
    return np.array(rows).reshape(len(rows), len(NUGGET_SCORES))
