"""The tables of a release, made from the project's rows: queries, grades, judgments, pools and the rest.

People and rounds are numbers (`pseudonyms`). What people wrote is kept, without the names by which the
project knows them and without e-mail addresses.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from curation.core.digests import ListDigest, canonical_json, digest
from curation.labeling.consensus.consensus import PairConsensus
from curation.releases.freeze.pseudonyms import pseudonyms, without_names
from curation.releases.freeze.reading import Rows, columns
from curation.releases.release_id import rounded
from curation.releases.release_rows import NO_NUMBER, PartRows, Table
from curation.store import Round
from curation.store.release_parts import PartText, sorted_lines, table_rows


def judgments(
    rows: Rows, queries: Collection[str]
) -> tuple[PartText, dict[str, str], dict[str, str], frozenset[str]]:
    """Judgments as they were given, under the numbers of annotators and rounds that follow from them; these
    numbers; and the hashes of the guides."""
    judged, guides = _digests(_judged(rows, queries))
    judged_rounds = {round_id for _, round_id in judged}
    about = {annotator: digest("pilots alone") for annotator, _ in judged}
    about |= {row.annotator: digest(rounded(row[1:])) for row in rows.repeats}
    about_rounds = {row.round_id: digest(_round(row)) for row in rows.rounds if row.round_id in judged_rounds}
    annotators, rounds = pseudonyms(about, about_rounds, judged)
    numbered = (
        row | {"annotator": annotators[row["annotator"]], "round": rounds[row["round"]]}
        for row in _judged(rows, queries)
    )
    return PartText.of_rows(numbered, ordered=True), annotators, rounds, guides


def _judged(rows: Rows, queries: Collection[str]) -> Iterator[dict[str, Any]]:
    """The judgments of these queries on documents of the corpus, one by one."""
    pinned = dict(columns(rows.labels.snapshot))
    for row in table_rows(rows.judgments):
        if row["query_id"] in queries and row["document_id"] in pinned:
            if row.pop("content_hash") != pinned[row["document_id"]]:
                row["version"] = "changed"
            yield row


def _digests(judged: Iterable[dict[str, Any]]) -> tuple[dict[tuple[str, str], str], frozenset[str]]:
    """(annotator, round) → `digest` of the list of their judgments' lines, sorted; and the guides' hashes."""
    numbers: dict[tuple[str, str], int] = {}
    guides = set()

    def nameless() -> Iterator[str]:
        for row in judged:
            number = numbers.setdefault((row.pop("annotator"), row.pop("round")), len(numbers))
            guides.add(row["guide"])
            yield f"{canonical_json(row)}\t{number}"  # a tab is in no such line, and comes before all that is

    digests: defaultdict[int, ListDigest] = defaultdict(ListDigest)
    for numbered in sorted_lines(nameless()):
        line, _, number = numbered.rpartition("\t")
        digests[int(number)].add(line)
    return {source: digests[number].value() for source, number in numbers.items()}, frozenset(guides)


def rounds(rows: Rows, numbers: Mapping[str, str]) -> Table:
    """The rounds with a number."""
    used = [{"round": numbers[row.round_id], **_round(row)} for row in rows.rounds if row.round_id in numbers]
    return sorted(used, key=canonical_json)


def _round(row: Round) -> dict[str, Any]:
    """A round without names: of its parameters those that say how it was laid out."""
    parameters = json.loads(row.parameters)
    kept = {
        name: parameters[name] for name in ("overlap", "duplicates", "seed", "again") if name in parameters
    }
    return {"kind": row.kind, "guide": row.guide_hash, "parameters": kept}


def adjudications(rows: Rows, queries: Collection[str], people: Mapping[str, str]) -> Table:
    """The reviewers' decisions; nobody is named in their reasons."""
    pinned = dict(columns(rows.labels.snapshot))
    table = []
    for row in rows.adjudications.to_pylist():
        read, _ = row.pop("content_hash"), row.pop("reviewer")
        if row["query_id"] in queries and row["document_id"] in pinned:
            row["reason"] = without_names(row["reason"], people)
            changed = read is not None and read != pinned[row["document_id"]]
            table.append(row | ({"version": "changed"} if changed else {}))
    return table


def people_of(rows: Rows, queries: Collection[str], numbers: Mapping[str, str]) -> dict[str, str]:
    """Every name of somebody who judged or decided pairs of these queries → their number.

    Other accounts say nothing about a release: a word is not a name because somebody signs in with it.
    """
    reviewers = {row["reviewer"] for row in rows.adjudications.to_pylist() if row["query_id"] in queries}
    inside = numbers.keys() | reviewers
    return {known: numbers.get(name, NO_NUMBER) for known, name in rows.people.items() if name in inside}


def queries(rows: Rows, chosen: Collection[str], filters: Mapping[str, Any]) -> Table:
    """The queries, how each was drawn, and what is known about it.

    Only some queries have a filter, or the language model that wrote them.
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
                "part": rows.split.parts[query.query_id],
                "group": rows.split.groups[query.query_id],
                **synthetic.get(query.query_id, {}),
                **({"filter": filters[query.query_id]} if query.query_id in filters else {}),
            }
        )
    return table


def _written_by(model: str, detail: str, share: float | None) -> dict[str, Any]:
    """The model, its prompts and the share of its queries that people judge.

    The document that it wrote for stays out, because it would reveal grades of a sealed part.
    """
    prompts = json.loads(detail).get("prompts", {})
    return {"written_by": {"model": model, "prompts": prompts, "share_judged": rounded(share)}}


def qrel(pair: PairConsensus, sure: bool) -> dict[str, Any]:
    """One grade; with `sure` also its confidence. A disputed pair has an older grade: 'kept'."""
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
        {
            "query_id": query_id,
            "nugget_id": nugget.id_for(query_id),
            "text": nugget.text,
            "vital": nugget.vital,
        }
        for query_id, written in rows.nuggets.items()
        for nugget in written
        if query_id in queries
    ]


def pool_sample(rows: Rows, queries: Collection[str]) -> Table:
    """Which documents of a sampled pool were drawn, by query and band, and with which probability."""
    return [
        {**row, "inclusion_probability": rounded(row["inclusion_probability"])}
        for row in rows.pool_sample.to_pylist()
        if row["query_id"] in queries
    ]


def relabeled(rows: Rows, pairs: Collection[tuple[str, str]]) -> Table:
    """The pairs among these that were judged again, in which quarter, and what had changed."""
    names = ("query_id", "document_id", "quarter", "cause")  # as releases have stored what had changed
    return [dict(zip(names, row, strict=True)) for row in rows.relabeled if row[:2] in pairs]


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
