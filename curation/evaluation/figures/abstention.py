"""Abstention: how well a system's confidence shows which queries are unanswerable and should be refused.

A query counts as unanswerable if none of its judged documents is relevant. A query with the tag
`unanswerable` and a known relevant document is contradictory, and is counted apart from both classes.
Otherwise the tag is only counted; an unanswerable query without the tag may have a relevant document that
nobody judged.

The confidence is the score of the first document; a query without a document has the lowest confidence.
Scores of different queries must be comparable, which scores of a rank fusion are not. A system decides by a
threshold whether to answer. The area under the ROC curve rates all thresholds together: the probability that
an answerable query has more confidence than an unanswerable one. The refusal rate rates one threshold: the
highest that keeps at least 95 % of the answerable queries.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import floor

import numpy as np

from curation.core.statistics import intervals
from curation.core.statistics.arrays import Floats, Ints, Mask
from curation.core.statistics.bootstrap import RESAMPLES, percentile_interval
from curation.core.statistics.estimate import Estimate, share_estimate
from curation.core.statistics.intervals import MINIMUM_QUERIES
from curation.core.statistics.roc import roc_area
from curation.evaluation.scoring.facets import Facet
from curation.evaluation.scoring.qrels import Qrels
from curation.evaluation.scoring.rankings import RunRows

UNANSWERABLE_TAG = "unanswerable"
CONFIDENCE = "score of the first document"
KEPT_SHARE = 0.95
WHY_TOO_FEW = f"fewer than {MINIMUM_QUERIES} answerable or unanswerable queries"
WHY_CONSTANT = "all first documents have the same score, as in a file that has only ranks"


@dataclass(frozen=True)
class AbstentionFigures:
    """Statistics on how well a run abstains on unanswerable queries.

    Attributes
    ----------
    answerable: the number of queries with a relevant document that are not tagged `unanswerable`.
    unanswerable: the number of judged queries without a relevant document.
    tagged: the number of unanswerable queries that people tagged `unanswerable`.
    contradictory: the number of queries with the tag and a relevant document, which are in neither class.
    unjudged: the number of queries without a grade, which are in neither class.
    area: the area under the ROC curve, with Newcombe's interval; its `why` explains missing statistics.
    threshold: the highest confidence that keeps at least `KEPT_SHARE` of the answerable queries.
    refused: the share of unanswerable queries below the threshold; its interval is a bootstrap over both
        classes, because the threshold moves with the answerable queries.
    empty_unanswerable, empty_answerable: the share of all queries of the class that have no row in the file.
        The system may have found nothing, or may not have been asked: see `note`.
    """

    answerable: int
    unanswerable: int
    tagged: int
    contradictory: int
    unjudged: int
    area: Estimate
    threshold: float | None
    refused: Estimate
    empty_unanswerable: Estimate
    empty_answerable: Estimate

    @property
    def note(self) -> str:
        """Explain missing statistics, and count the unanswerable queries that have no row in the run file."""
        n = self.empty_unanswerable.n
        unsent = round((self.empty_unanswerable.value or 0.0) * n)
        remark = (
            f"{unsent:,} of the {n:,} unanswerable queries have no row in the file. They count as refused, "
            "although the system may never have received these queries"
        )
        return "; ".join([*([self.area.why] if self.area.why else []), *([remark] if unsent else [])])


def measure_abstention(rows: RunRows, qrels: Qrels, tags: Facet, seed: int) -> AbstentionFigures:
    """Compute how well one run abstains on unanswerable queries.

    Parameters
    ----------
    tags: the facet `tag` of the evaluated queries.
    """
    is_untagged = np.zeros(len(qrels.query_ids), bool)
    tagged = tags.values.get(UNANSWERABLE_TAG, is_untagged)
    judged = np.bincount(qrels.query, minlength=len(qrels.query_ids))
    confidence = find_confidences(rows.query, rows.scores, len(qrels.query_ids))
    return compute_abstention_figures(confidence, qrels.relevant_documents, judged, tagged, seed)


def compute_abstention_figures(
    confidence: Floats, relevant: Ints, judged: Ints, tagged: Mask, seed: int
) -> AbstentionFigures:
    """Compute how well a system refuses unanswerable queries, from its confidence in each of Q queries.

    Parameters
    ----------
    confidence: shape (Q,), −∞ where the run returned no document.
    relevant, judged: the numbers of relevant and judged documents of each query, shape (Q,).
    tagged: whether each query has the tag `unanswerable`, shape (Q,).
    """
    has_only_irrelevant = (judged > 0) & (relevant == 0)
    answerable, unanswerable = confidence[(relevant > 0) & ~tagged], confidence[has_only_irrelevant]
    why_undefined = _explain_undefined(confidence, answerable, unanswerable)
    area = Estimate(why=why_undefined)
    threshold = None
    refused_share = Estimate(n=len(unanswerable))
    if why_undefined is None:
        area = roc_area(answerable, unanswerable)
        threshold = find_threshold(answerable)
        refused_share = _estimate_refusal_rate(answerable, unanswerable, threshold, seed)
    return AbstentionFigures(
        answerable=len(answerable),
        unanswerable=len(unanswerable),
        tagged=int((has_only_irrelevant & tagged).sum()),
        contradictory=int((tagged & (relevant > 0)).sum()),
        unjudged=int((judged == 0).sum()),
        area=area,
        threshold=None if threshold is None or np.isinf(threshold) else threshold,
        refused=refused_share,
        empty_unanswerable=share_estimate(int(np.isneginf(unanswerable).sum()), len(unanswerable)),
        empty_answerable=share_estimate(int(np.isneginf(answerable).sum()), len(answerable)),
    )


def find_confidences(query: Ints, scores: Floats, queries: int) -> Floats:
    """Find each query's highest document score, shape (Q,); −∞ for a query without a document.

    Parameters
    ----------
    query, scores: columns of the documents of a run, in any order.
    """
    highest = np.full(queries, -np.inf)
    np.maximum.at(highest, query, scores)
    return highest


def find_threshold(answerable: Floats, share: float = KEPT_SHARE) -> float:
    """Find the highest confidence threshold that keeps at least this share of the answerable queries."""
    return float(np.sort(answerable)[_find_threshold_index(len(answerable), share)])


def _find_threshold_index(count: int, share: float) -> int:
    """Find the index of the threshold that keeps this share of `count` confidences in ascending order."""
    return floor(count * (1 - share) + 1e-9)


def _explain_undefined(confidence: Floats, answerable: Floats, unanswerable: Floats) -> str | None:
    if min(len(answerable), len(unanswerable)) < MINIMUM_QUERIES:
        return WHY_TOO_FEW
    if len(confidence) > 1 and not np.isneginf(confidence).any() and (confidence == confidence[0]).all():
        return WHY_CONSTANT
    return None


def _estimate_refusal_rate(answerable: Floats, unanswerable: Floats, threshold: float, seed: int) -> Estimate:
    """Estimate the share of unanswerable queries below the threshold, with an interval from bootstrap
    resamples of the answerable and of the unanswerable queries."""
    random = np.random.Generator(np.random.PCG64(seed))
    resampled_answerable = np.sort(random.choice(answerable, (RESAMPLES, len(answerable))), axis=1)
    thresholds = resampled_answerable[:, [_find_threshold_index(len(answerable), KEPT_SHARE)]]
    is_refused = random.choice(unanswerable, (RESAMPLES, len(unanswerable))) < thresholds
    value = float((unanswerable < threshold).mean())
    low, high = percentile_interval(is_refused.mean(axis=1), len(unanswerable)) or (None, None)
    if value in (0.0, 1.0):  # resampling the unanswerable queries alone would give no width
        low, high = intervals.wilson_interval(round(value * len(unanswerable)), len(unanswerable))
    return Estimate(value, low, high, len(unanswerable))
