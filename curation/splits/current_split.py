"""The current split: its request, its parts, and the graded queries that wait for a part."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from curation.guides.guide import current_guide
from curation.ingest.importers.queries import active_queries
from curation.labeling.consensus.consensus import read_consensus
from curation.splits.assignment import ALL
from curation.splits.request import LARGEST_GROUP
from curation.splits.ties import rules_of
from curation.store import Cursor, Store, get_setting
from curation.store.documents import snapshot_versions


@dataclass(frozen=True)
class SplitState:
    """The current split, and the queries that wait for a part.

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


def split_state(store: Store) -> SplitState:
    """Read the current split, and count the graded queries that have no part in it."""
    with store.reading() as cursor:
        split_id = get_setting(cursor, "split")
        rows = cursor.execute(
            "SELECT parameters, report FROM splits WHERE split_id = ?", [split_id]
        ).fetchall()
        graded = _graded_queries(cursor)
        placed = current_parts(cursor)
        usual = current_guide(cursor).values[1] if graded else None
    waiting = len(graded.difference(placed))
    if not rows:
        return SplitState(None, None, len(graded), waiting)
    parameters, report = json.loads(rows[0][0]), json.loads(rows[0][1])
    return SplitState(split_id, _request_fields(parameters, report, usual), len(graded), waiting)


def current_parts(cursor: Cursor) -> dict[str, str]:
    """Read the parts of the current split: query id → part; empty without a split."""
    sql = "SELECT query_id, part FROM split_assignments WHERE split_id = ?"
    return dict(cursor.execute(sql, [get_setting(cursor, "split")]).fetchall())


def _graded_queries(cursor: Cursor) -> set[str]:
    """Read the ids of the graded queries that a split would contain."""
    pairs = [pair for pair in read_consensus(cursor).pairs if pair.grade is not None]
    judged = sorted({pair.document_id for pair in pairs})
    in_corpus = snapshot_versions(cursor, get_setting(cursor, "corpus"), judged)
    graded = {pair.query_id for pair in pairs if pair.document_id in in_corpus}
    return graded.intersection(query.query_id for query in active_queries(cursor))


def _request_fields(
    parameters: Mapping[str, Any], report: Mapping[str, Any], usual: int | None
) -> dict[str, Any]:
    """Return the fields of the request for a stored split. `usual` is the default relevant grade."""
    relevant, largest = parameters.get("relevant_grade"), parameters.get("largest_group")
    parts = parameters["parts"]
    shares = report.get("certificate", {}).get("shares", ())
    recorded = [share["part"] for share in shares if share["dimension"] == ALL]  # in the order of the request
    return {
        "parts": [[part, parts[part]] for part in (recorded if set(recorded) == set(parts) else parts)],
        "seed": parameters["seed"],
        "rules": asdict(rules_of(parameters)),
        "relevant_grade": None if relevant == usual else relevant,
        "by_time": parameters.get("by_time", False),
        "largest_group": None if largest == LARGEST_GROUP else largest,
    }
