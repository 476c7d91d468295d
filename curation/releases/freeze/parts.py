"""The parts of a release that contain no single judgment: queries, grades, edges, guides, sampling, pools."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from curation.labeling.consensus.consensus import PairConsensus
from curation.releases.freeze.reading import Rows, columns
from curation.releases.release_rows import PartRows, Table, rounded
from curation.store.release_parts import PartText, table_rows


@dataclass(frozen=True)
class Split:
    """The split in force; `parts` and `groups` are by query id."""

    split_id: str
    parameters: dict[str, Any]
    parts: Mapping[str, str]
    groups: Mapping[str, str]


def split_of(rows: Rows) -> Split:
    """The split in force."""
    assigned = list(columns(rows.assigned))
    parts = {query_id: part for query_id, part, _ in assigned}
    groups = {query_id: group for query_id, _, group in assigned}
    return Split(rows.split_id, json.loads(rows.split_parameters), parts, groups)


def queries(rows: Rows, split: Split, chosen: Collection[str], filters: Mapping[str, Any]) -> Table:
    """The queries, how each was drawn, and what is known about it; of those by a model what wrote them.

    A query has its filter only where it has one.
    """
    sampled = {query_id: drawn for query_id, *drawn in columns(rows.sampled)}
    about = {query_id: known for query_id, *known in columns(rows.about_queries)}
    synthetic = {query_id: _written_by(*known) for query_id, *known in columns(rows.synthetic)}
    table = []
    for query in rows.labels.queries:
        if query.query_id not in chosen:
            continue
        stratum, traffic, probability = sampled.get(query.query_id, [query.source, None, None])
        segment, tags = about[query.query_id]
        table.append(
            {
                "query_id": query.query_id,
                "text": query.text,
                "source": query.source,
                "information_need": query.information_need,
                "segment": segment,
                "tags": tags,
                "stratum": stratum,
                "traffic": traffic,
                "inclusion_probability": rounded(probability),
                "part": split.parts[query.query_id],
                "group": split.groups[query.query_id],
                **synthetic.get(query.query_id, {}),
                **({"filter": filters[query.query_id]} if query.query_id in filters else {}),
            }
        )
    return table


def _written_by(model: str, detail: str, share: float | None) -> dict[str, Any]:
    """The model, its prompts and the share of its queries that people judge.

    The document that it wrote for stays out: it would tell of grades of a sealed part.
    """
    prompts = json.loads(detail).get("prompts", {})
    return {"written_by": {"model": model, "prompts": prompts, "share_judged": rounded(share)}}


def qrel(pair: PairConsensus, sure: bool) -> dict[str, Any]:
    """One grade; with `sure` also its confidence. Of a disputed pair it is an older one: 'kept'."""
    row: dict[str, Any] = {
        "query_id": pair.query_id,
        "document_id": pair.document_id,
        "grade": pair.grade,
        "how": "kept" if pair.how == "disputed" else pair.how,
        "votes": {str(grade): count for grade, count in pair.votes.items()},
        "cannot_tell": pair.cannot_tell,
    }
    if sure:
        row["confidence"] = pair.confidence
    return row | ({"version": "changed"} if pair.changed else {})


def edges(rows: Rows, queries: Collection[str]) -> Table:
    """The ties between the release's queries."""
    return [
        rounded({**row, "detail": json.loads(row["detail"])})
        for row in rows.edges.to_pylist()
        if row["query_a"] in queries and row["query_b"] in queries
    ]


def guides(rows: Rows, judged_by: Collection[str]) -> Table:
    """The guide in force, and those that the judgments were given with."""
    used = {*judged_by, rows.guide_hash}
    return [guide.model_dump(mode="json") for guide in rows.guides if guide.guide_hash in used]


def sampling(rows: Rows) -> Table:
    """How the current sample was drawn, one row; none where all queries were imported or written."""
    return [
        {
            "sample_id": sample_id,
            "parameters": json.loads(parameters),
            "report": rounded(json.loads(report)),
            "log": _log(rows),
        }
        for sample_id, parameters, report in columns(rows.samples)
    ]


def _log(rows: Rows) -> dict[str, Any]:
    """The traffic that the sample was drawn from: rows taken and left out, when, and what was replaced."""
    logs = list(columns(rows.logs))
    left_out: Counter[str] = Counter()
    for _, reasons, _, _ in logs:
        left_out.update(json.loads(reasons))
    return {
        "imports": len(logs),
        "rows": sum(taken for taken, *_ in logs),
        "left_out": dict(sorted(left_out.items())),
        "first": min((first for _, _, first, _ in logs if first), default=None),
        "last": max((last for *_, last in logs if last), default=None),
        "personal_data": dict(columns(rows.personal)),
    }


def answers(rows: Rows, queries: Collection[str]) -> Table:
    """The reference answers."""
    return [row for row in rows.answers.to_pylist() if row["query_id"] in queries]


def nuggets(rows: Rows, queries: Collection[str]) -> Table:
    """The nuggets, a row for each in the order in which they were written."""
    return [
        {"query_id": query_id, "nugget_id": one.id_for(query_id), "text": one.text, "vital": one.vital}
        for query_id, written in rows.nuggets.items()
        for one in written
        if query_id in queries
    ]


def pool_sample(rows: Rows, queries: Collection[str]) -> Table:
    """Which documents of a sampled pool were drawn, by query and band, and with which probability."""
    return [
        {**row, "inclusion_probability": rounded(row["inclusion_probability"])}
        for row in rows.pool_sample.to_pylist()
        if row["query_id"] in queries
    ]


def pools(rows: Rows, queries: Collection[str]) -> dict[str, PartRows]:
    """Every candidate of the release's queries with who proposed it, and the pools they came from."""
    pools = list(columns(rows.pools))
    known, used = {pool_id for pool_id, *_ in pools}, set()

    def candidates() -> Iterator[dict[str, Any]]:
        for row in table_rows(rows.candidates):
            if row["query_id"] not in queries:
                continue
            row["score"] = rounded(row["score"])
            used.add(row["pool_id"])
            if row["pool_id"] not in known:
                row["pool_id"] = None  # imported with judgments: the round's id would carry a file's name
            yield row

    return {
        "candidates": PartText.of_rows(candidates(), ordered=True),
        "pools": [
            {"pool_id": pool_id, "snapshot_id": snapshot_id, "parameters": json.loads(parameters)}
            for pool_id, snapshot_id, parameters in pools
            if pool_id in used
        ],
    }
