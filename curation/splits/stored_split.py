"""How a split is stored: its id, its row, its edges and its assignments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from curation.splits.assignment.assignment import ALL
from curation.splits.assignment.carried_over import CarriedOver
from curation.splits.checked_assignment import CheckedAssignment
from curation.splits.inputs import GradedQueries
from curation.splits.split_report import SplitReport
from curation.splits.ties.edges import Edge
from curation.store import Store, append, get_setting, put_setting, record_event, utc_now
from curation.text import canonical_json, digest


def split_id_of(graded: GradedQueries, parameters: Mapping[str, Any], carried: CarriedOver) -> str:
    """The digest of everything that decides a split."""
    inputs = graded.inputs
    relevant = [(query_id, sorted(documents)) for query_id, documents in sorted(inputs.relevant.items())]
    texts = [(name, digest(text)) for name, text in sorted(inputs.documents.items())]
    queries = sorted(inputs.queries.items())
    levels = [(name, sorted(found)) for name, found in sorted(graded.levels.items())]
    keys = [(name, sorted(found)) for name, found in sorted(inputs.keys.items())]
    times = [(name, time.isoformat()) for name, time in sorted(inputs.times.items())]
    beside = [sorted(carried.parts.items()), keys, times]
    return digest("split", parameters, queries, levels, relevant, texts, beside)


def store_split(
    store: Store, report: SplitReport, checked: CheckedAssignment, edges: Sequence[Edge], actor: str
) -> bool:
    """Store the split and make it the current one; says whether it is new."""
    split_id = report.split_id
    content = asdict(report)
    del content["created"]
    row = [split_id, canonical_json(report.parameters), canonical_json(_with_texts_for_times(content))]
    edge_columns = _edge_columns(split_id, edges)
    assignment_columns = _assignment_columns(split_id, checked.groups, checked.parts)
    reached = {share.part: share.reached for share in report.shares if share.dimension == ALL}
    detail = {"split": split_id, **report.parameters, "queries": reached}
    with store.transaction(appends=True) as cursor:
        new = not cursor.execute("SELECT 1 FROM splits WHERE split_id = ?", [split_id]).fetchone()
        if new:
            cursor.execute("INSERT INTO splits VALUES (?, ?, ?, ?)", [*row, utc_now()])
            append(cursor, "leakage_edges", edge_columns)
            append(cursor, "split_assignments", assignment_columns)
        if new or get_setting(cursor, "split") != split_id:
            put_setting(cursor, "split", split_id)
            record_event(cursor, "split", detail, actor)
    return new


def _with_texts_for_times(value: Any) -> Any:
    """The value with times as text."""
    if isinstance(value, dict):
        return {key: _with_texts_for_times(item) for key, item in value.items()}
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
