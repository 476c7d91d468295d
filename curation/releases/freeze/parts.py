"""The parts of a release (queries, grades, judgments, pools and others), made from the project's rows.

In a release, people and rounds have numbers instead of names (`pseudonyms`). A release keeps texts that
people wrote, but without names of the project's people and without e-mail addresses.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from curation.core.digests import ListDigest, canonical_json, digest
from curation.labeling.consensus.consensus import PairConsensus
from curation.releases.checksums import round_floats
from curation.releases.freeze.project_rows import ProjectRows, iterate_rows
from curation.releases.freeze.pseudonyms import assign_pseudonyms, replace_names
from curation.releases.part_rows import NO_NUMBER, PartRows, Rows
from curation.store import Round
from curation.store.release_parts import PartText, sort_lines, table_rows


class JudgmentsPart(NamedTuple):
    """The part of a release that contains its judgments.

    Attributes
    ----------
    annotators, rounds: annotator's name, round id → number in the release.
    guide_hashes: hashes of the guides of the judgments.
    """

    text: PartText
    annotators: dict[str, str]
    rounds: dict[str, str]
    guide_hashes: frozenset[str]


def make_judgments(rows: ProjectRows, queries: Collection[str]) -> JudgmentsPart:
    """Make the part of a release with its judgments, without names of annotators and rounds."""
    judged, guide_hashes = _digest_judgments(_iterate_judgments(rows, queries))
    round_ids = {round_id for _, round_id in judged}
    about = {annotator: digest("pilots alone") for annotator, _ in judged}
    about |= {row.annotator: digest(round_floats(row[1:])) for row in rows.repeats}
    layouts = {row.round_id: digest(_make_layout(row)) for row in rows.rounds if row.round_id in round_ids}
    annotators, rounds = assign_pseudonyms(about, layouts, judged)
    numbered = (
        row | {"annotator": annotators[row["annotator"]], "round": rounds[row["round"]]}
        for row in _iterate_judgments(rows, queries)
    )
    return JudgmentsPart(PartText.of_rows(numbered, ordered=True), annotators, rounds, guide_hashes)


def make_rounds(rows: ProjectRows, numbers: Mapping[str, str]) -> Rows:
    """Make the part of a release with its labeling rounds, which are the rounds that have a pseudonym."""
    used = (row for row in rows.rounds if row.round_id in numbers)
    described = ({"round": numbers[row.round_id], **_make_layout(row)} for row in used)
    return sorted(described, key=canonical_json)


def make_adjudications(rows: ProjectRows, queries: Collection[str], people: Mapping[str, str]) -> Rows:
    """Make the part of a release with the reviewers' decisions, and their reasons without names."""
    pinned_hashes = dict(iterate_rows(rows.labels.snapshot))
    table = []
    for row in rows.adjudications.to_pylist():
        del row["reviewer"]
        read_hash = row.pop("content_hash")
        if row["query_id"] in queries and row["document_id"] in pinned_hashes:
            row["reason"] = replace_names(row["reason"], people)
            changed = read_hash is not None and read_hash != pinned_hashes[row["document_id"]]
            table.append(row | ({"version": "changed"} if changed else {}))
    return table


def map_names(rows: ProjectRows, queries: Collection[str], numbers: Mapping[str, str]) -> dict[str, str]:
    """Map each name of the people who judged or decided pairs of these queries to the person's number.

    The names of other accounts stay in texts, because an account name may be an ordinary word.
    """
    reviewers = {row["reviewer"] for row in rows.adjudications.to_pylist() if row["query_id"] in queries}
    people = numbers.keys() | reviewers
    return {alias: numbers.get(name, NO_NUMBER) for alias, name in rows.people.items() if name in people}


def make_queries(rows: ProjectRows, chosen: Collection[str], filters: Mapping[str, Any]) -> Rows:
    """Make the part of a release with its queries: how each query was drawn, its filter, and the language
    model that wrote it, if any.

    The document for which a model wrote a query stays out, because it would reveal grades of a sealed part.
    """
    about = {row.pop("query_id"): row for row in rows.about_queries.to_pylist()}
    table = []
    for query in rows.labels.queries:
        if query.query_id not in chosen:
            continue
        facts = about[query.query_id]
        row: dict[str, Any] = {
            "query_id": query.query_id,
            "text": query.text,
            "source": query.source,
            "information_need": query.information_need,
            **{name: facts[name] for name in ("segment", "tags", "stratum", "traffic")},
            "inclusion_probability": round_floats(facts["inclusion_probability"]),
            "part": rows.split.parts[query.query_id],
            "group": rows.split.groups[query.query_id],
        }
        if facts["model"] is not None:
            detail = json.loads(facts["detail"])
            share, prompts = round_floats(facts["share"]), detail.get("prompts", {})
            written_by = {"model": facts["model"], "prompts": prompts, "share_judged": share}
            checked = {name: detail[name] for name in ("checked_by", "probability") if name in detail}
            row["written_by"] = written_by | round_floats(checked)
        if facts["matches"] is not None:  # the query was compared with training data
            row["contamination"] = round_floats(facts["matches"])
        if query.query_id in filters:
            row["filter"] = filters[query.query_id]
        table.append(row)
    return table


def make_qrel(pair: PairConsensus, confident: bool) -> dict[str, Any]:
    """Make the row of a pair's grade, with the grade's confidence if `confident`.

    A disputed pair has an older grade, with the origin 'kept'.
    """
    row: dict[str, Any] = {
        "query_id": pair.query_id,
        "document_id": pair.document_id,
        "grade": pair.grade,
        "how": "kept" if pair.how == "disputed" else pair.how,
        "votes": {str(grade): count for grade, count in pair.votes.items()},
        "cannot_tell": pair.cannot_tell,
    }
    if confident:
        row["confidence"] = pair.confidence
    return row | ({"version": "changed"} if pair.changed else {})


def make_edges(rows: ProjectRows, queries: Collection[str]) -> Rows:
    """Make the part of a release with the ties between its queries."""
    return [
        round_floats({**row, "detail": json.loads(row["detail"])})
        for row in rows.edges.to_pylist()
        if row["query_a"] in queries and row["query_b"] in queries
    ]


def make_guides(rows: ProjectRows, judged_by: Collection[str]) -> Rows:
    """Make the part of a release with its guides: the current guide, and the guides of judgments."""
    used = {*judged_by, rows.guide_hash}
    return [guide.model_dump(mode="json") for guide in rows.guides if guide.guide_hash in used]


def make_sampling(rows: ProjectRows) -> Rows:
    """Make the part of a release that describes the draw of the current query sample; empty without a
    sample."""
    return [
        {
            "sample_id": sample_id,
            "parameters": json.loads(parameters),
            "report": round_floats(json.loads(report)),
            "log": _describe_log(rows),
        }
        for sample_id, parameters, report in iterate_rows(rows.samples)
    ]


def make_answers(rows: ProjectRows, queries: Collection[str]) -> Rows:
    """Make the part of a release with the reference answers to its queries."""
    return [row for row in rows.answers.to_pylist() if row["query_id"] in queries]


def make_nuggets(rows: ProjectRows, queries: Collection[str]) -> Rows:
    """Make the part of a release with its answer nuggets, in the order in which people wrote the nuggets."""
    return [
        {"query_id": query, "nugget_id": nugget.make_id(query), "text": nugget.text, "vital": nugget.vital}
        for query, nuggets in rows.nuggets.items()
        for nugget in nuggets
        if query in queries
    ]


def make_pool_sample(rows: ProjectRows, queries: Collection[str]) -> Rows:
    """Make the part of a release with the candidates that were drawn at random from a pool."""
    return [
        {**row, "inclusion_probability": round_floats(row["inclusion_probability"])}
        for row in rows.pool_sample.to_pylist()
        if row["query_id"] in queries
    ]


def make_relabeled(rows: ProjectRows, pairs: Collection[tuple[str, str]]) -> Rows:
    """Make the part of a release with its re-labeled pairs, with quarter and change."""
    names = ("query_id", "document_id", "quarter", "cause")  # releases store the change as 'cause'
    return [dict(zip(names, row, strict=True)) for row in rows.relabeled if row[:2] in pairs]


def make_pools(rows: ProjectRows, queries: Collection[str]) -> dict[str, PartRows]:
    """Make the parts of a release with candidates and pools, and the system of each candidate."""
    pools = list(iterate_rows(rows.pools))
    pool_ids, used = {pool_id for pool_id, *_ in pools}, set()

    def candidates() -> Iterator[dict[str, Any]]:
        for row in table_rows(rows.candidates):
            if row["query_id"] not in queries:
                continue
            row["score"] = round_floats(row["score"])
            used.add(row["pool_id"])
            if row["pool_id"] not in pool_ids:
                row["pool_id"] = None  # the id of an imported round would reveal a file's name
            yield row

    return {
        "candidates": PartText.of_rows(candidates(), ordered=True),
        "pools": [
            {"pool_id": pool_id, "snapshot_id": snapshot_id, "parameters": json.loads(parameters)}
            for pool_id, snapshot_id, parameters in pools
            if pool_id in used
        ],
    }


def _iterate_judgments(rows: ProjectRows, queries: Collection[str]) -> Iterator[dict[str, Any]]:
    """Yield the judgments of these queries on documents of the corpus."""
    pinned_hashes = dict(iterate_rows(rows.labels.snapshot))
    for row in table_rows(rows.judgments):
        if row["query_id"] in queries and row["document_id"] in pinned_hashes:
            if row.pop("content_hash") != pinned_hashes[row["document_id"]]:
                row["version"] = "changed"
            yield row


def _digest_judgments(judged: Iterable[dict[str, Any]]) -> tuple[dict[tuple[str, str], str], frozenset[str]]:
    """Map (annotator, round) to a `digest` of the sorted judgments, and return the hashes of the guides."""
    numbers: dict[tuple[str, str], int] = {}
    guides = set()

    def nameless() -> Iterator[str]:
        for row in judged:
            number = numbers.setdefault((row.pop("annotator"), row.pop("round")), len(numbers))
            guides.add(row["guide"])
            yield f"{canonical_json(row)}\t{number}"  # a tab sorts before all characters of a line

    digests: defaultdict[int, ListDigest] = defaultdict(ListDigest)
    for numbered in sort_lines(nameless()):
        line, _, number = numbered.rpartition("\t")
        digests[int(number)].add(line)
    return {source: digests[number].value() for source, number in numbers.items()}, frozenset(guides)


def _make_layout(row: Round) -> dict[str, Any]:
    """Describe a labeling round without people's names: its kind, its guide, and its settings."""
    stored = json.loads(row.parameters)
    layout = {name: stored[name] for name in ("overlap", "duplicates", "seed", "again") if name in stored}
    return {"kind": row.kind, "guide": row.guide_hash, "parameters": layout}


def _describe_log(rows: ProjectRows) -> dict[str, Any]:
    """Describe the sample's query logs: rows, times, left-out rows, and replaced personal data."""
    logs = list(iterate_rows(rows.logs))
    left_out: Counter[str] = Counter()
    for _, reasons, _, _ in logs:
        left_out.update(json.loads(reasons))
    return {
        "imports": len(logs),
        "rows": sum(taken for taken, *_ in logs),
        "left_out": dict(sorted(left_out.items())),
        "first": min((first for _, _, first, _ in logs if first), default=None),
        "last": max((last for *_, last in logs if last), default=None),
        "personal_data": dict(iterate_rows(rows.personal)),
    }
