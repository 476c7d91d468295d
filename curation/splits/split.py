"""Making a split: read, join, deal, check, store.

The id of a split is the digest of everything that decides it, so the same call on the same labels finds
what it made before and adds nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from math import isclose
from typing import Any

from curation.errors import InputError, RefusedError
from curation.progress import Progress, silent
from curation.splits.assignment import Share, assign_parts, shares
from curation.splits.certificate import Certificate, certify
from curation.splits.edges import KINDS, Edge, Thresholds, compared_exactly, find_edges
from curation.splits.groups import chain, leakage_groups, members_of
from curation.splits.material import Graded, Material, read_graded
from curation.splits.similarity import CHARACTERS, WORDS, minhash_parameters
from curation.store import Store, append, get_setting, put_setting, record_event, utc_now
from curation.store.settings import COMMAND_LINE
from curation.text import canonical_json, digest

PARTS: Mapping[str, float] = {"dev": 0.7, "test": 0.3}

QUERY_THRESHOLD = 0.65
"""Joins 'laptop' with 'laptops' (0.80) and 'iphone' with 'iphone 7' (0.67), not 'computer' with 'computer
fan' (0.60). Among 3,000 templated queries the largest group is 297 at 0.65 and 2,369 at 0.60."""
DOCUMENT_THRESHOLD = 0.8
LEAST_THRESHOLD = 0.1
LARGE = 0.2
"""A group with a larger share of the queries is reported with the chain of edges that made it."""

VERIFIED = "minhash, verified exactly"

_PART = re.compile(r"^[a-z][a-z0-9_-]{0,30}$")


@dataclass(frozen=True)
class LargeGroup:
    """A leakage group so large that it shapes the split, and the chain of edges that made it."""

    group_id: str
    queries: int
    share: float
    chain: tuple[Edge, ...]


@dataclass(frozen=True)
class SplitReport:
    """What a split is and how good.

    Attributes
    ----------
    created: False where this very split existed already; nothing was added then.
    parameters: all that was asked for, with how similarity was computed.
    edges: kind → number of edges.
    missed: near-duplicates that MinHash missed and the exhaustive check found; edges like the others.
    shares: ideal and reached queries for each part and stratum ('all': the whole part).
    left_out: reason → number.
    """

    split_id: str
    created: bool
    parameters: dict[str, Any]
    queries: int
    groups: int
    largest: int
    edges: dict[str, int]
    missed: int
    shares: tuple[Share, ...]
    large_groups: tuple[LargeGroup, ...]
    certificate: Certificate
    left_out: dict[str, int]


def make_split(
    store: Store,
    parts: Mapping[str, float] = PARTS,
    seed: int = 0,
    query_threshold: float = QUERY_THRESHOLD,
    document_threshold: float = DOCUMENT_THRESHOLD,
    relevant_grade: int | None = None,
    progress: Progress = silent,
    actor: str = COMMAND_LINE,
) -> SplitReport:
    """Split the graded queries into parts that share no leakage group, and make it the current split.

    Parameters
    ----------
    parts: name → fraction; they sum to 1.
    query_threshold, document_threshold: least Jaccard similarity of character 3-grams of two queries, of
        word 3-shingles of two relevant documents, that keeps queries together.
    relevant_grade: least grade of a relevant document; by default all above the scale's lowest.

    Raises
    ------
    InputError: fractions, names, thresholds or the relevant grade; all at once.
    RefusedError: nothing is graded, or a part would stay empty.
    """
    _check(parts, query_threshold, document_threshold)
    thresholds = Thresholds(query_threshold, document_threshold)
    with store.reading() as cursor:
        graded = read_graded(cursor, relevant_grade)
    if not graded.material.queries:
        raise RefusedError(
            "No query has a grade yet, so there is nothing to split. Judge first (`goldset app`, "
            "`goldset import judgments PATH`); disputed pairs count once they are decided."
        )
    parameters = _parameters(graded, parts, seed, thresholds)
    edges = find_edges(graded.material, thresholds, progress)
    groups, assigned, certificate, missed = _settle(graded, parts, seed, thresholds, edges, progress)
    members = members_of(groups)
    edges = sorted(edges + missed)
    report = SplitReport(
        split_id=_split_id(graded, parameters),
        created=True,
        parameters=parameters,
        queries=len(groups),
        groups=len(members),
        largest=max(map(len, members.values())),
        edges={kind: sum(edge.kind == kind for edge in edges) for kind in KINDS},
        missed=len(missed),
        shares=shares(assigned, graded.strata, parts),
        large_groups=_large_groups(members, edges),
        certificate=certificate,
        left_out=graded.left_out,
    )
    _refuse_empty(report, graded.material)
    return replace(report, created=_keep(store, report, groups, assigned, edges, actor))


def edge_sentence(edge: Edge, queries: Mapping[str, str]) -> str:
    """An edge in words, with the queries' texts."""
    first, second = (queries.get(name, name) for name in (edge.query_a, edge.query_b))
    detail = (
        f" ({', '.join(edge.documents[:2])}{', …' * (len(edge.documents) > 2)})" if edge.documents else ""
    )
    return f"“{first}” – “{second}”: {edge.kind} {edge.similarity:.2f}{detail}"


def _settle(
    graded: Graded,
    parts: Mapping[str, float],
    seed: int,
    thresholds: Thresholds,
    edges: Sequence[Edge],
    progress: Progress,
) -> tuple[dict[str, str], dict[str, str], Certificate, list[Edge]]:
    """Group, deal and check, until nothing crosses: what the check alone finds becomes an edge as well.

    Returns
    -------
    groups (query → group), parts (query → part), certificate, the edges that only the check found.
    """
    missed: list[Edge] = []
    while True:
        known = [*edges, *missed]
        groups = leakage_groups(graded.material.queries, known)
        assigned = assign_parts(groups, graded.strata, parts, seed)
        certificate = certify(graded.material, assigned, thresholds, progress)
        joined = {(edge.query_a, edge.query_b) for edge in known}
        if not certificate.leaks:
            return groups, assigned, certificate, missed
        if any((leak.query_a, leak.query_b) in joined for leak in certificate.leaks):
            raise AssertionError(f"an edge crosses the split: {certificate.leaks[0]}")
        missed += certificate.leaks


def _check(parts: Mapping[str, float], query_threshold: float, document_threshold: float) -> None:
    problems = []
    total = sum(parts.values())
    listed = ", ".join(f"{name} {fraction:g}" for name, fraction in parts.items())
    if not parts or any(not 0 < fraction <= 1 for fraction in parts.values()):
        problems.append(f"the parts {listed or '(none)'}: expected fractions above 0 and at most 1")
    elif not isclose(total, 1.0, abs_tol=1e-6):
        problems.append(f"the parts {listed} sum to {total:g}; expected fractions that sum to 1")
    for name in parts:
        if not _PART.match(name):
            problems.append(f"the part name {name!r}: expected lower-case letters, digits, - and _")
    for what, threshold in (("query", query_threshold), ("document", document_threshold)):
        if not LEAST_THRESHOLD <= threshold <= 1:
            problems.append(
                f"--{what}-threshold {threshold:g}: expected a Jaccard similarity from {LEAST_THRESHOLD} to 1"
            )
    if problems:
        raise InputError(problems)


def _parameters(
    graded: Graded, parts: Mapping[str, float], seed: int, thresholds: Thresholds
) -> dict[str, Any]:
    exact = compared_exactly(len(graded.material.queries))
    return {
        "parts": dict(parts),
        "seed": seed,
        "query_threshold": thresholds.query,
        "query_shingles": f"{CHARACTERS} characters",
        "query_method": "exact, all pairs" if exact else VERIFIED,
        "document_threshold": thresholds.document,
        "document_shingles": f"{WORDS} words",
        "document_method": VERIFIED,
        "document_minhash": minhash_parameters(thresholds.document),
        "query_minhash": None if exact else minhash_parameters(thresholds.query),
        "relevant_grade": graded.relevant_grade,
    }


def _split_id(graded: Graded, parameters: Mapping[str, Any]) -> str:
    material = graded.material
    relevant = [(query_id, sorted(documents)) for query_id, documents in sorted(material.relevant.items())]
    texts = [(name, digest(text)) for name, text in sorted(material.documents.items())]
    queries = sorted(material.queries.items())
    return digest("split", parameters, queries, sorted(graded.strata.items()), relevant, texts)


def _large_groups(members: Mapping[str, Sequence[str]], edges: Sequence[Edge]) -> tuple[LargeGroup, ...]:
    total = sum(map(len, members.values()))
    large = [item for item in members.items() if len(item[1]) > max(1, LARGE * total)]
    return tuple(
        LargeGroup(name, len(queries), len(queries) / total, tuple(chain(queries, edges)))
        for name, queries in sorted(large, key=lambda item: (-len(item[1]), item[0]))
    )


def _refuse_empty(report: SplitReport, material: Material) -> None:
    empty = [share.part for share in report.shares if share.stratum == "all" and not share.reached]
    if not empty:
        return
    lines = [
        f"No query is left for {', '.join(empty)}: {report.queries:,} graded queries form {report.groups:,} "
        f"leakage groups that must stay whole, the largest of {report.largest:,}."
    ]
    for group in report.large_groups:
        lines.append(f"The chain that made a group of {group.queries:,}:")
        lines += [f"  {edge_sentence(edge, material.queries)}" for edge in group.chain]
    lines.append(
        "Judge more queries, or loosen what ties them: a higher --relevant-grade, --query-threshold or "
        "--document-threshold."
    )
    raise RefusedError("\n".join(lines))


def _keep(
    store: Store,
    report: SplitReport,
    groups: Mapping[str, str],
    assigned: Mapping[str, str],
    edges: Sequence[Edge],
    actor: str,
) -> bool:
    """Store the split and make it the current one; says whether it is new."""
    split_id = report.split_id
    content = {**asdict(report), "split_id": split_id}
    del content["created"], content["parameters"]
    with store.transaction() as cursor:
        new = not cursor.execute("SELECT 1 FROM splits WHERE split_id = ?", [split_id]).fetchone()
        if new:
            cursor.execute(
                "INSERT INTO splits VALUES (?, ?, ?, ?)",
                [split_id, canonical_json(report.parameters), canonical_json(content), utc_now()],
            )
            append(cursor, "leakage_edges", _edge_columns(split_id, edges))
            append(cursor, "split_assignments", _assignment_columns(split_id, groups, assigned))
        if new or get_setting(cursor, "split") != split_id:
            put_setting(cursor, "split", split_id)
            reached = {share.part: share.reached for share in report.shares if share.stratum == "all"}
            record_event(cursor, "split", {"split": split_id, **report.parameters, "queries": reached}, actor)
    return new


def _edge_columns(split_id: str, edges: Sequence[Edge]) -> dict[str, list[Any]]:
    return {
        "split_id": [split_id] * len(edges),
        "query_a": [edge.query_a for edge in edges],
        "query_b": [edge.query_b for edge in edges],
        "kind": [edge.kind for edge in edges],
        "similarity": [edge.similarity for edge in edges],
        "detail": [canonical_json({"documents": edge.documents}) for edge in edges],
    }


def _assignment_columns(
    split_id: str, groups: Mapping[str, str], assigned: Mapping[str, str]
) -> dict[str, list[str]]:
    ids = sorted(assigned)
    return {
        "split_id": [split_id] * len(ids),
        "query_id": ids,
        "group_id": [groups[query_id] for query_id in ids],
        "part": [assigned[query_id] for query_id in ids],
    }
