"""The content of a release: all that makes the gold set, and nothing of this machine.

Left out on purpose, because they would differ where the labels do not: times, revisions, client keys,
versions, and the names of people, rounds and files. Annotators are 'a1', 'a2', … and rounds 'r1', 'r2', …,
numbered by their judgments (`pseudonyms`). Floats are kept to six significant digits.

Where the consensus has another rule than majority, the release says which, with its settings, what it was
applied to and the annotators' estimated errors, and each grade carries its confidence. Where it was frozen
against the gate, it says who did so (under their number), why, and what stood against it.

A grade belongs to the text that was judged. A pair that was judged on another version of its document only is
left out, or kept and marked `"version": "changed"`; single judgments of another version are marked the same.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, is_dataclass
from functools import cached_property
from typing import Any, NamedTuple

import pyarrow as pa

from curation.agreement.between import Between, between
from curation.agreement.consensus import ConsensusCounts, Errors, PairConsensus, Votes, errors, settled
from curation.agreement.gate import Check, Demand, Gate, look
from curation.agreement.grades import Grades
from curation.agreement.rule import MAJORITY
from curation.agreement.within import Repeats, Within, within
from curation.releases.pseudonyms import Pseudonyms, pseudonyms
from curation.releases.reading import Rows
from curation.splits.material import Graded, graded
from curation.store.rows import Round
from curation.text import canonical_json, digest

FORMAT = 1
AGREEMENT_SEED = 0
DISPUTED = "disputed pair"
UNJUDGEABLE = "pair that has no grade because nobody could tell"
DECIDED = "pair that has no grade because the reviewer decided so"
CHANGED = "pair graded on another version of the document"
NO_DOCUMENT = "judged pair whose document is not in the current corpus"
NO_QUERY = "judged pair whose query is not in the current sample"
NO_PART = "graded pair whose query is in no part of the split"
NO_GRADE = "query without a grade"

BETWEEN = (
    *("nominal", "ordinal", "interval", "raw", "units", "queries", "single"),
    *("annotators", "judgments", "cannot_tell"),
)
"""The figures between annotators that a release carries."""

NO_NUMBER = "somebody who judged nothing of this release"

Table = list[dict[str, Any]]


@dataclass(frozen=True)
class Split:
    """The split in force; `parts` and `groups` are by query id."""

    split_id: str
    parameters: dict[str, Any]
    parts: Mapping[str, str]
    groups: Mapping[str, str]


@dataclass(frozen=True)
class Agreement:
    """What the agreement figures are computed from; `annotators` are name → pseudonym."""

    scale: tuple[int, ...]
    grades: Grades
    repeats: tuple[Repeats, ...]
    counts: ConsensusCounts
    votes: Votes
    demand: Demand
    all_imported: bool
    annotators: Mapping[str, str]

    @cached_property
    def between(self) -> Between:
        return between(self.grades, self.scale, AGREEMENT_SEED)

    @cached_property
    def within(self) -> tuple[Within, ...]:
        return tuple(within(row) for row in self.repeats)

    @cached_property
    def gate(self) -> Gate:
        """The figures beside what the project demands of them."""
        return look(self.between.ordinal, self.within, self.all_imported, self.demand)

    def rows(self) -> Table:
        """The figures, with annotators under their pseudonyms."""
        consistency = [asdict(row) | {"annotator": self.annotators[row.annotator]} for row in self.within]
        figures = {
            "seed": AGREEMENT_SEED,
            "between": {name: _plain(getattr(self.between, name)) for name in BETWEEN},
            "within": sorted(consistency, key=lambda row: str(row["annotator"])),
            "consensus": self._consensus(),
        }
        return [rounded(figures)]

    def _consensus(self) -> dict[str, Any]:
        """How grades came about; other rules than majority also with what they rest on."""
        counts = asdict(self.counts)
        if self.counts.rule == MAJORITY:
            return {name: count for name, count in counts.items() if name != "ruled"}
        rule = self.votes.rule
        given = self.votes.rows
        counts["settings"] = rule.settings
        counts["inputs"] = {"judgments": given.num_rows - given["annotator"].null_count}
        if rule.by_errors:
            counts["errors"] = self._errors(errors(self.votes, rule.ordinal))
        return counts

    def _errors(self, found: Errors | None) -> dict[str, Any] | None:
        if found is None:
            return None
        people = [
            {**one._asdict(), "annotator": self.annotators.get(one.annotator, NO_NUMBER)}
            for one in found.annotators
        ]
        return asdict(found) | {"annotators": sorted(people, key=canonical_json)}


@dataclass(frozen=True)
class Override:
    """Who froze against the gate, why, and what stood against it."""

    by: str
    reason: str
    against: tuple[Check, ...]


@dataclass(frozen=True)
class Content:
    """A release before it is frozen.

    Attributes
    ----------
    tables: part name → rows; 'agreement' is still to be computed.
    graded: what leakage is looked for in, with the split's own notion of relevant.
    queries, grades: part of the split → number.
    changed: pairs that were graded on another version of the document and are kept.
    left_out: reason → number.
    """

    tables: dict[str, Table]
    split: Split
    agreement: Agreement
    graded: Graded
    queries: dict[str, int]
    grades: dict[str, int]
    documents: int
    changed: int
    left_out: dict[str, int]

    @property
    def disputed(self) -> int:
        return self.left_out.get(DISPUTED, 0)


class _Chosen(NamedTuple):
    """The pairs that the release takes, their queries, and what it leaves out and why."""

    pairs: list[PairConsensus]
    queries: set[str]
    left_out: dict[str, int]


def content_of(rows: Rows, allow_changed: bool = False) -> Content:
    """What the rows make as a release; `allow_changed` keeps grades of other versions of the documents."""
    split = _split(rows)
    standing = settled(rows.labels.votes)
    changed = set(_columns(rows.changed))
    chosen = _choose(rows, standing.pairs, split, set() if allow_changed else changed)
    judgments, names = _judgments(rows, chosen.queries)
    tables = {
        "queries": _queries(rows, split, chosen.queries),
        "qrels": [_qrel(pair, changed, standing.rule != MAJORITY) for pair in chosen.pairs],
        "documents": rows.labels.snapshot.to_pylist(),
        "split": [{"split_id": split.split_id, "parameters": split.parameters}],
        "edges": _edges(rows, chosen.queries),
        "judgments": judgments,
        "rounds": _rounds(rows, names),
        "guides": _guides(rows, judgments),
        "adjudications": _adjudications(rows, chosen.queries),
        "sampling": _sampling(rows),
        **_pools(rows, chosen.queries),
    }
    relevant = rows.labels._replace(relevant_grade=split.parameters["relevant_grade"])
    return Content(
        tables=tables,
        split=split,
        agreement=Agreement(
            scale=rows.labels.scale,
            grades=rows.grades,
            repeats=tuple(rows.repeats),
            counts=standing.counts,
            votes=rows.labels.votes,
            demand=rows.demand,
            all_imported=rows.all_imported,
            annotators=names.annotators,
        ),
        graded=graded(relevant, standing),
        queries=_by_part(split, chosen.queries),
        grades=_by_part(split, (pair.query_id for pair in chosen.pairs)),
        documents=rows.labels.snapshot.num_rows,
        changed=sum(pair[:2] in changed for pair in chosen.pairs),
        left_out=chosen.left_out,
    )


def header(content: Content, override: Override | None = None) -> Table:
    """What the release is, in one row; 'changed' and 'override' only where there is such a thing."""
    described = {
        "format": FORMAT,
        "split_id": content.split.split_id,
        "documents": content.documents,
        "queries": content.queries,
        "grades": content.grades,
        "left_out": content.left_out,
    }
    if content.changed:
        described["changed"] = content.changed
    if override is not None:
        described["override"] = {
            "by": content.agreement.annotators.get(override.by, NO_NUMBER),
            "reason": override.reason,
            "against": [rounded(check._asdict()) for check in override.against],
        }
    return [described]


def rounded(value: Any) -> Any:
    """The value with all floats at six significant digits: the last ones are the machine's, not ours."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, Mapping):
        return {str(key): rounded(item) for key, item in value.items()}
    return [rounded(item) for item in value] if isinstance(value, list | tuple) else value


def _split(rows: Rows) -> Split:
    assigned = list(_columns(rows.assigned))
    parts = {query_id: part for query_id, part, _ in assigned}
    groups = {query_id: group for query_id, _, group in assigned}
    return Split(rows.split_id, json.loads(rows.split_parameters), parts, groups)


def _by_part(split: Split, query_ids: Iterable[str]) -> dict[str, int]:
    counts = Counter(split.parts[query_id] for query_id in query_ids)
    return {part: counts[part] for part in split.parameters["parts"]}


def _choose(
    rows: Rows, pairs: Iterable[PairConsensus], split: Split, changed: Collection[tuple[str, str]]
) -> _Chosen:
    """The pairs with a grade that the release takes; `changed` are those that it refuses for that."""
    documents = set(rows.labels.snapshot["document_id"].to_pylist())
    queries = {query.query_id for query in rows.labels.queries}
    chosen: list[PairConsensus] = []
    graded_queries: set[str] = set()
    left_out: Counter[str] = Counter()
    for pair in pairs:
        if pair.document_id not in documents:
            left_out[NO_DOCUMENT] += 1
        elif pair.query_id not in queries:
            left_out[NO_QUERY] += 1
        elif reason := _no_grade(pair, changed):
            left_out[reason] += 1
        elif pair.query_id not in split.parts:
            left_out[NO_PART] += 1
            graded_queries.add(pair.query_id)
        else:
            chosen.append(pair)
    taken = {pair.query_id for pair in chosen}
    left_out[NO_GRADE] = len(queries - graded_queries - taken)
    return _Chosen(chosen, taken, {reason: count for reason, count in sorted(left_out.items()) if count})


def _no_grade(pair: PairConsensus, changed: Collection[tuple[str, str]]) -> str | None:
    """Why the pair has no grade that could be frozen. Disputes about an older text need no decision."""
    if pair[:2] in changed and (pair.grade is not None or pair.how == "disputed"):
        return CHANGED
    if pair.grade is not None:
        return None
    return {"disputed": DISPUTED, "adjudicated": DECIDED}.get(pair.how, UNJUDGEABLE)


def _queries(rows: Rows, split: Split, chosen: Collection[str]) -> Table:
    sampled = {query_id: drawn for query_id, *drawn in _columns(rows.sampled)}
    table = []
    for query in rows.labels.queries:
        if query.query_id not in chosen:
            continue
        stratum, traffic, probability = sampled.get(query.query_id, [query.source, None, None])
        table.append(
            {
                "query_id": query.query_id,
                "text": query.text,
                "source": query.source,
                "information_need": query.information_need,
                "stratum": stratum,
                "traffic": traffic,
                "inclusion_probability": probability,
                "part": split.parts[query.query_id],
                "group": split.groups[query.query_id],
            }
        )
    return table


def _qrel(pair: PairConsensus, changed: Collection[tuple[str, str]], sure: bool) -> dict[str, Any]:
    """One grade; with `sure` also its confidence."""
    row: dict[str, Any] = {
        "query_id": pair.query_id,
        "document_id": pair.document_id,
        "grade": pair.grade,
        "how": pair.how,
        "votes": {str(grade): count for grade, count in pair.votes.items()},
        "cannot_tell": pair.cannot_tell,
    }
    if sure:
        row["confidence"] = pair.confidence
    return row | ({"version": "changed"} if pair[:2] in changed else {})


def _edges(rows: Rows, queries: Collection[str]) -> Table:
    return [
        rounded({**row, "detail": json.loads(row["detail"])})
        for row in rows.edges.to_pylist()
        if row["query_a"] in queries and row["query_b"] in queries
    ]


def _judgments(rows: Rows, queries: Collection[str]) -> tuple[Table, Pseudonyms]:
    """Judgments as they were given, under the pseudonyms that follow from them."""
    pinned = dict(_columns(rows.labels.snapshot))
    table = [
        row
        for row in rows.judgments.to_pylist()
        if row["query_id"] in queries and row["document_id"] in pinned
    ]
    judged: dict[tuple[str, str], list[str]] = defaultdict(list)
    voices = []
    for row in table:
        voices.append((row.pop("annotator"), row.pop("round")))
        if row.pop("content_hash") != pinned[row["document_id"]]:
            row["version"] = "changed"
        judged[voices[-1]].append(canonical_json(row))
    rounds = {round_id for _, round_id in judged}
    about = {annotator: digest("pilots alone") for annotator, _ in judged}
    about |= {row.annotator: digest(rounded(row[1:])) for row in rows.repeats}
    names = pseudonyms(
        about,
        {row.round_id: digest(_round(row)) for row in rows.rounds if row.round_id in rounds},
        {voice: digest(sorted(lines)) for voice, lines in judged.items()},
    )
    for row, (annotator, round_id) in zip(table, voices, strict=True):
        row["annotator"] = names.annotators[annotator]
        row["round"] = names.rounds[round_id]
    return sorted(table, key=canonical_json), names


def _rounds(rows: Rows, names: Pseudonyms) -> Table:
    used = [
        {"round": names.rounds[row.round_id], **_round(row)}
        for row in rows.rounds
        if row.round_id in names.rounds
    ]
    return sorted(used, key=canonical_json)


def _round(row: Round) -> dict[str, Any]:
    """A round without names: of its parameters those that say how it was laid out."""
    parameters = json.loads(row.parameters)
    kept = {
        name: parameters[name] for name in ("overlap", "duplicates", "seed", "again") if name in parameters
    }
    return {"kind": row.kind, "guide": row.guide_hash, "parameters": kept}


def _guides(rows: Rows, judgments: Table) -> Table:
    """The guide in force, and those that the judgments were given with."""
    used = {row["guide"] for row in judgments} | {rows.guide_hash}
    return [guide.model_dump(mode="json") for guide in rows.guides if guide.guide_hash in used]


def _adjudications(rows: Rows, queries: Collection[str]) -> Table:
    documents = set(rows.labels.snapshot["document_id"].to_pylist())
    return [
        row
        for row in rows.adjudications.to_pylist()
        if row["query_id"] in queries and row["document_id"] in documents
    ]


def _sampling(rows: Rows) -> Table:
    """How the current sample was drawn, one row; none where all queries were imported or written."""
    return [
        {"sample_id": sample_id, "parameters": json.loads(parameters), "report": json.loads(report)}
        for sample_id, parameters, report in _columns(rows.samples)
    ]


def _pools(rows: Rows, queries: Collection[str]) -> dict[str, Table]:
    """Every candidate of the release's queries with who proposed it, and the pools they came from."""
    candidates = [row for row in rows.candidates.to_pylist() if row["query_id"] in queries]
    pools = list(_columns(rows.pools))
    used = {row["pool_id"] for row in candidates}
    known = {pool_id for pool_id, *_ in pools}
    for row in candidates:
        row["score"] = rounded(row["score"])
        if row["pool_id"] not in known:
            row["pool_id"] = None  # imported with judgments: the round's id would carry a file's name
    return {
        "candidates": sorted(candidates, key=canonical_json),
        "pools": [
            {"pool_id": pool_id, "snapshot_id": snapshot_id, "parameters": json.loads(parameters)}
            for pool_id, snapshot_id, parameters in pools
            if pool_id in used
        ],
    }


def _plain(value: Any) -> Any:
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else value


def _columns(table: pa.Table) -> Iterable[tuple[Any, ...]]:
    """The rows of a table as tuples."""
    return zip(*(column.to_pylist() for column in table.columns), strict=True)
