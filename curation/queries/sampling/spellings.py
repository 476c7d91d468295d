"""Spellings of one query: logged queries that differ only by one typo.

The similarity of two normalized queries is the exact Jaccard index of their 3-grams. Similarity without
further conditions would join "womens running shoes" with "mens running shoes" (0.89) and "iphone 13 case"
with "iphone 14 case" (0.65). So two spellings of a query must also have the same essentials in the same
order: numbers, model names (words with a digit), addresses and dotted names, signs as in c++ or -word, and
negations. The two spellings must also differ only by

- an added or missing space, hyphen or other punctuation, or a plural s; or
- an added, missing, different or swapped letter in a word of at least five letters with the same first
  letter, if the query is asked at most half as often: two common words are different words (horse, house).

Each group of spellings has a leader, its most asked spelling, and every member of the group is similar to the
leader. So there are no chains of similar spellings whose ends differ.

Pairs of spellings are found without comparing all queries with each other: two texts that differ by one
letter are equal after leaving out the right letter of one or both texts. The hashes of all texts without one
letter are sorted, and neighbours with equal hashes are verified. So no pair of spellings is missed.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from curation.core.progress import Progress, silent
from curation.core.similarity.shingles import character_shingles, jaccard
from curation.core.statistics.arrays import Ints

Keys = NDArray[np.uint64]
THRESHOLD = 0.6
"""Smallest similarity of a spelling and its leader; one different letter in n letters costs 6 / (n + 1)."""
MIN_WORD_LENGTH = 5
"""Fewest letters of a word in which one letter may differ; cat and car are different words."""
NEGATIONS = frozenset(
    "no not non never none nor neither without except exclude excluding minus cannot nothing nobody "
    "nicht kein keine keinen ohne nie sans pas jamais aucun sin nunca senza niet zonder geen".split()
)
_EDGES = "\"'“”„‘’.,;:?!()[]{}<>"
_ESSENTIAL_SIGN = re.compile(r"[0-9+#./@:\\]")
_SPACERS = re.compile(r"[^\w+#]|_")
_MULTIPLIER = 0x9E3779B97F4A7C15
_BASE = 0x100000001B3
_SALT = 0xC2B2AE3D27D4EB4F


def group_spellings(queries: Sequence[str], traffic: Ints, progress: Progress = silent) -> Ints:
    """Find the position of each query's leading spelling, shape (queries,); for a leading spelling, its own
    position.

    Parameters
    ----------
    traffic: number of searches of each query, shape (queries,).
    """
    by_text = np.array(sorted(range(len(queries)), key=queries.__getitem__), np.int64)
    order = by_text[np.argsort(-traffic[by_text], kind="stable")]
    texts = [queries[query] for query in order.tolist()]
    counts = traffic[order].tolist()
    leaders = np.arange(len(texts))
    is_leader = np.ones(len(texts), bool)
    pairs = _find_candidate_pairs(texts, progress)
    for first, second in pairs.tolist():  # ordered by first query, whose leader is then known
        if is_leader[first] and is_leader[second] and _is_spelling(texts, counts, first, second):
            leaders[second] = first
            is_leader[second] = False
    leaders_by_position = np.empty(len(texts), np.int64)
    leaders_by_position[order] = order[leaders]
    return leaders_by_position


def find_essentials(normalised: str) -> tuple[str, ...]:
    """Find a query's essentials: words with a digit, a sign or a dot, and negations."""
    return _Essentials().of(normalised)


def classify_difference(first: str, second: str) -> str | None:
    """Return how two queries with the same essentials differ: in 'form', in one 'letter', or in more than
    that (None)."""
    if _squeeze_text(first) == _squeeze_text(second):
        return "form"
    first_words, second_words = ([_squeeze_text(word) for word in text.split()] for text in (first, second))
    different = [pair for pair in zip(first_words, second_words, strict=False) if pair[0] != pair[1]]
    if len(first_words) != len(second_words) or len(different) != 1:
        return None
    short, long = sorted(different[0], key=len)
    if long == f"{short}s" and len(short) > 2:
        return "form"
    begins_alike = short[:1] == long[:1] and len(short) >= MIN_WORD_LENGTH
    return "letter" if begins_alike and _is_one_edit(short, long) else None


def _is_spelling(texts: list[str], counts: list[int], leader: int, candidate: int) -> bool:
    difference = classify_difference(texts[leader], texts[candidate])
    if difference is None or (difference == "letter" and 2 * counts[candidate] > counts[leader]):
        return False
    return jaccard(character_shingles(texts[leader]), character_shingles(texts[candidate])) >= THRESHOLD


class _Essentials(dict[str, str | None]):
    """A cache of the essential parts of words: word as written → essential part of the word, or None."""

    def __missing__(self, word: str) -> str | None:
        trimmed = _trim_punctuation(word)
        self[word] = kept = trimmed if _is_essential(trimmed) else None
        return kept

    def of(self, normalised: str) -> tuple[str, ...]:
        """Return the essential words of a query, in which a difference is never a typo."""
        return tuple(word for word in map(self.__getitem__, normalised.split()) if word is not None)


def _is_essential(word: str) -> bool:
    if word[:1] in "-!+" or word.endswith(("n't", "n’t")) or not NEGATIONS.isdisjoint(word.split("-")):
        return True
    return bool(_ESSENTIAL_SIGN.search(word)) or (not word.isascii() and any(map(str.isdigit, word)))


def _trim_punctuation(word: str) -> str:
    return word.rstrip(_EDGES).lstrip(_EDGES.replace("!", ""))


def _squeeze_text(text: str) -> str:
    joined = text.replace(" ", "")
    return joined if joined.isalnum() else _SPACERS.sub("", joined)


def _is_one_edit(short: str, long: str) -> bool:
    """Return whether two words differ by one added or different letter, or by two swapped letters."""
    at = next((index for index, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    if len(short) < len(long):
        return short[at:] == long[at + 1 :]
    swapped = short[at + 1 : at + 2] + short[at : at + 1] + short[at + 2 :]
    return len(short) == len(long) and (short[at + 1 :] == long[at + 1 :] or swapped == long[at:])


def _find_candidate_pairs(texts: Sequence[str], progress: Progress) -> Ints:
    """Find pairs of queries that may differ by one typo, as positions first < second, shape (pairs, 2)."""
    codes: dict[tuple[str, ...], int] = {}
    cache = _Essentials()
    codes_of = np.array([codes.setdefault(cache.of(text), len(codes)) for text in texts], np.uint64)
    # a text with a unique code is in no pair
    positions = np.flatnonzero(np.bincount(codes_of.astype(np.int64))[codes_of] > 1)
    squeezed = {position: _squeeze_text(texts[position]) for position in positions.tolist()}
    by_length: dict[int, list[int]] = defaultdict(list)
    for position, text in squeezed.items():
        by_length[len(text)].append(position)
    pairs_by_length = [np.empty((0, 2), np.int64)]
    shorter: tuple[int, Keys, Ints] = (-1, np.empty(0, np.uint64), np.empty(0, np.int64))
    for number, length in enumerate(sorted(by_length), 1):
        owners = np.array(by_length[length], np.int64)
        text_hashes, shortened_hashes = _hash_texts([squeezed[owner] for owner in by_length[length]], length)
        salts = codes_of[owners] * np.uint64(_SALT)
        keys = [(shortened_hashes + salts[:, None]).ravel()]
        key_owners = [np.repeat(owners, shortened_hashes.shape[1])]
        if shorter[0] == length - 1:
            keys.append(shorter[1])
            key_owners.append(shorter[2])
        pairs_by_length.append(_match_equal_keys(np.concatenate(keys), np.concatenate(key_owners)))
        shorter = (length, text_hashes + salts, owners)
        progress("comparing spellings", number, len(by_length))
    pairs = np.concatenate(pairs_by_length)
    return np.unique(pairs[codes_of[pairs[:, 0]] == codes_of[pairs[:, 1]]], axis=0)


def _hash_texts(texts: Sequence[str], length: int) -> tuple[Keys, Keys]:
    """Hash texts of equal length, shape (T,), and each text without one letter, shape (T, length)."""
    code_points = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), np.uint32)
    powers = np.array([pow(_BASE, index, 2**64) for index in range(length)], np.uint64)
    terms = (code_points.reshape(len(texts), length).astype(np.uint64) * np.uint64(_MULTIPLIER)) * powers
    prefix_sums = np.cumsum(terms, axis=1, dtype=np.uint64)
    hashes = prefix_sums[:, -1] if length else np.zeros(len(texts), np.uint64)
    suffix_sums = (hashes[:, None] - prefix_sums) * np.uint64(pow(_BASE, -1, 2**64))
    return hashes, prefix_sums - terms + suffix_sums


def _match_equal_keys(keys: Keys, owners: Ints) -> Ints:
    """Find all pairs of texts with a common key, shape (pairs, 2)."""
    order = np.argsort(keys)
    keys, owners = keys[order], owners[order]
    pair_blocks = [np.empty((0, 2), np.int64)]
    matches = np.flatnonzero(keys[1:] == keys[:-1])
    distance = 1
    while len(matches):
        pairs = np.sort(np.column_stack([owners[matches], owners[matches + distance]]), axis=1)
        pair_blocks.append(np.unique(pairs[pairs[:, 0] != pairs[:, 1]], axis=0))
        distance += 1
        matches = matches[matches + distance < len(keys)]
        matches = matches[keys[matches] == keys[matches + distance]]
    return np.concatenate(pair_blocks)
