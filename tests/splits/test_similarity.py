"""Shingles, exact Jaccard, and the recall of the MinHash search."""

from __future__ import annotations

import gzip
import json
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curation.splits.similarity import (
    LEAST_RECALL,
    NUM_PERM,
    banding,
    character_shingles,
    exact_pairs,
    jaccard,
    minhash_pairs,
    word_shingles,
)

SHINGLE_SETS = st.lists(st.frozensets(st.sampled_from("abcdefgh"), max_size=6), max_size=25)


def test_empty_texts_are_similar_to_nothing_not_even_to_each_other() -> None:
    empty = [character_shingles("  "), word_shingles("?!"), character_shingles("")]
    assert empty == [frozenset()] * 3
    assert jaccard(frozenset(), frozenset()) == 0
    assert exact_pairs(empty, 0.1) == minhash_pairs(empty, 0.1) == []


def test_a_text_shorter_than_a_shingle_is_its_own_shingle() -> None:
    assert character_shingles("TV") == {"tv"}
    assert word_shingles("Nikon D40") == {"nikon d40"}
    assert exact_pairs([character_shingles("tv"), character_shingles(" Tv ")], 1.0) == [(0, 1, 1.0)]


@pytest.mark.parametrize(
    ("first", "second", "similarity"),
    [("laptop", "laptops", 4 / 5), ("iphone 14 case", "iphone 13 case", 9 / 15), ("dvd", "usb", 0)],
)
def test_query_similarity_is_the_jaccard_of_character_3_grams(
    first: str, second: str, similarity: float
) -> None:
    assert jaccard(character_shingles(first), character_shingles(second)) == pytest.approx(similarity)


@given(SHINGLE_SETS, st.sampled_from([0.2, 1 / 3, 0.5, 0.65, 1.0]))
@settings(deadline=None)
def test_the_exact_search_finds_what_comparing_one_by_one_finds(
    sets: list[frozenset[str]], threshold: float
) -> None:
    one_by_one = [
        (first, second, jaccard(sets[first], sets[second]))
        for first, second in combinations(range(len(sets)), 2)
        if jaccard(sets[first], sets[second]) >= threshold
    ]
    assert exact_pairs(sets, threshold) == one_by_one


@given(SHINGLE_SETS)
@settings(max_examples=30, deadline=None)
def test_minhash_pairs_are_verified_exactly_and_identical_sets_always_found(
    sets: list[frozenset[str]],
) -> None:
    found = minhash_pairs(sets, 0.5)
    assert set(found) <= set(exact_pairs(sets, 0.5))
    assert {pair for pair in found if pair.similarity == 1} == set(exact_pairs(sets, 1.0))


@pytest.mark.parametrize("threshold", [0.1, 0.3, 0.5, 0.65, 0.8, 0.9, 0.95, 1.0])
def test_the_bands_keep_the_recall_at_the_threshold_with_the_fewest_candidates(threshold: float) -> None:
    bands = banding(threshold)
    assert bands.bands * bands.rows <= NUM_PERM
    assert bands.recall(threshold) >= LEAST_RECALL
    longer = bands._replace(
        rows=bands.rows + 1, bands=NUM_PERM // (bands.rows + 1) if bands.rows < NUM_PERM else 0
    )
    assert longer.recall(threshold) < LEAST_RECALL


@pytest.mark.parametrize("size", [100, 1000])
def test_all_known_near_copies_of_the_articles_are_found_and_nothing_else(shared: Path, size: int) -> None:
    folder = shared / "minhash_articles"
    with gzip.open(folder / f"articles_{size}.train.gz", "rt", encoding="utf-8") as file:
        articles = dict(line.rstrip("\n").split(" ", 1) for line in file)
    truth = {
        tuple(sorted(line.split()))
        for line in (folder / f"articles_{size}.truth").read_text(encoding="utf-8").splitlines()
    }
    ids = sorted(articles)
    sets = [word_shingles(articles[name]) for name in ids]
    found = minhash_pairs(sets, 0.8)
    assert {(ids[pair.first], ids[pair.second]) for pair in found} == truth
    assert len(truth) == (5 if size == 100 else 10)
    assert found == exact_pairs(sets, 0.8)


def test_minhash_finds_99_of_100_near_duplicate_products(shared: Path) -> None:
    with gzip.open(shared / "chorus_icecat" / "products.jsonl.gz", "rt", encoding="utf-8") as file:
        products = [json.loads(line) for _, line in zip(range(4000), file, strict=False)]
    sets = [word_shingles(f"{row['title']}\n{row.get('short_description') or ''}") for row in products]
    exact = exact_pairs(sets, 0.6)
    found = minhash_pairs(sets, 0.6)
    assert set(found) <= set(exact)
    assert len(exact) > 200
    assert len(found) >= 0.99 * len(exact)
