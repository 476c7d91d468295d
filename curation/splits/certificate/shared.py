"""Checks of what queries of different parts have in common: a document or a key."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

from curation.splits.certificate.findings import CheckResult, Crossing, SplitEvidence, TieCheck
from curation.splits.rules import SESSION, SESSIONS

SHARED_DOCUMENT = "shared document"
SAME_KEY = "same key"


def check_shared_documents(evidence: SplitEvidence) -> CheckResult:
    """Documents that are relevant to queries of different parts."""
    holders: dict[str, list[str]] = {}
    for query_id in sorted(evidence.inputs.relevant):
        for document_id in evidence.inputs.relevant[query_id]:
            holders.setdefault(document_id, []).append(query_id)
    return common_to_parts(evidence, SHARED_DOCUMENT, holders, evidence.rules.shared)


def check_keys(evidence: SplitEvidence) -> CheckResult | None:
    """Keys that queries of different parts have; not made where the rules name no kind of key."""
    wanted = set(evidence.rules.keys)
    if not wanted:
        return None
    holders: dict[str, list[str]] = {}
    for query_id in sorted(evidence.inputs.keys):
        keys = sorted(evidence.inputs.keys[query_id])
        popular = sum(kind == SESSION for kind, _ in keys) > SESSIONS
        for kind, value in keys:
            if kind in wanted and not (kind == SESSION and popular):
                holders.setdefault(f"{kind}: {value}", []).append(query_id)
    return common_to_parts(evidence, SAME_KEY, holders)


def common_to_parts(
    evidence: SplitEvidence, kind: str, holders: Mapping[str, Sequence[str]], looked_for: bool = True
) -> CheckResult:
    """Queries that have the same document or key; for each two parts one pair that is not cut, and all
    that are.

    Parameters
    ----------
    holders: name of what they have → query ids.
    """
    leaks: list[Crossing] = []
    residual: list[Crossing] = []
    compared = crossing = 0
    for name in sorted(holders):
        by_part: dict[str, list[str]] = {}
        for query_id in holders[name]:
            by_part.setdefault(evidence.parts[query_id], []).append(query_id)
        compared += len(by_part) > 1
        documents = (name,) if kind == SHARED_DOCUMENT else ()
        for one, other in combinations(sorted(by_part), 2):
            pairs = ((min(a, b), max(a, b)) for a in by_part[one] for b in by_part[other])
            free = next((pair for pair in pairs if frozenset(pair) not in evidence.cut), None)
            crossing += free is not None
            if not looked_for:
                continue
            if free is not None:
                leaks.append(Crossing(*free, kind, 1.0, documents))
            across = _cut_across(evidence.cut, frozenset(by_part[one]), frozenset(by_part[other]))
            residual += [Crossing(*pair, kind, 1.0, documents) for pair in across]
    check = TieCheck(
        kind=kind,
        looked_for=looked_for,
        threshold=None,
        compared=compared,
        highest=None,
        told_apart=None,
        crossing=crossing,
        cut=len(residual),
    )
    return CheckResult(check, leaks, residual)


def _cut_across(
    cut: Iterable[frozenset[str]], one: frozenset[str], other: frozenset[str]
) -> list[tuple[str, str]]:
    """The pairs that are cut and have one query on each side. The cuts are few; the pairs would grow with the
    square of the queries."""
    across = (pair for pair in cut if len(pair & one) == len(pair & other) == 1)
    return sorted((min(pair), max(pair)) for pair in across)
