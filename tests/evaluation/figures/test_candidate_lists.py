"""Candidate lists: hard negatives and what a list without them hides."""

from __future__ import annotations

import pytest

from curation.evaluation.figures.candidate_lists import find_hard_negatives, measure_hard_negatives
from curation.evaluation.protected_figures import protect_effect
from curation.evaluation.scoring.measure_names import parse_measures
from curation.evaluation.scoring.pooled_pairs import read_pooled_pairs
from curation.evaluation.scoring.qrels import qrels_from
from curation.evaluation.scoring.rankings import make_run_rows

MEASURES = parse_measures(["mrr@10", "ndcg@10"])
GRADES = {f"q{n}": {"right": 2, "hard": 0, "easy": 0, "near": 1} for n in range(6)}
CANDIDATES = [
    {"query_id": query, "document_id": document, "system": system, "rank": rank}
    for query in GRADES
    for document, system, rank in (
        ("right", "bm25", 2),
        ("hard", "bm25", 1),
        ("hard", "dense", 4),
        ("easy", "random", None),
        ("unjudged", "bm25", 3),
        ("drawn", "audit:top", None),
    )
]
POOLED = read_pooled_pairs(CANDIDATES, [], GRADES)


def test_a_hard_negative_was_ranked_by_a_system_and_is_below_relevant() -> None:
    qrels = qrels_from(GRADES, relevant=1)
    documents = qrels.documents.to_pylist()
    found = {documents[place] for place in qrels.document[find_hard_negatives(qrels, POOLED)]}
    assert found == {"hard"}
    assert POOLED.ranks["q0", "hard"] == 1
    assert POOLED.random == {(query, "easy") for query in GRADES}
    assert not read_pooled_pairs(CANDIDATES, [], {"other"}).ranks


def test_what_imported_judgments_bring_is_no_easy_negative() -> None:
    imported = [
        {"query_id": query, "document_id": document, "system": "imported", "rank": None}
        for query, documents in GRADES.items()
        for document in documents
    ]
    qrels = qrels_from(GRADES, relevant=1)
    run = make_run_rows({query: {"easy": 2.0, "right": 1.0} for query in GRADES}, qrels)
    effect = measure_hard_negatives(
        {"ours": [run]}, qrels, read_pooled_pairs(imported, [], GRADES), MEASURES, 0
    )
    assert (effect.hard, effect.easy, effect.unknown) == (0, 0, 12)
    assert (
        "and 12 other documents that are not relevant, such as documents of imported judgments"
        in effect.sentence
    )


def test_without_hard_negatives_a_run_looks_better_by_what_they_cost_it() -> None:
    """The run has an unjudged document, the hard negative, the relevant one and an easy negative."""
    qrels = qrels_from(GRADES, relevant=2)
    order = ["unjudged", "hard", "right", "easy"]
    run = {query: {name: -float(place) for place, name in enumerate(order)} for query in GRADES}
    worse = {query: {"right": 1.0} for query in list(GRADES)[1:]}
    effect = measure_hard_negatives(
        {"ours": [make_run_rows(run, qrels)], "short": [make_run_rows(worse, qrels)]},
        qrels,
        POOLED,
        MEASURES,
        0,
    )
    assert (effect.relevant, effect.hard, effect.easy, effect.unknown, effect.queries) == (6, 6, 6, 6, 6)
    ours = effect.systems["ours"]
    assert ours.with_hard["mrr@10"].value == 0.5
    assert ours.without_hard["mrr@10"].value == 1
    assert ours.drop["mrr@10"].value == 0.5
    assert ours.with_hard["mrr@10"].judged == 1
    assert ours.returned == 3 / 4
    short = effect.systems["short"]
    assert short.drop["mrr@10"].value == 0
    assert protect_effect(effect).systems == {}  # of a sealed part
    assert short.with_hard["mrr@10"].value == pytest.approx(5 / 6)


def test_several_runs_of_a_system_are_their_mean() -> None:
    qrels = qrels_from(GRADES, relevant=2)
    first = make_run_rows({query: {"hard": 2.0, "right": 1} for query in GRADES}, qrels)
    second = make_run_rows({query: {"hard": 1.0, "right": 2} for query in GRADES}, qrels)
    [found] = measure_hard_negatives({"s": [first, second]}, qrels, POOLED, MEASURES, 0).systems.values()
    assert found.with_hard["mrr@10"].value == 0.75
    assert found.drop["mrr@10"].value == 0.25
