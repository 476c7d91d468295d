"""Exhaustive checks for relevant documents and keys shared by queries in different parts of a split."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

from curation.splits.findings import SAME_KEY, SHARED_DOCUMENT, AssignedSplit, Crossing, Findings, TieCheck
from curation.splits.rules import MAX_SESSIONS, SESSION

Holders = dict[tuple[str, ...], list[str]]
"""Map from a document id, or from kind and value of a key, to the queries that have it."""


def check_shared_documents(split: AssignedSplit) -> Findings:
    """Check for documents that are relevant to queries in different parts of the split."""
    holders: Holders = {}
    for query_id in sorted(split.inputs.relevant):
        for document_id in split.inputs.relevant[query_id]:
            holders.setdefault((document_id,), []).append(query_id)
    return find_crossings(split, SHARED_DOCUMENT, holders, split.rules.shared)


def check_keys(split: AssignedSplit) -> Findings | None:
    """Check for keys, such as sessions, shared by queries in different parts; None if there are no keys."""
    key_kinds = set(split.rules.keys)
    if not key_kinds:
        return None
    holders: Holders = {}
    for query_id in sorted(split.inputs.keys):
        keys = sorted(split.inputs.keys[query_id])
        popular = sum(kind == SESSION for kind, _ in keys) > MAX_SESSIONS
        for kind, value in keys:
            if kind in key_kinds and not (kind == SESSION and popular):
                holders.setdefault((kind, value), []).append(query_id)
    return find_crossings(split, SAME_KEY, holders)


def find_crossings(split: AssignedSplit, kind: str, holders: Holders, looked_for: bool = True) -> Findings:
    """Find queries in different parts of the split that share a relevant document or a key.

    For each two parts, the findings hold one pair of queries that is not cut, and all pairs that are cut.
    """
    leaks: list[Crossing] = []
    residual: list[Crossing] = []
    compared = crossing = 0
    for holder in sorted(holders):
        queries_by_part: dict[str, list[str]] = {}
        for query_id in holders[holder]:
            queries_by_part.setdefault(split.parts[query_id], []).append(query_id)
        compared += len(queries_by_part) > 1
        documents = holder if kind == SHARED_DOCUMENT else ()
        for left, right in combinations([queries_by_part[part] for part in sorted(queries_by_part)], 2):
            pairs = ((min(a, b), max(a, b)) for a in left for b in right)
            uncut_pair = next((pair for pair in pairs if frozenset(pair) not in split.cut_pairs), None)
            crossing += uncut_pair is not None
            if not looked_for:
                continue
            if uncut_pair is not None:
                leaks.append(Crossing(*uncut_pair, kind, 1.0, documents))
            cut_pairs = _find_cut_pairs(set(left), set(right), split.cut_pairs)
            residual += [Crossing(*pair, kind, 1.0, documents) for pair in cut_pairs]
    check = TieCheck(kind, looked_for, None, compared, None, None, crossing, len(residual))
    return Findings((check,), tuple(leaks), tuple(residual))


def _find_cut_pairs(left: set[str], right: set[str], cut: Iterable[frozenset[str]]) -> list[tuple[str, str]]:
    """List the cut pairs of a left and a right query, going through the few cuts instead of the many
    pairs."""
    crossing = (pair for pair in cut if len(pair & left) == len(pair & right) == 1)
    return sorted((min(pair), max(pair)) for pair in crossing)
