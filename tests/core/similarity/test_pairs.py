"""Shingles, exact Jaccard, and the recall of the MinHash search."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from datasketch import MinHash, MinHashLSH
from hypothesis import given, settings
from hypothesis import strategies as st

from curation.core.progress import silent
from curation.core.similarity.minhash import (
    MIN_RECALL,
    MINHASH_SEED,
    NUM_PERM,
    choose_banding,
    compute_signatures,
    find_candidates,
)
from curation.core.similarity.pairs import Search, exact_links, find_similar_pairs, minhash_links
from curation.core.similarity.shingles import (
    character_shingles,
    collect_distinct_sets,
    jaccard,
    word_shingles,
)
from tests.support import examples
from tests.support.icecat import first_products

Triple = tuple[int, int, float]


def pairs(search: Search, sets: Sequence[frozenset[str]], threshold: float) -> list[Triple]:
    """All that a search finds, ordered: two numbers and their similarity."""
    found, numbers = collect_distinct_sets(sets, single=range(len(sets)))
    texts = [place for place, number in enumerate(numbers.tolist()) if number >= 0]
    return sorted(
        (texts[first], texts[second], similarity)
        for links in search(found, threshold, silent)
        for first, second, similarity in zip(*(column.tolist() for column in links), strict=True)
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
    ("first", "second", "expected"),
    [("laptop", "laptops", 4 / 5), ("iphone 14 case", "iphone 13 case", 9 / 15), ("dvd", "usb", 0)],
)
def test_query_similarity_is_the_jaccard_of_character_3_grams(
    first: str, second: str, expected: float
) -> None:
    assert jaccard(character_shingles(first), character_shingles(second)) == pytest.approx(expected)


@pytest.mark.slow
@given(SHINGLE_SETS, st.sampled_from([0.2, 1 / 3, 0.5, 0.65, 1.0]))
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
@settings(max_examples=examples(30))
def test_minhash_pairs_are_verified_exactly_and_identical_sets_always_found(
    sets: list[frozenset[str]],
) -> None:
    matched = pairs(minhash_links, sets, 0.5)
    assert set(matched) <= set(pairs(exact_links, sets, 0.5))
    assert {pair for pair in matched if pair[2] == 1} == set(pairs(exact_links, sets, 1.0))


@pytest.mark.parametrize("threshold", [0.1, 0.3, 0.5, 0.65, 0.8, 0.9, 0.95, 1.0])
def test_the_bands_keep_the_recall_at_the_threshold_with_the_fewest_candidates(threshold: float) -> None:
    bands = choose_banding(threshold)
    assert bands.bands * bands.rows <= NUM_PERM
    assert bands.recall(threshold) >= MIN_RECALL
    longer = bands._replace(
        rows=bands.rows + 1, bands=NUM_PERM // (bands.rows + 1) if bands.rows < NUM_PERM else 0
    )
    assert longer.recall(threshold) < MIN_RECALL


@pytest.mark.slow
@pytest.mark.parametrize("size", [100, 1000, 2500])
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
    matched = pairs(minhash_links, sets, 0.8)
    assert {(ids[first], ids[second]) for first, second, _ in matched} == truth
    assert len(truth) == {100: 5, 1000: 10, 2500: 20}[size]
    assert matched == pairs(exact_links, sets, 0.8)


@given(SHINGLE_SETS, st.sampled_from([0.2, 0.5, 1.0]))
@settings(max_examples=examples(50))
def test_a_forest_joins_what_all_pairs_join_by_the_strongest_and_counts_them_all(
    sets: list[frozenset[str]], threshold: float
) -> None:
    every = pairs(exact_links, sets, threshold)
    similar = find_similar_pairs(sets, threshold, exact_links)
    kept = sorted(zip(*(column.tolist() for column in similar.links()), strict=True))
    assert similar.pairs == len(every)
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
    similar = find_similar_pairs([word_shingles("one two three four")] * 1000, 0.8, search)
    assert similar.pairs == 499_500
    assert similar.links().first.tolist() == [0] * 999
    assert similar.links().second.tolist() == list(range(1, 1000))


@pytest.mark.slow
def test_the_bands_give_the_candidates_of_a_plain_index_each_once(shared: Path) -> None:
    titles = {product["title"] for product in first_products(shared, 1500)}
    sets, _ = collect_distinct_sets(word_shingles(title) for title in sorted(titles))
    bands = choose_banding(0.6)
    index = MinHashLSH(num_perm=NUM_PERM, params=tuple(bands))
    plain = set()
    for number, signature in enumerate(row for block in compute_signatures(sets) for row in block):
        sketch = MinHash(num_perm=NUM_PERM, seed=MINHASH_SEED, hashvalues=signature, scheme="affine32")
        plain |= {(earlier, number) for earlier in index.query(sketch)}
        index.insert(number, sketch, check_duplication=False)
    ours = [pair for block in find_candidates(sets, bands) for pair in zip(*map(list, block), strict=True)]
    assert len(ours) == len(set(ours)) > 50
    assert set(ours) == plain


@pytest.mark.slow
@given(SHINGLE_SETS, st.data())
@settings(max_examples=examples(50))
def test_whatever_pairs_of_single_texts_are_taken_away_the_groups_are_those_of_the_other_pairs(
    sets: list[frozenset[str]], data: st.DataObject
) -> None:
    single = [number for number in range(len(sets)) if data.draw(st.booleans())]
    every = pairs(exact_links, sets, 0.5)
    similar = find_similar_pairs(sets, 0.5, exact_links, single=single)
    kept = list(zip(*(column.tolist() for column in similar.links()), strict=True))
    assert similar.pairs == len(every)
    assert len(kept) == len(set(kept))
    between_single = [row for row in every if {row[0], row[1]} <= set(single)]
    assert set(between_single) <= set(kept) <= set(every)
    away = {row for row in between_single if data.draw(st.booleans())}
    left = [[row for row in rows if row not in away] for rows in (kept, every)]
    assert components(len(sets), left[0]) == components(len(sets), left[1])


def test_signatures_are_those_of_datasketch() -> None:
    texts = [
        word_shingles(f"the {word} brown fox jumps over the {word} dog") for word in ("quick", "lazy", "a")
    ]
    sets, _ = collect_distinct_sets([*texts, word_shingles("short")])
    (block,) = compute_signatures(sets)
    for number, row in enumerate(block):
        sketch = MinHash(num_perm=NUM_PERM, seed=MINHASH_SEED, scheme="affine32", hashfunc=int)
        sketch.update_batch((sets.hashes[sets.matrix[number].indices] & np.uint64(0xFFFFFFFF)).tolist())
        assert row.tolist() == sketch.hashvalues.tolist()
