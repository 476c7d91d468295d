"""Shingles, exact Jaccard, and the recall of the MinHash search."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curation.progress import silent
from curation.splits.similarity import (
    LEAST_RECALL,
    NUM_PERM,
    Search,
    alike,
    banding,
    character_shingles,
    exact_links,
    jaccard,
    minhash_links,
    word_shingles,
)

Triple = tuple[int, int, float]


def pairs(search: Search, sets: Sequence[frozenset[str]], threshold: float) -> list[Triple]:
    """All that a search finds, ordered: two numbers and their similarity."""
    return sorted(
        row
        for links in search(sets, threshold, silent)
        for row in zip(*(column.tolist() for column in links), strict=True)
    )


SHINGLE_SETS = st.lists(st.frozensets(st.sampled_from("abcdefgh"), max_size=6), max_size=25)


def test_empty_texts_are_similar_to_nothing_not_even_to_each_other() -> None:
    empty = [character_shingles("  "), word_shingles("?!"), character_shingles("")]
    assert empty == [frozenset()] * 3
    assert jaccard(frozenset(), frozenset()) == 0
    assert pairs(exact_links, empty, 0.1) == pairs(minhash_links, empty, 0.1) == []


def test_a_text_shorter_than_a_shingle_is_its_own_shingle() -> None:
    assert character_shingles("TV") == {"tv"}
    assert word_shingles("Nikon D40") == {"nikon d40"}
    assert pairs(exact_links, [character_shingles("tv"), character_shingles(" Tv ")], 1.0) == [(0, 1, 1.0)]


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
    assert pairs(exact_links, sets, threshold) == one_by_one


@given(SHINGLE_SETS)
@settings(max_examples=30, deadline=None)
def test_minhash_pairs_are_verified_exactly_and_identical_sets_always_found(
    sets: list[frozenset[str]],
) -> None:
    found = pairs(minhash_links, sets, 0.5)
    assert set(found) <= set(pairs(exact_links, sets, 0.5))
    assert {pair for pair in found if pair[2] == 1} == set(pairs(exact_links, sets, 1.0))


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
    found = pairs(minhash_links, sets, 0.8)
    assert {(ids[first], ids[second]) for first, second, _ in found} == truth
    assert len(truth) == (5 if size == 100 else 10)
    assert found == pairs(exact_links, sets, 0.8)


def test_minhash_finds_99_of_100_near_duplicate_products(shared: Path) -> None:
    with gzip.open(shared / "chorus_icecat" / "products.jsonl.gz", "rt", encoding="utf-8") as file:
        products = [json.loads(line) for _, line in zip(range(4000), file, strict=False)]
    sets = [word_shingles(f"{row['title']}\n{row.get('short_description') or ''}") for row in products]
    exact = pairs(exact_links, sets, 0.6)
    found = pairs(minhash_links, sets, 0.6)
    assert set(found) <= set(exact)
    assert len(exact) > 200
    assert len(found) >= 0.99 * len(exact)


@given(SHINGLE_SETS, st.sampled_from([0.2, 0.5, 1.0]))
@settings(max_examples=50, deadline=None)
def test_a_forest_joins_what_all_pairs_join_by_the_strongest_and_counts_them_all(
    sets: list[frozenset[str]], threshold: float
) -> None:
    every = pairs(exact_links, sets, threshold)
    found = alike(sets, threshold, exact_links)
    kept = sorted(zip(*(column.tolist() for column in found.forest), strict=True))
    assert found.pairs == len(every)
    assert set(kept) <= set(every)
    for least in {similarity for *_, similarity in every}:
        whole = components(len(sets), [row for row in every if row[2] >= least])
        assert components(len(sets), [row for row in kept if row[2] >= least]) == whole
    assert len(kept) == len(sets) - len(set(components(len(sets), every)))


def components(size: int, rows: Sequence[Triple]) -> list[int]:
    """The smallest member of each node's group."""
    group = list(range(size))
    for first, second, _ in rows:
        one, other = sorted((group[first], group[second]))
        group = [one if member == other else member for member in group]
    return group


@pytest.mark.parametrize("search", [exact_links, minhash_links])
def test_a_thousand_twins_are_a_star_and_half_a_million_pairs_only_in_number(search: Search) -> None:
    found = alike([word_shingles("one two three four")] * 1000, 0.8, search)
    assert found.pairs == 499_500
    assert found.forest.first.tolist() == [0] * 999
    assert found.forest.second.tolist() == list(range(1, 1000))
