"""Stored splits, one of which is the project's current split.

The id of a split is the digest of everything that decides the split. So the same request on the same
judgments finds the stored split, and adds no second copy.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from curation.core.digests import canonical_json, digest
from curation.guides.guide import current_guide
from curation.ingest.importers.queries import read_active_queries
from curation.labeling.consensus.consensus import read_consensus
from curation.splits.assignment import ALL, Groups, Parts
from curation.splits.carried_over import CarriedOver
from curation.splits.edges import Edge
from curation.splits.graded_queries import GradedQueries
from curation.splits.request import LARGEST_GROUP
from curation.splits.split_report import SplitReport
from curation.splits.stored_rules import read_rules
from curation.store import Cursor, Store, append_rows, get_setting, put_setting, record_event, utc_now
from curation.store.documents import snapshot_versions


@dataclass(frozen=True)
class SplitState:
    """The current split, with the number of queries still waiting for a part.

    Attributes
    ----------
    split_id: None if there is no split.
    request: the fields of the split's request as JSON: parts (pairs in their order), seed, rules,
        relevant_grade (None: every grade above the lowest), by_time and largest_group.
    graded: number of queries with a grade on a document of the corpus.
    waiting: number of graded queries that have no part.
    """

    split_id: str | None
    request: dict[str, Any] | None
    graded: int
    waiting: int


def compute_split_id(graded: GradedQueries, parameters: Mapping[str, Any], carried: CarriedOver) -> str:
    """Compute the split's id: a digest of everything that determines the split."""
    inputs = graded.inputs
    relevant = [(query_id, sorted(documents)) for query_id, documents in sorted(inputs.relevant.items())]
    text_digests = [(document_id, digest(text)) for document_id, text in sorted(inputs.documents.items())]
    queries = sorted(inputs.queries.items())
    levels = [(query_id, sorted(labels)) for query_id, labels in sorted(graded.levels.items())]
    keys = [(query_id, sorted(pairs)) for query_id, pairs in sorted(inputs.keys.items())]
    times = [(query_id, time.isoformat()) for query_id, time in sorted(inputs.times.items())]
    carried_inputs = [sorted(carried.parts.items()), keys, times]
    return digest("split", parameters, queries, levels, relevant, text_digests, carried_inputs)


def store_split(
    store: Store, report: SplitReport, groups: Groups, parts: Parts, edges: Sequence[Edge], actor: str
) -> bool:
    """Store a split and make it the current split; return whether it is new.

    Parameters
    ----------
    groups, parts: query id → leakage group, part.
    """
    split_id, parameters = report.split_id, report.certificate.parameters
    content = asdict(report)
    del content["created"]
    split_row = [split_id, canonical_json(parameters), canonical_json(_format_times(content))]
    details = [{"documents": edge.documents} | ({"key": edge.key} if edge.key else {}) for edge in edges]
    edge_rows = [(*edge[:4], canonical_json(detail)) for edge, detail in zip(edges, details, strict=True)]
    assignments = [(query_id, groups[query_id], part) for query_id, part in sorted(parts.items())]
    sizes = {share.part: share.reached for share in report.certificate.shares if share.dimension == ALL}
    event = {"split": split_id, **parameters, "queries": sizes}
    with store.transaction(appends=True) as cursor:
        is_new = not cursor.execute("SELECT 1 FROM splits WHERE split_id = ?", [split_id]).fetchone()
        if is_new:
            cursor.execute("INSERT INTO splits VALUES (?, ?, ?, ?)", [*split_row, utc_now()])
            append_rows(cursor, "leakage_edges", edge_rows, (*Edge._fields[:4], "detail"), split_id=split_id)
            columns = ("query_id", "group_id", "part")
            append_rows(cursor, "split_assignments", assignments, columns, split_id=split_id)
        if is_new or get_setting(cursor, "split") != split_id:
            put_setting(cursor, "split", split_id)
            record_event(cursor, "split", event, actor)
    return is_new


def read_split_state(store: Store) -> SplitState:
    """Read the current split, and count the graded queries that have no part in it."""
    with store.reading() as cursor:
        split_id = get_setting(cursor, "split")
        sql = "SELECT parameters, report FROM splits WHERE split_id = ?"
        rows = cursor.execute(sql, [split_id]).fetchall()
        graded = _read_graded_ids(cursor)
        assigned = read_current_parts(cursor)
        default_grade = current_guide(cursor).values[1] if graded else None
    waiting = len(graded.difference(assigned))
    if not rows:
        return SplitState(None, None, len(graded), waiting)
    parameters, report = json.loads(rows[0][0]), json.loads(rows[0][1])
    request = _restore_request_fields(parameters, report, default_grade)
    return SplitState(split_id, request, len(graded), waiting)


def read_current_parts(cursor: Cursor) -> dict[str, str]:
    """Read the current split as query id → part; empty if there is no split."""
    sql = "SELECT query_id, part FROM split_assignments WHERE split_id = ?"
    return dict(cursor.execute(sql, [get_setting(cursor, "split")]).fetchall())


def _format_times(value: Any) -> Any:
    """Convert all times in a value to ISO text, including in nested dictionaries."""
    if isinstance(value, dict):
        return {key: _format_times(item) for key, item in value.items()}
    return value.isoformat(sep=" ") if isinstance(value, datetime) else value


def _read_graded_ids(cursor: Cursor) -> set[str]:
    """Read the ids of the graded queries that a split would contain."""
    pairs = [pair for pair in read_consensus(cursor).pairs if pair.grade is not None]
    judged = sorted({pair.document_id for pair in pairs})
    versions = snapshot_versions(cursor, get_setting(cursor, "corpus"), judged)
    graded = {pair.query_id for pair in pairs if pair.document_id in versions}
    return graded.intersection(query.query_id for query in read_active_queries(cursor))


def _restore_request_fields(
    parameters: Mapping[str, Any], report: Mapping[str, Any], default_grade: int | None
) -> dict[str, Any]:
    """Restore the fields of the request for a stored split; the default relevant grade becomes None."""
    relevant_grade, largest_group = parameters.get("relevant_grade"), parameters.get("largest_group")
    fractions = parameters["parts"]
    shares = report.get("certificate", {}).get("shares", ())
    ordered_parts = [share["part"] for share in shares if share["dimension"] == ALL]  # as in the request
    parts = ordered_parts if set(ordered_parts) == set(fractions) else fractions
    return {
        "parts": [[part, fractions[part]] for part in parts],
        "seed": parameters["seed"],
        "rules": asdict(read_rules(parameters)),
        "relevant_grade": None if relevant_grade == default_grade else relevant_grade,
        "by_time": parameters.get("by_time", False),
        "largest_group": None if largest_group == LARGEST_GROUP else largest_group,
    }
