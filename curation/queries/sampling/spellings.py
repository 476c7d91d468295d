"""Spellings: logged queries that differ by a slip of the hand are one query.

Likeness is the Jaccard of the 3-grams of two normalised queries, exact. That alone would join "womens running
shoes" with "mens running shoes" (0.89) and "iphone 13 case" with "iphone 14 case" (0.65), so a pair must also
be one slip apart:

- the same numbers, model names (words with a digit), addresses and dotted names, signs as in c++ or -word,
  and negations, in one order;
- a space, hyphen or other point more or less, or a plural s; or
- one letter more, less, other or swapped in a word of five letters or more that begins alike, in a query
  asked at most half as often: two words that are both common are two words (horse, house).

Groups have a leader, their most asked spelling, and each member is like the leader itself. There are no
chains, in which step by step everything resembles everything.

Pairs are found without comparing all with all: texts one slip apart are equal once the right letter is left
out of each (or of one), so the hashes of all such texts are sorted and neighbours verified. None is missed.
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
"""Least likeness of a spelling and its leader; one other letter inside a text of n costs 6 / (n + 1)."""
MIN_WORD_LENGTH = 5
"""In a shorter word another letter makes another word: cat, car."""
NEGATIONS = frozenset(
    "no not non never none nor neither without except exclude excluding minus cannot nothing nobody "
    "nicht kein keine keinen ohne nie sans pas jamais aucun sin nunca senza niet zonder geen".split()
)
_EDGES = "\"'“”„‘’.,;:?!()[]{}<>"
_TELLING = re.compile(r"[0-9+#./@:\\]")
_SPACERS = re.compile(r"[^\w+#]|_")
_MULTIPLIER = 0x9E3779B97F4A7C15
_BASE = 0x100000001B3
_MARK = 0xC2B2AE3D27D4EB4F


def group_spellings(queries: Sequence[str], traffic: Ints, progress: Progress = silent) -> Ints:
    """The position of each query's leader, shape (queries,); a leader's is its own.

    Parameters
    ----------
    traffic: how often each was asked, shape (queries,).
    """
    by_text = np.array(sorted(range(len(queries)), key=queries.__getitem__), np.int64)
    order = by_text[np.argsort(-traffic[by_text], kind="stable")]
    texts = [queries[query] for query in order.tolist()]
    times = traffic[order].tolist()
    leaders = np.arange(len(texts))
    is_leader = np.ones(len(texts), bool)
    pairs = _candidates(texts, progress)
    for first, second in pairs.tolist():  # by the rank of the first, so that it is settled by then
        if is_leader[first] and is_leader[second] and _alike(texts, times, first, second):
            leaders[second] = first
            is_leader[second] = False
    result = np.empty(len(texts), np.int64)
    result[order] = order[leaders]
    return result


def essentials(normalised: str) -> tuple[str, ...]:
    """The words of a query that no spelling may change: with a digit, a sign or a dot, and negations."""
    return _Essentials().of(normalised)


def slip(first: str, second: str) -> str | None:
    """How two normalised queries with the same essentials differ: in 'form', by a 'letter', or too much."""
    if _squeezed(first) == _squeezed(second):
        return "form"
    left, right = ([_squeezed(word) for word in text.split()] for text in (first, second))
    different = [pair for pair in zip(left, right, strict=False) if pair[0] != pair[1]]
    if len(left) != len(right) or len(different) != 1:
        return None
    short, long = sorted(different[0], key=len)
    if long == f"{short}s" and len(short) > 2:
        return "form"
    begins_alike = short[:1] == long[:1] and len(short) >= MIN_WORD_LENGTH
    return "letter" if begins_alike and _one_edit(short, long) else None


def _alike(texts: list[str], times: list[int], leader: int, other: int) -> bool:
    how = slip(texts[leader], texts[other])
    if how is None or (how == "letter" and 2 * times[other] > times[leader]):
        return False
    return jaccard(character_shingles(texts[leader]), character_shingles(texts[other])) >= THRESHOLD


class _Essentials(dict[str, str | None]):
    """Word as written → the part that no spelling may change, or None; a log has few words, often."""

    def __missing__(self, word: str) -> str | None:
        trimmed = _trimmed(word)
        self[word] = kept = trimmed if _is_essential(trimmed) else None
        return kept

    def of(self, normalised: str) -> tuple[str, ...]:
        """The essentials of a query."""
        return tuple(word for word in map(self.__getitem__, normalised.split()) if word is not None)


def _is_essential(word: str) -> bool:
    if word[:1] in "-!+" or word.endswith(("n't", "n’t")) or not NEGATIONS.isdisjoint(word.split("-")):
        return True
    return bool(_TELLING.search(word)) or (not word.isascii() and any(map(str.isdigit, word)))


def _trimmed(word: str) -> str:
    return word.rstrip(_EDGES).lstrip(_EDGES.replace("!", ""))


def _squeezed(text: str) -> str:
    joined = text.replace(" ", "")
    return joined if joined.isalnum() else _SPACERS.sub("", joined)


def _one_edit(short: str, long: str) -> bool:
    """Whether one letter more or other, or two swapped neighbours, make one word the other."""
    at = next(
        (index for index, pair in enumerate(zip(short, long, strict=False)) if pair[0] != pair[1]), len(short)
    )
    if len(short) < len(long):
        return short[at:] == long[at + 1 :]
    swapped = short[at + 1 : at + 2] + short[at : at + 1] + short[at + 2 :]
    return len(short) == len(long) and (short[at + 1 :] == long[at + 1 :] or swapped == long[at:])


def _candidates(texts: Sequence[str], progress: Progress) -> Ints:
    """Pairs of positions (first < second) that may be one slip apart, in order, shape (pairs, 2)."""
    codes: dict[tuple[str, ...], int] = {}
    known = _Essentials()
    essential = np.array([codes.setdefault(known.of(text), len(codes)) for text in texts], np.uint64)
    shared = np.flatnonzero(np.bincount(essential.astype(np.int64))[essential] > 1)  # others have no pair
    squeezed = {position: _squeezed(texts[position]) for position in shared.tolist()}
    by_length: dict[int, list[int]] = defaultdict(list)
    for position, text in squeezed.items():
        by_length[len(text)].append(position)
    pairs_by_length = [np.empty((0, 2), np.int64)]
    shorter: tuple[int, Keys, Ints] = (-1, np.empty(0, np.uint64), np.empty(0, np.int64))
    for done, length in enumerate(sorted(by_length), 1):
        owners = np.array(by_length[length], np.int64)
        whole, parts = _hashes([squeezed[owner] for owner in by_length[length]], length)
        mark = essential[owners] * np.uint64(_MARK)
        keys, belong = [(parts + mark[:, None]).ravel()], [np.repeat(owners, parts.shape[1])]
        if shorter[0] == length - 1:
            keys.append(shorter[1])
            belong.append(shorter[2])
        pairs_by_length.append(_neighbours(np.concatenate(keys), np.concatenate(belong)))
        shorter = (length, whole + mark, owners)
        progress("comparing spellings", done, len(by_length))
    pairs = np.concatenate(pairs_by_length)
    return np.unique(pairs[essential[pairs[:, 0]] == essential[pairs[:, 1]]], axis=0)


def _hashes(texts: Sequence[str], length: int) -> tuple[Keys, Keys]:
    """Hashes of texts of one length, shape (T,), and of each text without one letter, shape (T, length)."""
    signs = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), np.uint32)
    powers = np.array([pow(_BASE, index, 2**64) for index in range(length)], np.uint64)
    terms = (signs.reshape(len(texts), length).astype(np.uint64) * np.uint64(_MULTIPLIER)) * powers
    upto = np.cumsum(terms, axis=1, dtype=np.uint64)
    whole = upto[:, -1] if length else np.zeros(len(texts), np.uint64)
    after = (whole[:, None] - upto) * np.uint64(pow(_BASE, -1, 2**64))
    return whole, upto - terms + after


def _neighbours(keys: Keys, owners: Ints) -> Ints:
    """All pairs of owners that share a key, shape (pairs, 2)."""
    order = np.argsort(keys)
    keys, owners = keys[order], owners[order]
    pair_blocks = [np.empty((0, 2), np.int64)]
    places = np.flatnonzero(keys[1:] == keys[:-1])
    distance = 1
    while len(places):
        pairs = np.sort(np.column_stack([owners[places], owners[places + distance]]), axis=1)
        pair_blocks.append(np.unique(pairs[pairs[:, 0] != pairs[:, 1]], axis=0))
        distance += 1
        places = places[places + distance < len(keys)]
        places = places[keys[places] == keys[places + distance]]
    return np.concatenate(pair_blocks)
