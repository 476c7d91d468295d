"""The content of a release: all that makes the gold set, read in one turn, and nothing of this machine.

Left out on purpose, because they would differ where the labels do not: times, revisions, client keys,
versions, and the names of people, rounds and files. Annotators are 'a1', 'a2', … and rounds 'r1', 'r2', … by
the order of their names' digests. Floats are kept to six significant digits.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from curation.agreement.between import Grades, between, read_grades
from curation.agreement.consensus import ConsensusCounts, PairConsensus, consensus
from curation.agreement.within import Repeats, read_repeats, within
from curation.errors import RefusedError
from curation.labeling.guides import current_guide, guide_by_hash
from curation.labeling.rounds import list_rounds
from curation.sources.corpus import current_snapshot
from curation.sources.queries import active_queries
from curation.splits.material import Graded, read_graded
from curation.store import Cursor, get_setting, require_setting
from curation.store.rows import Query, Round
from curation.text import canonical_json, digest

FORMAT = 1
AGREEMENT_SEED = 0
DISPUTED = "disputed pair"
UNJUDGEABLE = "pair that has no grade because nobody could tell"
NO_DOCUMENT = "judged pair whose document is not in the current corpus"
NO_QUERY = "judged pair whose query is not in the current sample"
NO_PART = "graded pair whose query is in no part of the split"
NO_GRADE = "query without a grade"
NO_SPLIT = "There is no split yet. Make one first: `goldset split --dev 0.7 --test 0.3 --seed 0`."

Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Split:
    """The split in force; `parts` and `groups` are by query id."""

    split_id: str
    parameters: dict[str, Any]
    parts: Mapping[str, str]
    groups: Mapping[str, str]


@dataclass(frozen=True)
class Agreement:
    """What the agreement figures are computed from."""

    scale: tuple[int, ...]
    grades: Grades
    repeats: tuple[Repeats, ...]
    counts: ConsensusCounts
    pseudonyms: Mapping[str, str]

    def rows(self) -> Rows:
        """The figures, with annotators under their pseudonyms."""
        consistency = [asdict(within(row)) for row in self.repeats]
        for row in consistency:
            row["annotator"] = self.pseudonyms[row["annotator"]]
        figures = {
            "seed": AGREEMENT_SEED,
            "between": asdict(between(self.grades, self.scale, AGREEMENT_SEED)),
            "within": sorted(consistency, key=lambda row: str(row["annotator"])),
            "consensus": asdict(self.counts),
        }
        return [rounded(figures)]


@dataclass(frozen=True)
class Content:
    """A release before it is frozen.

    Attributes
    ----------
    tables: part name → rows; 'agreement' is still to be computed.
    disputed: open disputes about documents and queries in force.
    graded: what leakage is looked for in, with the split's own notion of relevant.
    queries, grades: part of the split → number.
    left_out: reason → number.
    """

    tables: dict[str, Rows]
    split: Split
    agreement: Agreement
    graded: Graded
    queries: dict[str, int]
    grades: dict[str, int]
    documents: int
    left_out: dict[str, int]

    @property
    def disputed(self) -> int:
        return self.left_out.get(DISPUTED, 0)


def read_content(cursor: Cursor) -> Content:
    """Read all that a release of this moment would hold.

    Raises
    ------
    RefusedError: there is no corpus or no split.
    """
    snapshot = current_snapshot(cursor)
    split = _read_split(cursor)
    documents = _rows(
        cursor,
        "SELECT document_id, content_hash FROM snapshot_documents WHERE snapshot_id = ? ORDER BY document_id",
        [snapshot],
    )
    active = active_queries(cursor)
    standing = consensus(cursor)
    pairs, left_out = _choose(standing.pairs, {row["document_id"] for row in documents}, active, split)
    chosen = {pair.query_id for pair in pairs}
    queries = [query for query in active if query.query_id in chosen]
    repeats = read_repeats(cursor)
    pseudonyms = numbered("a", [row.annotator for row in repeats])
    tables = {
        "queries": _queries(cursor, queries, split),
        "qrels": [_qrel(pair) for pair in pairs],
        "documents": documents,
        "split": [{"split_id": split.split_id, "parameters": split.parameters}],
        "edges": _edges(cursor, split, chosen),
        **_labels(cursor, sorted(chosen), snapshot, pseudonyms),
        "sampling": _sampling(cursor),
        **_pools(cursor, sorted(chosen)),
    }
    agreement = Agreement(
        current_guide(cursor).values, read_grades(cursor), tuple(repeats), standing.counts, pseudonyms
    )
    names = list(split.parameters["parts"])
    query_counts = Counter(split.parts[query_id] for query_id in chosen)
    grade_counts = Counter(split.parts[pair.query_id] for pair in pairs)
    return Content(
        tables=tables,
        split=split,
        agreement=agreement,
        graded=read_graded(cursor, split.parameters["relevant_grade"]),
        queries={part: query_counts[part] for part in names},
        grades={part: grade_counts[part] for part in names},
        documents=len(documents),
        left_out=left_out,
    )


def header(content: Content) -> Rows:
    """What the release is, in one row."""
    return [
        {
            "format": FORMAT,
            "split_id": content.split.split_id,
            "documents": content.documents,
            "queries": content.queries,
            "grades": content.grades,
            "left_out": content.left_out,
        }
    ]


def numbered(prefix: str, names: Iterable[str]) -> dict[str, str]:
    """Name → pseudonym: the prefix and the name's place in the order of digests."""
    ordered = sorted(set(names), key=lambda name: digest("pseudonym", name))
    return {name: f"{prefix}{place}" for place, name in enumerate(ordered, 1)}


def rounded(value: Any) -> Any:
    """The value with all floats at six significant digits: the last ones are the machine's, not ours."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, Mapping):
        return {str(key): rounded(item) for key, item in value.items()}
    return [rounded(item) for item in value] if isinstance(value, list | tuple) else value


def _read_split(cursor: Cursor) -> Split:
    split_id = require_setting(cursor, "split", NO_SPLIT)
    row = cursor.execute("SELECT parameters FROM splits WHERE split_id = ?", [split_id]).fetchone()
    if row is None:
        raise RefusedError(NO_SPLIT)
    assigned = cursor.execute(
        "SELECT query_id, part, group_id FROM split_assignments WHERE split_id = ? ORDER BY query_id",
        [split_id],
    ).fetchall()
    parts = {query_id: part for query_id, part, _ in assigned}
    groups = {query_id: group for query_id, _, group in assigned}
    return Split(split_id, json.loads(row[0]), parts, groups)


def _choose(
    pairs: Iterable[PairConsensus], documents: set[str], active: Sequence[Query], split: Split
) -> tuple[list[PairConsensus], dict[str, int]]:
    """The pairs with a grade that the release takes, and what it leaves out and why."""
    queries = {query.query_id for query in active}
    chosen: list[PairConsensus] = []
    graded: set[str] = set()
    left_out: Counter[str] = Counter()
    for pair in pairs:
        if pair.document_id not in documents:
            left_out[NO_DOCUMENT] += 1
        elif pair.query_id not in queries:
            left_out[NO_QUERY] += 1
        elif pair.grade is None:
            left_out[DISPUTED if pair.how == "disputed" else UNJUDGEABLE] += 1
        else:
            graded.add(pair.query_id)
            if pair.query_id in split.parts:
                chosen.append(pair)
            else:
                left_out[NO_PART] += 1
    left_out[NO_GRADE] = len(queries - graded)
    return chosen, {reason: count for reason, count in sorted(left_out.items()) if count}


def _queries(cursor: Cursor, queries: Sequence[Query], split: Split) -> Rows:
    sample = cursor.execute(
        "SELECT query_id, stratum, traffic, inclusion_probability FROM sample_queries WHERE sample_id = ?",
        [get_setting(cursor, "sample")],
    ).fetchall()
    sampled = {query_id: drawn for query_id, *drawn in sample}
    rows = []
    for query in queries:
        stratum, traffic, probability = sampled.get(query.query_id, [query.source, None, None])
        rows.append(
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
    return rows


def _qrel(pair: PairConsensus) -> dict[str, Any]:
    return {
        "query_id": pair.query_id,
        "document_id": pair.document_id,
        "grade": pair.grade,
        "how": pair.how,
        "votes": {str(grade): count for grade, count in pair.votes.items()},
        "cannot_tell": pair.cannot_tell,
    }


def _edges(cursor: Cursor, split: Split, queries: set[str]) -> Rows:
    rows = _rows(
        cursor,
        """
        SELECT query_a, query_b, kind, similarity, detail FROM leakage_edges WHERE split_id = ?
        ORDER BY query_a, query_b, kind
        """,
        [split.split_id],
    )
    return [
        rounded({**row, "detail": json.loads(row["detail"])})
        for row in rows
        if row["query_a"] in queries and row["query_b"] in queries
    ]


def _labels(
    cursor: Cursor, queries: list[str], snapshot: str, pseudonyms: Mapping[str, str]
) -> dict[str, Rows]:
    """Judgments as they were given, their rounds and guides, and the reviewer's decisions."""
    judgments = _rows(
        cursor,
        """
        SELECT query_id, document_id, annotator, round_id AS round, kind, grade,
               duplicate_of IS NOT NULL AS duplicate, guide_hash AS guide
        FROM current_judgments
        WHERE query_id IN (SELECT unnest(?::TEXT[]))
          AND document_id IN (SELECT document_id FROM snapshot_documents WHERE snapshot_id = ?)
        """,
        [queries, snapshot],
    )
    used = {row["round"] for row in judgments}
    rounds = [row for row in list_rounds(cursor) if row.round_id in used]
    names = {row.round_id: row.name for row in rounds}
    numbers = numbered("r", names.values())
    for row in judgments:
        row["annotator"] = pseudonyms[row["annotator"]]
        row["round"] = numbers[names[row["round"]]]
    guides = {row["guide"] for row in judgments} | {current_guide(cursor).guide_hash}
    decisions = _rows(
        cursor,
        """
        SELECT query_id, document_id, grade, reason FROM current_adjudications
        WHERE query_id IN (SELECT unnest(?::TEXT[]))
          AND document_id IN (SELECT document_id FROM snapshot_documents WHERE snapshot_id = ?)
        ORDER BY query_id, document_id
        """,
        [queries, snapshot],
    )
    return {
        "judgments": sorted(judgments, key=canonical_json),
        "rounds": sorted((_round(row, numbers[row.name]) for row in rounds), key=canonical_json),
        "guides": [
            guide_by_hash(cursor, guide_hash).model_dump(mode="json") for guide_hash in sorted(guides)
        ],
        "adjudications": decisions,
    }


def _round(row: Round, number: str) -> dict[str, Any]:
    """A round without names: of its parameters those that say how it was laid out."""
    parameters = json.loads(row.parameters)
    kept = {
        name: parameters[name] for name in ("overlap", "duplicates", "seed", "again") if name in parameters
    }
    return {"round": number, "kind": row.kind, "guide": row.guide_hash, "parameters": kept}


def _sampling(cursor: Cursor) -> Rows:
    """How the current sample was drawn, one row; none where all queries were imported or written."""
    rows = cursor.execute(
        "SELECT sample_id, parameters, report FROM samples WHERE sample_id = ?",
        [get_setting(cursor, "sample")],
    ).fetchall()
    return [
        {"sample_id": sample_id, "parameters": json.loads(parameters), "report": json.loads(report)}
        for sample_id, parameters, report in rows
    ]


def _pools(cursor: Cursor, queries: list[str]) -> dict[str, Rows]:
    """Every candidate of the release's queries with who proposed it, and the pools they came from."""
    candidates = _rows(
        cursor,
        """
        SELECT pool_id, query_id, document_id, system, rank, score FROM candidate_sources
        WHERE query_id IN (SELECT unnest(?::TEXT[]))
        """,
        [queries],
    )
    pools = cursor.execute("SELECT pool_id, snapshot_id, parameters FROM pools ORDER BY pool_id").fetchall()
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


def _rows(cursor: Cursor, sql: str, parameters: Sequence[Any]) -> Rows:
    cursor.execute(sql, list(parameters))
    names = [column[0] for column in cursor.description or ()]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
