"""Inferred AP and nDCG against trec_eval, full judgments, and samples of real ones."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from curation.retrieval import Bm25
from curation.scoring.metrics.inferred import SampledStratum, inferred_ap, inferred_ndcg
from curation.store.rows import Document, Query
from tests.support import examples
from tests.support.smart import qrels, records

NAMES = [f"d{number}" for number in range(12)]


def is_relevant(grade: int) -> bool:
    return grade > 0


def engine(qrel: Mapping[str, int], ranking: Sequence[str], measure: str) -> float:
    run = {"q": {name: 100.0 - place for place, name in enumerate(ranking)}}
    found = pytrec_eval.RelevanceEvaluator({"q": dict(qrel)}, {measure}).evaluate(run)
    return next(iter(found["q"].values()))


@settings(max_examples=examples(80))
@given(st.permutations(NAMES), st.dictionaries(st.sampled_from(NAMES[:9]), st.integers(0, 1), min_size=1))
def test_with_one_stratum_it_is_the_inferred_ap_of_trec_eval(
    order: list[str], grades: dict[str, int]
) -> None:
    """trec_eval marks what is in the pool and was not judged by −1; d9 to d11 are not in the pool."""
    stratum = SampledStratum(frozenset(NAMES[:9]), grades)
    found = inferred_ap(order, [stratum], is_relevant)
    if not any(grades.values()):
        assert found is None
    else:
        marked = dict.fromkeys(NAMES[:9], -1) | grades
        assert found == pytest.approx(engine(marked, order, "infAP"), abs=1e-6)


@settings(max_examples=examples(80))
@given(
    st.permutations(NAMES),
    st.dictionaries(st.sampled_from(NAMES), st.integers(0, 3), min_size=1),
    st.integers(0, 12),
)
def test_judged_in_full_they_are_the_measures_themselves(
    order: list[str], grades: dict[str, int], cut: int
) -> None:
    names = sorted(grades)
    parts = [names[:cut], names[cut:]]
    strata = [SampledStratum(frozenset(part), {name: grades[name] for name in part}) for part in parts]
    if not any(grades.values()):
        assert inferred_ap(order, strata, is_relevant) is inferred_ndcg(order, strata, 5) is None
        return
    assert inferred_ap(order, strata, is_relevant) == pytest.approx(engine(grades, order, "map"), abs=1e-4)
    assert inferred_ndcg(order, strata, 5) == pytest.approx(engine(grades, order, "ndcg_cut.5"))


def test_half_a_stratum_counts_twice() -> None:
    """Of a b c d two were judged, a relevant one at rank 2: R̂ = 2, both at rank 1 and 2 in the best order."""
    stratum = SampledStratum(frozenset("abcd"), {"b": 1, "c": 0})
    discount = 1 / np.log2(3)
    assert inferred_ndcg("abcd", [stratum], 10) == pytest.approx(2 * discount / (1 + discount))
    assert inferred_ap("bacd", [stratum], is_relevant) == pytest.approx(1)


def test_a_stratum_without_a_judgment_gives_no_estimate_and_an_empty_one_counts_nothing() -> None:
    known, unknown = SampledStratum(frozenset("a"), {"a": 1}), SampledStratum(frozenset("b"), {})
    assert (
        inferred_ap("ab", [known, unknown], is_relevant) is inferred_ndcg("ab", [known, unknown], 5) is None
    )
    empty = SampledStratum(frozenset(), {})
    assert inferred_ap("ab", [known, empty], is_relevant) == inferred_ndcg("ab", [known, empty], 5) == 1


@pytest.mark.slow
def test_samples_of_real_judgments_give_what_all_of_them_give(shared: Path) -> None:
    """CISI, BM25, queries with 20 relevant documents or more in a pool of two systems' first 100: all of the
    first 10 judged and a third of the others. The mean over queries is
    right, where AP that takes the rest for not relevant is too high."""
    found = _estimates(shared, samples=15)
    errors = (found[:, 1:] - found[:, :1]).mean(axis=0)
    ap, ndcg, taken_for_not_relevant = errors.T
    assert abs(ap.mean()) < 0.005 > abs(ndcg.mean()), errors
    assert ap.std() < 0.03 > ndcg.std(), errors
    assert taken_for_not_relevant.mean() > 5 * abs(ap.mean()), errors


def _estimates(shared: Path, samples: int) -> np.ndarray:
    """Shape (queries, 1 + samples, 3): AP, nDCG@50 and plain AP of all judgments, then of each sample."""
    folder = shared / "smart" / "cisi"
    documents = [Document(name, name, "", text) for name, text in records(folder / "CISI.ALL").items()]
    judged = qrels(folder / "CISI.REL")
    asked = [
        Query(name, text, text, "w") for name, text in records(folder / "CISI.QRY").items() if name in judged
    ]
    lists = [
        [[hit.document_id for hit in hits] for hits in Bm25(documents, stemmer=stemmer).search(asked, 100)]
        for stemmer in (None, "english")
    ]
    rows = []
    for query, *pooled in zip(asked, *lists, strict=True):
        top = {name for ranking in pooled for name in ranking[:10]}
        rest = {name for ranking in pooled for name in ranking} - top
        grades = {name: int(name in judged[query.query_id]) for name in top | rest}
        if sum(grades.values()) < 20:
            continue
        random_order = random.Random(query.query_id)
        sampled = [sorted(rest), *(random_order.sample(sorted(rest), len(rest) // 3) for _ in range(samples))]
        rows.append([_measures(pooled[0], grades, top, rest, chosen) for chosen in sampled])
    return np.array(rows, float)


def _measures(
    ranking: Sequence[str], grades: Mapping[str, int], top: set[str], rest: set[str], chosen: Sequence[str]
) -> tuple[float | None, ...]:
    strata = [
        SampledStratum(frozenset(top), {name: grades[name] for name in top}),
        SampledStratum(frozenset(rest), {name: grades[name] for name in chosen}),
    ]
    judged = {name: grades[name] for name in [*top, *chosen]}
    inferred = inferred_ap(ranking, strata, is_relevant), inferred_ndcg(ranking, strata, 50)
    return *inferred, engine(judged, ranking, "map")
