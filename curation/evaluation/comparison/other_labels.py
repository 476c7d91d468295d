"""The order of systems under other labels: runs scored again on grades as another annotator may give them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from curation.door import sealed_parts
from curation.evaluation.comparison.label_noise import GradeNoise, NoiseFacts, grade_noise
from curation.evaluation.comparison.order import OrderReport, OrderView, order_over_labels
from curation.releases.stored import BESIDE
from curation.releases.verify import opened
from curation.scoring.inputs.release import EvaluatedRelease
from curation.scoring.metrics.measures import Measure
from curation.scoring.metrics.qrels import Qrels
from curation.scoring.metrics.rankings import UNJUDGED, Rankings, RunRows, rank
from curation.scoring.metrics.scores import values_of
from curation.statistics.arrays import Floats, Ints
from curation.store import Store


def released_noise(store: Store, release: EvaluatedRelease) -> GradeNoise:
    """The noise of the release's own annotators, from pairs that two or more judged.

    Blind duplicates, pilots, practice, other versions of documents and sealed parts do not count.

    Raises
    ------
    InputError: no pair has two annotators.
    """
    found = opened(store, release.frozen or release.name)
    sealed = sealed_parts(found.header)
    hidden = {row["query_id"] for row in found.rows("queries") if row["part"] in sealed}
    beside = {row["round"] for row in found.rows("rounds") if row["kind"] in BESIDE}
    judged: defaultdict[tuple[str, str], dict[str, int]] = defaultdict(dict)
    for row in found.rows("judgments"):
        counts = not row["duplicate"] and row["round"] not in beside and "version" not in row
        if counts and row["grade"] is not None and row["query_id"] not in hidden:
            judged[row["query_id"], row["document_id"]][row["annotator"]] = row["grade"]
    return grade_noise((list(grades.values()) for grades in judged.values()), release.qrels.scale)


def order_with_other_labels(
    systems: Mapping[str, Sequence[RunRows]],
    qrels: Qrels,
    measure: Measure,
    noise: GradeNoise,
    *,
    seed: int,
    draws: int,
) -> OrderView:
    """The view labels of the systems' order by one measure.

    Parameters
    ----------
    systems: name → rows of its runs, whose values are averaged query by query.
    """
    rankings = {name: [rank(rows, qrels) for rows in runs] for name, runs in systems.items()}

    def score(grades: Ints) -> Floats:
        drawn = replace(qrels, grade=grades)
        means = [
            np.mean([values_of(_regraded(one, grades), drawn, [measure])[:, 0] for one in runs], axis=0)
            for runs in rankings.values()
        ]
        return np.stack(means, axis=1)

    values = score(qrels.grade).T
    return order_over_labels(list(systems), values, qrels.grade, noise, score, seed=seed, relabellings=draws)


def with_other_labels(
    store: Store,
    release: EvaluatedRelease,
    order: OrderReport,
    systems: Mapping[str, Sequence[RunRows]],
    measure: Measure,
    *,
    seed: int,
    draws: int,
) -> OrderReport:
    """The report with the view labels, as the release's annotators differ.

    Raises
    ------
    InputError: no pair has two annotators.
    """
    noise = released_noise(store, release)
    view = order_with_other_labels(systems, release.qrels, measure, noise, seed=seed, draws=draws)
    facts = NoiseFacts(noise.judged, noise.grades, noise.unmeasured)
    return replace(order, views=(*order.views, view), noise=facts)


def _regraded(ranking: Rankings, grades: Ints) -> Rankings:
    known = ranking.judged != UNJUDGED
    return replace(ranking, grade=np.where(known, grades[ranking.judged], UNJUDGED))
