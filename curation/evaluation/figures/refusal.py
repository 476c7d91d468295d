"""Unanswerable queries: whether a system's confidence tells them from those that the corpus answers.

A query is taken as unanswerable if none of its judged documents is relevant. A query that people tagged
`unanswerable` though a relevant document is known contradicts itself: it is in neither class, and counted.
The tag alone decides nothing, but the figures say how many of the unanswerable queries have it. The others
may have a relevant document that nobody judged.

The confidence is the score of the first document; a query without a document has the least confidence there
is. Scores of different queries must compare for that, which those of a rank fusion do not. A system that asks
whether to answer sets a threshold. The area under the ROC curve says how well any threshold can do: the
probability that an answerable query has more confidence than an unanswerable one. The refusal rate says what
one threshold does: the highest that keeps at least 95 % of the answerable queries.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import floor
from typing import NamedTuple

import numpy as np

from curation.core.statistics.arrays import Floats, Ints, Mask
from curation.core.statistics.intervals import MINIMUM_QUERIES, RESAMPLES, percentile_interval, wilson
from curation.core.statistics.roc import roc_area, roc_curve
from curation.evaluation.figures.means import Figure
from curation.evaluation.scoring.inputs.facets import Facet
from curation.evaluation.scoring.metrics.qrels import Qrels, RunRows

TAG = "unanswerable"
CONFIDENCE = "score of the first document"
KEPT = 0.95
TOO_FEW = f"fewer than {MINIMUM_QUERIES} answerable or unanswerable queries"
CONSTANT = "every first document has the same score, as in a file with ranks alone"


@dataclass(frozen=True)
class AnswerClasses:
    """Which of the queries the corpus answers, each array of shape (Q,).

    Attributes
    ----------
    answerable: with a relevant document, and not tagged `unanswerable`.
    unanswerable: judged, without a relevant document.
    tagged: of the unanswerable ones, how many people tagged so.
    contradictory: queries with the tag and a relevant document; they are in neither class.
    unjudged: queries without a grade; they are in neither class.
    """

    answerable: Mask
    unanswerable: Mask
    tagged: int
    contradictory: int
    unjudged: int


class RefusalPoint(NamedTuple):
    """What a threshold does: the answerable queries that it keeps, and the unanswerable ones that it refuses.

    Attributes
    ----------
    threshold: least confidence of a query that is answered; None answers all.
    """

    threshold: float | None
    kept: float
    refused: float


@dataclass(frozen=True)
class AbstentionFigures:
    """How a run deals with unanswerable queries.

    Attributes
    ----------
    answerable, unanswerable: queries of each class; `tagged`, `contradictory` and `unjudged` as in
        `AnswerClasses`.
    area, error, low, high: the ROC area, DeLong's standard error and the 95 % interval; None where
        `undefined` says why.
    threshold: confidence from which on `kept` of the answerable queries are answered.
    kept: the share of answerable queries that the threshold keeps, at least `KEPT`.
    refused: share of the unanswerable queries below the threshold; its interval is a bootstrap over both
        classes, because the threshold moves with the answerable queries.
    empty_unanswerable, empty_answerable: share of all queries of the class that have no row in the
        file. A run file cannot say whether the system found nothing there or was not asked: see `note`.
    curve: from the highest threshold to the lowest. Together with the run it tells which queries are
        unanswerable, so it is not for sealed parts.
    """

    confidence: str
    answerable: int
    unanswerable: int
    tagged: int
    contradictory: int
    unjudged: int
    area: float | None
    error: float | None
    low: float | None
    high: float | None
    threshold: float | None
    kept: float | None
    refused: Figure
    empty_unanswerable: Figure
    empty_answerable: Figure
    undefined: str | None
    curve: tuple[RefusalPoint, ...]

    @property
    def note(self) -> str:
        """Why figures are missing, and of how many queries silence is not known."""
        n = self.empty_unanswerable.n
        unsent = round((self.empty_unanswerable.value or 0.0) * n)
        silence = (
            f"{unsent:,} of the {n:,} unanswerable have no row in the file: they count as refused, though "
            "the system may never have been asked"
        )
        return "; ".join([*([self.undefined] if self.undefined else []), *([silence] if unsent else [])])


def run_refusal(rows: RunRows, qrels: Qrels, facets: Mapping[str, Facet], seed: int) -> AbstentionFigures:
    """The figures of one run.

    Parameters
    ----------
    facets: of the evaluated queries; see `evaluation.scoring.inputs.release`.
    """
    tags = facets["tag"].values
    tagged = tags[TAG] if TAG in tags else np.zeros(len(qrels.query_ids), bool)
    judged = np.bincount(qrels.query, minlength=len(qrels.query_ids))
    classes = answer_classes(qrels.relevant_documents, judged, tagged)
    confidence = top_confidence(rows.query, rows.scores, len(qrels.query_ids))
    return refusal_figures(confidence, classes, seed)


def answer_classes(relevant: Ints, judged: Ints, tagged: Mask) -> AnswerClasses:
    """The queries by class.

    Parameters
    ----------
    relevant, judged: relevant and judged documents of each query, shape (Q,).
    tagged: queries with the tag `unanswerable`, shape (Q,).
    """
    unanswerable = (judged > 0) & (relevant == 0)
    return AnswerClasses(
        answerable=(relevant > 0) & ~tagged,
        unanswerable=unanswerable,
        tagged=int((unanswerable & tagged).sum()),
        contradictory=int((tagged & (relevant > 0)).sum()),
        unjudged=int((judged == 0).sum()),
    )


def refusal_figures(confidence: Floats, classes: AnswerClasses, seed: int) -> AbstentionFigures:
    """What the confidence says.

    Parameters
    ----------
    confidence: shape (Q,), −∞ where the run returned no document.
    """
    cases, controls = confidence[classes.answerable], confidence[classes.unanswerable]
    undefined = _undefined(confidence, cases, controls)
    area = None if undefined else roc_area(cases, controls)
    threshold = None if undefined else threshold_keeping(cases)
    return AbstentionFigures(
        confidence=CONFIDENCE,
        answerable=len(cases),
        unanswerable=len(controls),
        tagged=classes.tagged,
        contradictory=classes.contradictory,
        unjudged=classes.unjudged,
        area=None if area is None else area.value,
        error=None if area is None else area.error,
        low=None if area is None else area.low,
        high=None if area is None else area.high,
        threshold=_finite(threshold),
        kept=None if threshold is None else float((cases >= threshold).mean()),
        refused=Figure(n=len(controls)) if threshold is None else _refused(cases, controls, threshold, seed),
        empty_unanswerable=_share(np.isneginf(controls)),
        empty_answerable=_share(np.isneginf(cases)),
        undefined=undefined,
        curve=() if undefined else _curve(cases, controls),
    )


def top_confidence(query: Ints, scores: Floats, queries: int) -> Floats:
    """The highest score of each query, −∞ where it has no document, shape (Q,).

    Parameters
    ----------
    query, scores: of the places of a run, in any order.
    """
    found = np.full(queries, -np.inf)
    np.maximum.at(found, query, scores)
    return found


def threshold_keeping(answerable: Floats, share: float = KEPT) -> float:
    """The highest threshold at or above which at least this share of the confidences is."""
    lost = floor(len(answerable) * (1 - share) + 1e-9)
    return float(np.sort(answerable)[lost])


def _finite(threshold: float | None) -> float | None:
    return None if threshold is None or np.isinf(threshold) else threshold


def _curve(cases: Floats, controls: Floats) -> tuple[RefusalPoint, ...]:
    return tuple(
        RefusalPoint(_finite(point.threshold), point.cases, 1 - point.controls)
        for point in roc_curve(cases, controls)
    )


def _undefined(confidence: Floats, cases: Floats, controls: Floats) -> str | None:
    if min(len(cases), len(controls)) < MINIMUM_QUERIES:
        return TOO_FEW
    found = confidence[~np.isneginf(confidence)]
    if len(found) > 1 and (found == found[0]).all() and len(found) == len(confidence):
        return CONSTANT
    return None


def _refused(cases: Floats, controls: Floats, threshold: float, seed: int) -> Figure:
    random = np.random.Generator(np.random.PCG64(seed))
    drawn = np.sort(random.choice(cases, (RESAMPLES, len(cases))), axis=1)
    lost = floor(len(cases) * (1 - KEPT) + 1e-9)
    refused = random.choice(controls, (RESAMPLES, len(controls))) < drawn[:, [lost]]
    value = float((controls < threshold).mean())
    low, high = percentile_interval(refused.mean(axis=1), len(controls)) or (None, None)
    if value in (0.0, 1.0):  # resamples of the unanswerable queries alone would have no width
        low, high = wilson(round(value * len(controls)), len(controls))
    return Figure(value, low, high, len(controls))


def _share(mask: Mask) -> Figure:
    if not len(mask):
        return Figure()
    count = int(mask.sum())
    return Figure(count / len(mask), *wilson(count, len(mask)), len(mask))
