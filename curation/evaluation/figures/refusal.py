"""Unanswerable queries: whether a system's confidence tells them from those that the corpus answers.

A query is taken as unanswerable if none of its judged documents is relevant. A query that people tagged
`unanswerable` though a relevant document is known contradicts itself: it is in neither class, and counted.
The tag alone decides nothing, but the figures say how many of the unanswerable queries have it. The others
may have a relevant document that nobody judged.

The confidence is the score of the first document; a query without a document has the least confidence there
is. Scores of different queries must compare for that, which scores of a rank fusion do not. A system that
asks whether to answer sets a threshold. The area under the ROC curve says how well any threshold can do: the
probability that an answerable query has more confidence than an unanswerable one. The refusal rate says what
one threshold does: the highest that keeps at least 95 % of the answerable queries.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import floor

import numpy as np

from curation.core.statistics.arrays import Floats, Ints, Mask
from curation.core.statistics.estimate import Estimate, share_estimate
from curation.core.statistics.intervals import MINIMUM_QUERIES, RESAMPLES, percentile_interval, wilson
from curation.core.statistics.roc import roc_area, roc_curve
from curation.evaluation.scoring.facets import Facet
from curation.evaluation.scoring.qrels import Qrels
from curation.evaluation.scoring.rankings import RunRows

TAG = "unanswerable"
CONFIDENCE = "score of the first document"
KEPT = 0.95
TOO_FEW = f"fewer than {MINIMUM_QUERIES} answerable or unanswerable queries"
CONSTANT = "every first document has the same score, as in a file with ranks alone"


@dataclass(frozen=True)
class AbstentionFigures:
    """How a run deals with unanswerable queries.

    Attributes
    ----------
    answerable: queries with a relevant document that are not tagged `unanswerable`.
    unanswerable: judged queries without a relevant document; people tagged `tagged` of them so.
    contradictory, unjudged: queries with the tag and a relevant document, and queries without a grade; both
        are in neither class.
    area: under the ROC curve, with DeLong's interval; without a value it says why there are no figures.
    threshold: confidence from which on `kept` of the answerable queries are answered.
    kept: the share of answerable queries that the threshold keeps, at least `KEPT`.
    refused: share of the unanswerable queries below the threshold; its interval is a bootstrap over both
        classes, because the threshold moves with the answerable queries.
    empty_unanswerable, empty_answerable: share of all queries of the class that have no row in the
        file. A run file cannot say whether the system found nothing there or was not asked: see `note`.
    curve: threshold, share of answerable queries kept, and share of unanswerable ones refused, from the
        highest threshold to the lowest, which is None and answers all. Together with the run it tells which
        queries are unanswerable, so it is not for sealed parts.
    """

    answerable: int
    unanswerable: int
    tagged: int
    contradictory: int
    unjudged: int
    area: Estimate
    threshold: float | None
    kept: float | None
    refused: Estimate
    empty_unanswerable: Estimate
    empty_answerable: Estimate
    curve: tuple[tuple[float | None, float, float], ...]

    @property
    def note(self) -> str:
        """Why figures are missing, and of how many queries silence is not known."""
        n = self.empty_unanswerable.n
        unsent = round((self.empty_unanswerable.value or 0.0) * n)
        silence = (
            f"{unsent:,} of the {n:,} unanswerable have no row in the file: they count as refused, though "
            "the system may never have been asked"
        )
        return "; ".join([*([self.area.why] if self.area.why else []), *([silence] if unsent else [])])


def run_refusal(rows: RunRows, qrels: Qrels, facets: Mapping[str, Facet], seed: int) -> AbstentionFigures:
    """The figures of one run.

    Parameters
    ----------
    facets: of the evaluated queries, by name.
    """
    tags = facets["tag"].values
    tagged = tags[TAG] if TAG in tags else np.zeros(len(qrels.query_ids), bool)
    judged = np.bincount(qrels.query, minlength=len(qrels.query_ids))
    confidence = top_confidence(rows.query, rows.scores, len(qrels.query_ids))
    return refusal_figures(confidence, qrels.relevant_documents, judged, tagged, seed)


def refusal_figures(
    confidence: Floats, relevant: Ints, judged: Ints, tagged: Mask, seed: int
) -> AbstentionFigures:
    """What the confidence says of Q queries.

    Parameters
    ----------
    confidence: shape (Q,), −∞ where the run returned no document.
    relevant, judged: relevant and judged documents of each query, shape (Q,).
    tagged: queries with the tag `unanswerable`, shape (Q,).
    """
    unanswerable = (judged > 0) & (relevant == 0)
    cases, controls = confidence[(relevant > 0) & ~tagged], confidence[unanswerable]
    undefined = _undefined(confidence, cases, controls)
    area, threshold, refused = Estimate(why=undefined), None, Estimate(n=len(controls))
    if undefined is None:
        roc, threshold = roc_area(cases, controls), threshold_keeping(cases)
        area = Estimate(roc.value, roc.low, roc.high, len(cases) + len(controls))
        refused = _refused(cases, controls, threshold, seed)
    return AbstentionFigures(
        answerable=len(cases),
        unanswerable=len(controls),
        tagged=int((unanswerable & tagged).sum()),
        contradictory=int((tagged & (relevant > 0)).sum()),
        unjudged=int((judged == 0).sum()),
        area=area,
        threshold=_finite(threshold),
        kept=None if threshold is None else float((cases >= threshold).mean()),
        refused=refused,
        empty_unanswerable=_share(np.isneginf(controls)),
        empty_answerable=_share(np.isneginf(cases)),
        curve=() if undefined else _curve(cases, controls),
    )


def top_confidence(query: Ints, scores: Floats, queries: int) -> Floats:
    """The highest score of each query, −∞ where it has no document, shape (Q,).

    Parameters
    ----------
    query, scores: of the places of a run, in any order.
    """
    highest = np.full(queries, -np.inf)
    np.maximum.at(highest, query, scores)
    return highest


def threshold_keeping(answerable: Floats, share: float = KEPT) -> float:
    """The highest threshold at or above which at least this share of the confidences is."""
    lost = floor(len(answerable) * (1 - share) + 1e-9)
    return float(np.sort(answerable)[lost])


def _finite(threshold: float | None) -> float | None:
    return None if threshold is None or np.isinf(threshold) else threshold


def _curve(cases: Floats, controls: Floats) -> tuple[tuple[float | None, float, float], ...]:
    return tuple(
        (_finite(point.threshold), point.cases, 1 - point.controls) for point in roc_curve(cases, controls)
    )


def _undefined(confidence: Floats, cases: Floats, controls: Floats) -> str | None:
    if min(len(cases), len(controls)) < MINIMUM_QUERIES:
        return TOO_FEW
    known = confidence[~np.isneginf(confidence)]
    if len(known) > 1 and (known == known[0]).all() and len(known) == len(confidence):
        return CONSTANT
    return None


def _refused(cases: Floats, controls: Floats, threshold: float, seed: int) -> Estimate:
    random = np.random.Generator(np.random.PCG64(seed))
    drawn = np.sort(random.choice(cases, (RESAMPLES, len(cases))), axis=1)
    lost = floor(len(cases) * (1 - KEPT) + 1e-9)
    refused = random.choice(controls, (RESAMPLES, len(controls))) < drawn[:, [lost]]
    value = float((controls < threshold).mean())
    low, high = percentile_interval(refused.mean(axis=1), len(controls)) or (None, None)
    if value in (0.0, 1.0):  # resamples of the unanswerable queries alone would have no width
        low, high = wilson(round(value * len(controls)), len(controls))
    return Estimate(value, low, high, len(controls))


def _share(mask: Mask) -> Estimate:
    return share_estimate(int(mask.sum()), len(mask))
