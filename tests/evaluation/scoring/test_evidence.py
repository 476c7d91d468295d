"""Measures of chunks, against sets of character positions."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from math import log2

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curation.core.errors import InputError
from curation.evaluation.scoring.chunk_measures import UNKNOWN, RunChunks
from curation.evaluation.scoring.evidence import OPEN, make_evidence_ranges
from curation.evaluation.scoring.measure_names import parse_measures
from curation.evaluation.scoring.qrels import qrels_from
from curation.evaluation.scoring.rankings import RunRows
from curation.evaluation.scoring.run_scores import RunScores, score_rows, score_run
from tests.support import examples

Place = tuple[str, int, int]
WORDS = 40
"""Words of each document."""
KINDS = ("recall", "precision", "iou", "hit", "mrr", "ndcg")
GRADES = {"a": 2, "b": 1, "c": 0}
places = st.tuples(st.sampled_from("abc"), st.integers(0, 30), st.integers(1, 12)).map(
    lambda one: (one[0], one[1], one[1] + one[2])
)
cuts = st.lists(st.integers(1, WORDS - 1), max_size=6, unique=True).map(lambda one: [0, *sorted(one), WORDS])


def scores(
    evidence: list[Place], chunks: list[Place], *names: str, grades: dict[str, int] = GRADES
) -> RunScores:
    """One query with its chunks in order; a word of a document begins at each tenth character."""
    qrels = qrels_from({"q": grades})
    marked: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for name, first, last in evidence:
        marked.setdefault(("q", name), []).append((first, last))
    given = {("q", name): grade for name, grade in grades.items()}
    qrels = replace(qrels, evidence=make_evidence_ranges(marked, given, ("q",)))
    ids = [name for name, _, _ in chunks]
    start, end = (np.array([place[at] for place in chunks], np.int64) for at in (1, 2))
    found = RunChunks(
        np.zeros(len(chunks), np.int64),
        np.arange(1, len(chunks) + 1),
        pa.array(ids, pa.string()).dictionary_encode(),
        start,
        end,
        np.where(end < OPEN, -(-end // 10) + (-start // 10), UNKNOWN),
        np.where(
            end < OPEN, -(-start // 10) + np.array([(WORDS + 1) * "abcz".index(one) for one in ids]), UNKNOWN
        ),
        np.tile(np.arange(0, 10 * WORDS + 1, 10), 4),
    )
    documents = list(dict.fromkeys(ids))
    rows_of = RunRows(
        np.zeros(len(documents), np.int64),
        pa.array(documents, pa.string()),
        -np.arange(len(documents), dtype=float),
        found,
    )
    return score_rows(rows_of, qrels, parse_measures(names))


def characters(places: list[Place]) -> set[tuple[str, int]]:
    return {(name, at) for name, start, end in places for at in range(start, end)}


def by_sets(evidence: list[Place], chunks: list[Place], k: int, grades: dict[str, int]) -> list[float]:
    """The same figures from sets of characters, one by one."""
    wanted = characters([place for place in evidence if grades[place[0]] >= 1])
    first = chunks[:k]
    found = wanted & characters(first)
    returned = sum(end - start for _, start, end in first)
    holding = [rank for rank, place in enumerate(first, 1) if wanted & characters([place])]
    gains, seen = [], set[tuple[str, int]]()
    for place in first:
        every = characters([one for one in evidence if one[0] == place[0]])
        new = (every & characters([place])) - seen
        seen |= new
        gains.append(grades[place[0]] * len(new) / len(every) if every else 0.0)
    ideal = sorted((grades[name] for name in {place[0] for place in evidence}), reverse=True)[:k]
    reached, best = (sum(one / log2(rank + 1) for rank, one in enumerate(row, 1)) for row in (gains, ideal))
    return [
        len(found) / len(wanted),
        len(found) / returned if returned else 0.0,
        len(found) / (len(wanted) + returned - len(found)),
        float(bool(holding)),
        1 / holding[0] if holding else 0.0,
        reached / best,
    ]


@settings(max_examples=examples(40))
@given(st.lists(places, max_size=6), st.lists(places, max_size=8), st.integers(1, 9))
def test_measures_of_chunks_are_those_of_sets_of_characters(
    evidence: list[Place], chunks: list[Place], k: int
) -> None:
    evidence = [("a", 3, 9), *evidence]
    scored = scores(evidence, chunks, *(f"evidence_{kind}@{k}" for kind in KINDS))
    assert scored.values[0].tolist() == pytest.approx(by_sets(evidence, chunks, k, GRADES))


@settings(max_examples=examples(60))
@given(st.lists(places, max_size=4), st.permutations("abc"), cuts, cuts, st.booleans(), st.integers(1, 150))
def test_a_budget_of_words_is_decided_by_the_words_and_their_order_alone(
    evidence: list[Place],
    documents: list[str],
    of_one: list[int],
    of_other: list[int],
    gaps: bool,
    budget: int,
) -> None:
    """Two runs with the same words in the same order, in chunks of other sizes, with or without the space
    between two chunks: the value of both is the share of evidence in the first words."""
    evidence = [("a", 33, 96), *evidence]

    def value(ends: list[int], gap: int) -> float:
        chunks = [(name, 10 * start, 10 * end - gap) for name in documents for start, end in pairwise(ends)]
        found: float = scores(evidence, chunks, f"evidence_within@{budget}").values[0, 0]
        return found

    first = [(name, 10 * word, 10 * word + 10) for name in documents for word in range(WORDS)][:budget]
    wanted = characters([place for place in evidence if GRADES[place[0]] >= 1])
    right = len(wanted & characters(first)) / len(wanted)
    assert value(of_one, 0) == value(of_other, int(gaps)) == right


def test_a_chunk_again_costs_its_words_and_gains_nothing() -> None:
    chunks = [("a", 0, 100), ("a", 0, 100), ("a", 100, 200)]
    values = [
        scores([("a", 0, 200)], chunks, f"evidence_within@{budget}").values[0, 0]
        for budget in (5, 10, 20, 25, 30)
    ]
    assert values == [0.25, 0.5, 0.5, 0.75, 1]


def test_evidence_that_an_overlapping_chunk_holds_again_gains_nothing() -> None:
    evidence, names = [("a", 0, 10)], ("evidence_recall@2", "evidence_precision@2", "evidence_ndcg@2")
    once, twice = ([("a", 0, 10), other] for other in (("b", 0, 10), ("a", 0, 10)))
    assert scores(evidence, once, *names).values[0].tolist() == [1, 0.5, 1]
    assert scores(evidence, twice, *names).values[0].tolist() == [1, 0.5, 1]


def test_a_chunk_of_unknown_words_counts_against_the_run_and_leaves_no_query_out() -> None:
    names = ("evidence_within@100", "evidence_precision@2", "evidence_iou@2", "evidence_recall@2")
    known, unknown = ("a", 0, 100), ("z", 0, OPEN)
    evidence = [("a", 5, 15)]
    assert scores(evidence, [unknown, known], *names).values[0].tolist() == [0, 0, 0, 1]
    assert scores(evidence, [known, unknown], *names).values[0].tolist() == [1, 0, 0, 1]


def test_a_whole_document_of_unknown_length_has_recall_and_no_precision() -> None:
    names = ("evidence_recall@1", "evidence_ndcg@1", "evidence_precision@1", "evidence_iou@1")
    scored = scores([("a", 5, 15)], [("a", 0, OPEN)], *names, "context_words@1").values[0]
    assert scored[:4].tolist() == [1, 1, 0, 0]
    assert np.isnan(scored[4])


def test_only_relevant_documents_count_and_a_query_without_evidence_has_no_value() -> None:
    names = ("evidence_recall@5", "evidence_hit@5", "context_words@5")
    scored = scores([("c", 0, 10)], [("c", 0, 100)], *names)
    assert np.isnan(scored.values[0, :2]).all()
    assert scored.values[0, 2] == 10
    assert scored.highest[0, 2] == 50
    assert scored.judged[0].tolist() == [1, 1, 1]
    assert np.isnan([scored.if_none, scored.if_all]).all()


def test_evidence_measures_need_evidence_and_chunks() -> None:
    qrels = qrels_from({"q": {"a": 1}})
    with pytest.raises(InputError, match=r"evidence_recall@5 needs evidence \(passages that people marked"):
        qrels.find_undefined(*parse_measures(["evidence_recall@5"]))
    with pytest.raises(InputError, match="context_words@5 needs chunks, but this list has only documents"):
        score_run({"q": {"a": 1.0}}, qrels, parse_measures(["context_words@5"]))
