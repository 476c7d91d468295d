"""Making a split: read, join, deal, check, store.

The id of a split is the digest of everything that decides it, so the same call on the same labels finds
what it made before and adds nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from math import isclose
from typing import Any, NamedTuple

from curation.agreement.consensus import settled
from curation.errors import InputError, RefusedError
from curation.progress import Progress, silent
from curation.splits.assignment import Share, assign_parts, shares
from curation.splits.certificate import Certificate, certify
from curation.splits.edges import KINDS, Edge, Thresholds, compared_exactly, find_edges
from curation.splits.groups import chain, leakage_groups, members_of
from curation.splits.material import Graded, Material, graded, read_labels
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
KEPT = "strongest spanning forest"
STEPS_SHOWN = 12

_PART = re.compile(r"[a-z][a-z0-9_-]{0,30}")


@dataclass(frozen=True)
class LargeGroup:
    """A leakage group so large that it shapes the split, and the chain of edges that made it."""

    group_id: str
    queries: int
    share: float
    chain: tuple[Edge, ...]


class Settlement(NamedTuple):
    """Groups (query → group) and parts (query → part) that nothing crosses, and the edges that only the
    exhaustive check found."""

    groups: dict[str, str]
    parts: dict[str, str]
    certificate: Certificate
    missed: list[Edge]


@dataclass(frozen=True)
class SplitReport:
    """What a split is and how good.

    Attributes
    ----------
    created: False where this very split existed already; nothing was added then.
    parameters: all that was asked for, with how similarity was computed.
    ties: kind → number of ties found: pairs of similar query texts; pairs of queries for each document that
        is relevant to both; pairs of nearly identical relevant documents.
    edges: kind → number of edges kept: the strongest ties that hold the groups together.
    missed: edges that MinHash missed and the exhaustive check found.
    shares: ideal and reached queries for each part and stratum ('all': the whole part).
    left_out: reason → number.
    """

    split_id: str
    created: bool
    parameters: dict[str, Any]
    queries: int
    groups: int
    largest: int
    ties: dict[str, int]
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
    given = _read(store, relevant_grade)
    parameters = _parameters(given, parts, seed, thresholds)
    ties = find_edges(given.material, thresholds, progress)
    settlement = _settle(given, parts, seed, thresholds, ties.edges, progress)
    edges = sorted([*ties.edges, *settlement.missed])
    report = _report(given, parameters, ties.found, edges, settlement)
    _refuse_empty(report, given.material)
    return replace(report, created=_keep(store, report, settlement, edges, actor))


def _read(store: Store, relevant_grade: int | None) -> Graded:
    with store.reading() as cursor:
        labels = read_labels(cursor, relevant_grade)
    given = graded(labels, settled(labels.votes))
    if not given.material.queries:
        raise RefusedError(
            "No query has a grade yet, so there is nothing to split. Judge first (`goldset app`, "
            "`goldset import judgments PATH`); disputed pairs count once they are decided."
        )
    return given


def _report(
    given: Graded,
    parameters: dict[str, Any],
    ties: Mapping[str, int],
    edges: Sequence[Edge],
    settlement: Settlement,
) -> SplitReport:
    members = members_of(settlement.groups)
    kept = Counter(edge.kind for edge in edges)
    missed = Counter(edge.kind for edge in settlement.missed)
    return SplitReport(
        split_id=_split_id(given, parameters),
        created=True,
        parameters=parameters,
        queries=len(settlement.groups),
        groups=len(members),
        largest=max(map(len, members.values())),
        ties={kind: ties[kind] + missed[kind] for kind in KINDS},
        edges={kind: kept[kind] for kind in KINDS},
        missed=len(settlement.missed),
        shares=shares(settlement.parts, given.strata, parameters["parts"]),
        large_groups=_large_groups(members, edges),
        certificate=settlement.certificate,
        left_out=given.left_out,
    )


def edge_sentence(edge: Edge, queries: Mapping[str, str]) -> str:
    """An edge in words, with the queries' texts."""
    first, second = (queries.get(name, name) for name in (edge.query_a, edge.query_b))
    detail = (
        f" ({', '.join(edge.documents[:2])}{', …' * (len(edge.documents) > 2)})" if edge.documents else ""
    )
    return f"“{first}” – “{second}”: {edge.kind} {edge.similarity:.2f}{detail}"


def _settle(
    given: Graded,
    parts: Mapping[str, float],
    seed: int,
    thresholds: Thresholds,
    edges: Sequence[Edge],
    progress: Progress,
) -> Settlement:
    """Group, deal and check, until nothing crosses: what the check alone finds becomes an edge as well."""
    missed: list[Edge] = []
    while True:
        groups = leakage_groups(given.material.queries, [*edges, *missed])
        assigned = assign_parts(groups, given.strata, parts, seed)
        certificate = certify(given.material, assigned, thresholds, progress)
        if not certificate.leaks:
            return Settlement(groups, assigned, certificate, missed)
        if any(groups[leak.query_a] == groups[leak.query_b] for leak in certificate.leaks):
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
        if not _PART.fullmatch(name):
            problems.append(f"the part name {name!r}: expected lower-case letters, digits, - and _")
    for what, threshold in (("query", query_threshold), ("document", document_threshold)):
        if not LEAST_THRESHOLD <= threshold <= 1:
            problems.append(
                f"--{what}-threshold {threshold:g}: expected a Jaccard similarity from {LEAST_THRESHOLD} to 1"
            )
    if problems:
        raise InputError(problems)


def _parameters(
    given: Graded, parts: Mapping[str, float], seed: int, thresholds: Thresholds
) -> dict[str, Any]:
    exact = compared_exactly(len(given.material.queries))
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
        "relevant_grade": given.relevant_grade,
        "edges": KEPT,
    }


def _split_id(given: Graded, parameters: Mapping[str, Any]) -> str:
    material = given.material
    relevant = [(query_id, sorted(documents)) for query_id, documents in sorted(material.relevant.items())]
    texts = [(name, digest(text)) for name, text in sorted(material.documents.items())]
    queries = sorted(material.queries.items())
    return digest("split", parameters, queries, sorted(given.strata.items()), relevant, texts)


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
        lines += [f"  {edge_sentence(edge, material.queries)}" for edge in group.chain[:STEPS_SHOWN]]
        if len(group.chain) > STEPS_SHOWN:
            lines.append(f"  … and {len(group.chain) - STEPS_SHOWN:,} more")
    lines.append(
        "Judge more queries, or loosen what ties them: a higher --relevant-grade, --query-threshold or "
        "--document-threshold."
    )
    raise RefusedError("\n".join(lines))


def _keep(
    store: Store, report: SplitReport, settlement: Settlement, edges: Sequence[Edge], actor: str
) -> bool:
    """Store the split and make it the current one; says whether it is new."""
    split_id = report.split_id
    content = asdict(report)
    del content["created"], content["parameters"]
    row = [split_id, canonical_json(report.parameters), canonical_json(content)]
    edge_columns = _edge_columns(split_id, edges)
    assignment_columns = _assignment_columns(split_id, settlement.groups, settlement.parts)
    reached = {share.part: share.reached for share in report.shares if share.stratum == "all"}
    detail = {"split": split_id, **report.parameters, "queries": reached}
    with store.transaction() as cursor:
        new = not cursor.execute("SELECT 1 FROM splits WHERE split_id = ?", [split_id]).fetchone()
        if new:
            cursor.execute("INSERT INTO splits VALUES (?, ?, ?, ?)", [*row, utc_now()])
            append(cursor, "leakage_edges", edge_columns)
            append(cursor, "split_assignments", assignment_columns)
        if new or get_setting(cursor, "split") != split_id:
            put_setting(cursor, "split", split_id)
            record_event(cursor, "split", detail, actor)
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
