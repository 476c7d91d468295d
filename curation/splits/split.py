"""Making a split: read, join, deal, check, store.

The id of a split is the digest of everything that decides it, so the same call on the same labels finds
what it made before and adds nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from math import isclose
from typing import Any, NamedTuple

from curation.agreement.consensus import settled
from curation.errors import InputError, RefusedError
from curation.progress import Progress, silent
from curation.retrieval.embeddings import find_model
from curation.splits.assignment import ALL, Share, assign_parts
from curation.splits.by_time import ByTime, deal_by_time
from curation.splits.certificate import Findings, certify
from curation.splits.certified import Certificate, certificate_of
from curation.splits.cuts import StillTied, still_tied
from curation.splits.edges import KINDS, NEAR_DUPLICATE, QUERY_TEXT, Edge, Ties, find_edges
from curation.splits.groups import leakage_groups
from curation.splits.kept import NOTHING, Kept, kept_groups, of_queries, read_kept
from curation.splits.keys import with_keys
from curation.splits.material import Graded, graded, read_labels
from curation.splits.named_cuts import cuts_by_id
from curation.splits.parameters import described
from curation.splits.refusals import LargeGroup, large_groups, refuse_empty, refuse_joined, refuse_large
from curation.splits.rules import Rules, problems
from curation.store import Store, append, get_setting, put_setting, record_event, utc_now
from curation.store.settings import COMMAND_LINE
from curation.text import canonical_json, digest

PARTS: Mapping[str, float] = {"dev": 0.7, "test": 0.3}
RULES = Rules()

LARGEST_GROUP = 0.05
"""A group with a larger share of the queries, unless it is small (`refusals.SMALL`), must be allowed."""

KEPT_EDGES = "strongest spanning forest"

_PART = re.compile(r"[a-z][a-z0-9_-]{0,30}")


@dataclass(frozen=True)
class Terms:
    """How groups are dealt to the parts, besides their fractions.

    Attributes
    ----------
    by_time: cut by when queries were first asked, the parts in the order given; else balanced.
    undated: by time, the part for groups that no time is known of.
    keep: names of the releases whose queries keep their parts; None: all of them.
    largest_group: the largest share of the queries that one group may have.
    """

    by_time: bool = False
    undated: str | None = None
    keep: tuple[str, ...] | None = None
    largest_group: float = LARGEST_GROUP


class Settlement(NamedTuple):
    """Groups (query → group) and parts (query → part) that nothing crosses, and the edges that only the
    exhaustive check found. `proved`: no other assignment is nearer to the fractions; None by time."""

    groups: dict[str, str]
    parts: dict[str, str]
    findings: Findings
    missed: list[Edge]
    proved: bool | None
    by_time: ByTime | None


@dataclass(frozen=True)
class SplitReport:
    """What a split is and how good.

    Attributes
    ----------
    created: False where this very split existed already; nothing was added then.
    certificate: parameters, shares, and what the exhaustive look across the parts found.
    ties: kind → number of ties found: pairs of similar query texts; pairs of queries for each document that
        is relevant to both; pairs of nearly identical relevant documents.
    edges: kind → number of edges kept: the strongest ties that hold the groups together.
    cut: the ties that were cut by name, whether or not they lie across the parts now.
    still_tied: pairs that were cut and that other ties hold together all the same.
    missed: edges that the search missed and the exhaustive check found.
    large_groups: groups that only `Terms.largest_group` allowed.
    kept: queries that a release has in a part, which they keep.
    disagreeing: of these, queries that releases have in different parts: the newest counts.
    by_time: how the cut by time went; None where parts were balanced.
    left_out: reason → number.
    """

    split_id: str
    created: bool
    certificate: Certificate
    ties: dict[str, int]
    edges: dict[str, int]
    cut: tuple[Edge, ...]
    still_tied: tuple[StillTied, ...]
    missed: int
    large_groups: tuple[LargeGroup, ...]
    kept: int
    disagreeing: int
    by_time: ByTime | None
    left_out: dict[str, int]

    @property
    def parameters(self) -> dict[str, Any]:
        return self.certificate.parameters

    @property
    def queries(self) -> int:
        return self.certificate.queries

    @property
    def groups(self) -> int:
        return self.certificate.groups

    @property
    def largest(self) -> int:
        return self.certificate.largest

    @property
    def shares(self) -> tuple[Share, ...]:
        return self.certificate.shares


class _Given(NamedTuple):
    """What was read: the graded queries and what releases say about them."""

    graded: Graded
    kept: Kept


class Asked(NamedTuple):
    """What a split is asked for; `rules` with cuts by query id."""

    parts: Mapping[str, float]
    seed: int
    rules: Rules
    terms: Terms


def make_split(
    store: Store,
    parts: Mapping[str, float] = PARTS,
    seed: int = 0,
    rules: Rules = RULES,
    relevant_grade: int | None = None,
    terms: Terms = Terms(),
    progress: Progress = silent,
    actor: str = COMMAND_LINE,
) -> SplitReport:
    """Split the graded queries into parts that share no leakage group, and make it the current split.

    Parameters
    ----------
    parts: name → fraction; they sum to 1.
    rules: which ties are looked for; cuts may name queries by their texts where these are unique.
    relevant_grade: least grade of a relevant document; by default all above the scale's lowest.

    Raises
    ------
    InputError: fractions, names, rules, terms or the relevant grade; all at once.
    NotFoundError: a release to keep that is not there.
    RefusedError: nothing is graded; embeddings are missing and the model is not here; a group is too large;
        kept queries of different parts are tied now; a part would stay empty.
    """
    _check(parts, rules, terms)
    given = _read(store, relevant_grade, parts, terms)
    rules = replace(rules, cut=cuts_by_id(rules.cut, given.graded.material.queries))
    material = with_keys(store, given.graded.material, rules, progress, dated=terms.by_time)
    given = given._replace(graded=replace(given.graded, material=material))
    if rules.paraphrase is not None:
        rules = replace(rules, model=find_model(rules.model).name)  # what vectors are kept under, not a path
    asked = Asked(parts, seed, rules, terms)
    ties = find_edges(material, rules, progress)
    settlement = settle(given.graded, asked, given.kept, ties.edges, progress)
    edges = sorted([*ties.edges, *settlement.missed])
    refuse_large(settlement.groups, edges, material, rules, terms.largest_group)
    report = _report(given, asked, ties, edges, settlement)
    refuse_empty(report.shares, settlement.groups, edges, material.queries)
    return replace(report, created=_keep(store, report, settlement, edges, actor))


def _read(store: Store, relevant_grade: int | None, parts: Mapping[str, float], terms: Terms) -> _Given:
    with store.reading() as cursor:
        labels = read_labels(cursor, relevant_grade)
        kept = read_kept(cursor, terms.keep) if terms.keep != () else NOTHING
    given = graded(labels, settled(labels.votes))
    if not given.material.queries:
        raise RefusedError(
            "No query has a grade yet, so there is nothing to split. Judge first (`goldset app`, "
            "`goldset import judgments PATH`); disputed pairs count once they are decided."
        )
    return _Given(given, of_queries(kept, given.material.queries, parts))


def _report(
    given: _Given, asked: Asked, ties: Ties, edges: Sequence[Edge], settlement: Settlement
) -> SplitReport:
    parameters = _parameters(given, asked, ties)
    split_id = _split_id(given.graded, parameters, given.kept)
    counts = Counter(edge.kind for edge in edges)
    missed = Counter(edge.kind for edge in settlement.missed)
    large = large_groups(settlement.groups, edges, LARGEST_GROUP)
    return SplitReport(
        split_id=split_id,
        created=True,
        certificate=certificate_of(
            given.graded,
            split_id,
            parameters,
            settlement.groups,
            settlement.parts,
            settlement.findings,
            settlement.proved,
        ),
        ties={kind: ties.found[kind] + missed[kind] for kind in KINDS},
        edges={kind: counts[kind] for kind in KINDS},
        cut=tuple(ties.cut),
        still_tied=still_tied(given.graded.material, asked.rules, settlement.groups),
        missed=len(settlement.missed),
        large_groups=large,
        kept=len(given.kept.parts),
        disagreeing=given.kept.disagreeing,
        by_time=settlement.by_time,
        left_out=given.graded.left_out | ties.left_out,
    )


def settle(
    given: Graded, asked: Asked, kept: Kept, edges: Sequence[Edge], progress: Progress = silent
) -> Settlement:
    """Group, deal and check, until nothing crosses: what the check alone finds becomes an edge as well.

    Raises
    ------
    RefusedError: kept queries of different parts are tied, or groups have no time.
    """
    missed: list[Edge] = []
    while True:
        groups = leakage_groups(given.material.queries, [*edges, *missed])
        sides, chains = kept_groups(groups, kept.parts, [*edges, *missed])
        refuse_joined(chains, kept.parts, given.material.queries)
        assigned, proved, by_time = _deal(given, asked, groups, sides)
        findings = certify(given.material, assigned, asked.rules, progress)
        if not findings.leaks:
            return Settlement(groups, assigned, findings, missed, proved, by_time)
        if any(groups[leak.query_a] == groups[leak.query_b] for leak in findings.leaks):
            raise AssertionError(f"an edge crosses the split: {findings.leaks[0]}")
        missed += [
            Edge(leak.query_a, leak.query_b, leak.kind, leak.similarity, leak.documents)
            for leak in findings.leaks
        ]


def _deal(
    given: Graded, asked: Asked, groups: Mapping[str, str], kept: Mapping[str, str]
) -> tuple[dict[str, str], bool | None, ByTime | None]:
    if asked.terms.by_time:
        parts, by_time = deal_by_time(groups, given.material.times, asked.parts, asked.terms.undated, kept)
        return parts, None, by_time
    dealt = assign_parts(groups, given.levels, asked.parts, asked.seed, kept)
    return dealt.parts, dealt.proved, None


def _check(parts: Mapping[str, float], rules: Rules, terms: Terms) -> None:
    found = []
    total = sum(parts.values())
    listed = ", ".join(f"{name} {fraction:g}" for name, fraction in parts.items())
    if not parts or any(not 0 < fraction <= 1 for fraction in parts.values()):
        found.append(f"the parts {listed or '(none)'}: expected fractions above 0 and at most 1")
    elif not isclose(total, 1.0, abs_tol=1e-6):
        found.append(f"the parts {listed} sum to {total:g}; expected fractions that sum to 1")
    for name in parts:
        if not _PART.fullmatch(name):
            found.append(f"the part name {name!r}: expected lower-case letters, digits, - and _")
    found += problems(rules)
    if not 0 < terms.largest_group <= 1:
        found.append(f"--largest-group {terms.largest_group:g}: expected a share above 0 and at most 1")
    if terms.undated is not None and not terms.by_time:
        found.append("--undated goes with --by-time alone")
    elif terms.undated is not None and terms.undated not in parts:
        found.append(f"--undated {terms.undated}: expected one of the parts {listed}")
    if found:
        raise InputError(found)


def _parameters(given: _Given, asked: Asked, ties: Ties) -> dict[str, Any]:
    material = given.graded.material
    sizes = {QUERY_TEXT: len(material.queries), NEAR_DUPLICATE: len(material.documents)}
    found: dict[str, Any] = {
        "parts": dict(asked.parts),
        "seed": asked.seed,
        **described(asked.rules, ties.methods, sizes),
        "relevant_grade": given.graded.relevant_grade,
        "largest_group": asked.terms.largest_group,
        "edges": KEPT_EDGES,
    }
    if asked.terms.by_time:
        found |= {"by_time": True, "undated": asked.terms.undated}
    if given.kept.parts:
        found["kept"] = {"releases": list(given.kept.releases), "queries": len(given.kept.parts)}
    return found


def _split_id(given: Graded, parameters: Mapping[str, Any], kept: Kept) -> str:
    material = given.material
    relevant = [(query_id, sorted(documents)) for query_id, documents in sorted(material.relevant.items())]
    texts = [(name, digest(text)) for name, text in sorted(material.documents.items())]
    queries = sorted(material.queries.items())
    levels = [(name, sorted(found)) for name, found in sorted(given.levels.items())]
    keys = [(name, sorted(found)) for name, found in sorted(material.keys.items())]
    times = [(name, time.isoformat()) for name, time in sorted(material.times.items())]
    beside = [sorted(kept.parts.items()), keys, times]
    return digest("split", parameters, queries, levels, relevant, texts, beside)


def _keep(
    store: Store, report: SplitReport, settlement: Settlement, edges: Sequence[Edge], actor: str
) -> bool:
    """Store the split and make it the current one; says whether it is new."""
    split_id = report.split_id
    content = asdict(report)
    del content["created"]
    row = [split_id, canonical_json(report.parameters), canonical_json(_dated(content))]
    edge_columns = _edge_columns(split_id, edges)
    assignment_columns = _assignment_columns(split_id, settlement.groups, settlement.parts)
    reached = {share.part: share.reached for share in report.shares if share.dimension == ALL}
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


def _dated(value: Any) -> Any:
    """The value with times as text."""
    if isinstance(value, dict):
        return {key: _dated(item) for key, item in value.items()}
    return value.isoformat(sep=" ") if isinstance(value, datetime) else value


def _edge_columns(split_id: str, edges: Sequence[Edge]) -> dict[str, list[Any]]:
    return {
        "split_id": [split_id] * len(edges),
        "query_a": [edge.query_a for edge in edges],
        "query_b": [edge.query_b for edge in edges],
        "kind": [edge.kind for edge in edges],
        "similarity": [edge.similarity for edge in edges],
        "detail": [_detail(edge) for edge in edges],
    }


def _detail(edge: Edge) -> str:
    """What makes the edge; the key only where there is one."""
    return canonical_json({"documents": edge.documents} | ({"key": edge.key} if edge.key else {}))


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
