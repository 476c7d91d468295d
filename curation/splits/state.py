"""The state of a project's split: which one is in force, what it was asked for, and which queries wait."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from curation.guides.guide import current_guide
from curation.ingest.importers.queries import active_queries
from curation.labeling.consensus.consensus import consensus
from curation.splits.assignment.assignment import ALL
from curation.splits.request import LARGEST_GROUP, AssignmentOptions
from curation.splits.ties.parameters import rules_of
from curation.store import Cursor, Store, get_setting
from curation.store.documents import snapshot_versions


@dataclass(frozen=True)
class SplitState:
    """What is in force.

    Attributes
    ----------
    split_id: None where no split is in force.
    request: what that split was asked for, as JSON knows it: parts (pairs in their order), seed, rules,
        relevant_grade (None: every grade above the lowest) and options; a split of now keeps released parts.
    graded: queries with a grade on a document of the corpus.
    waiting: of these, queries that have no part.
    """

    split_id: str | None
    request: dict[str, Any] | None
    graded: int
    waiting: int


def split_state(store: Store) -> SplitState:
    """The split in force, and how many graded queries have no part in it."""
    with store.reading() as cursor:
        split_id = get_setting(cursor, "split")
        rows = cursor.execute(
            "SELECT parameters, report FROM splits WHERE split_id = ?", [split_id]
        ).fetchall()
        graded = _graded(cursor)
        sql = "SELECT query_id FROM split_assignments WHERE split_id = ?"
        placed = {query_id for (query_id,) in cursor.execute(sql, [split_id]).fetchall()}
        usual = current_guide(cursor).values[1] if graded else None
    if not rows:
        return SplitState(None, None, len(graded), len(graded))
    parameters, report = json.loads(rows[0][0]), json.loads(rows[0][1])
    return SplitState(split_id, _request(parameters, report, usual), len(graded), len(graded - placed))


def _graded(cursor: Cursor) -> set[str]:
    """The queries that a split would take."""
    pairs = [pair for pair in consensus(cursor).pairs if pair.grade is not None]
    judged = sorted({pair.document_id for pair in pairs})
    held = snapshot_versions(cursor, get_setting(cursor, "corpus"), judged)
    graded = {pair.query_id for pair in pairs if pair.document_id in held}
    return graded.intersection(query.query_id for query in active_queries(cursor))


def _request(parameters: Mapping[str, Any], report: Mapping[str, Any], usual: int | None) -> dict[str, Any]:
    relevant, largest = parameters.get("relevant_grade"), parameters.get("largest_group")
    largest = None if largest == LARGEST_GROUP else largest
    options = AssignmentOptions(parameters.get("by_time", False), parameters.get("undated"), None, largest)
    return {
        "parts": [[part, parameters["parts"][part]] for part in _in_order(parameters, report)],
        "seed": parameters["seed"],
        "rules": asdict(rules_of(parameters)),
        "relevant_grade": None if relevant == usual else relevant,
        "options": asdict(options),
    }


def _in_order(parameters: Mapping[str, Any], report: Mapping[str, Any]) -> list[str]:
    """The parts in the order in which they were given, which the shares of the certificate have."""
    shares = report.get("certificate", {}).get("shares", ())
    recorded = [share["part"] for share in shares if share["dimension"] == ALL]
    return recorded if set(recorded) == set(parameters["parts"]) else list(parameters["parts"])
