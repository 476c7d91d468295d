"""Sharing: a grade given to one document is also that of others, by a rule that the release names.

Without a rule each document has its own judgments alone. The rule 'identical': for the same query,
a document of the corpus whose title and body are the same text has the same grade. A pair with judgments of
its own keeps what came of them, a dispute or no grade included. Where ids of one text have different grades,
which is right is for people to say, and no further id gets one. A grade that was given on another version of
its document is not shared: the text of now is not the one that was judged.

A query's filter decides over people and sharing: a pair outside it that people judged or a pool has gets the
lowest grade. `how` says so, and of which kind it is, and `reason` which field or date was against it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from heapq import merge
from typing import Any

from curation.errors import InputError
from curation.filters.query_filter import OUTDATED, OUTSIDE
from curation.filters.stored import Filters
from curation.negatives.hard_negatives import NEAR_DUPLICATE
from curation.releases.freeze.content import Content, Sharing
from curation.releases.stored import Table
from curation.similarity.identical import Identical
from curation.similarity.near_duplicates import near_duplicate
from curation.similarity.shingles import word_shingles
from curation.splits.inputs import SplitInputs
from curation.store import Store
from curation.store.documents import documents_by_hash
from curation.store.release_parts import PartText

IDENTICAL = "identical"
RULES = (IDENTICAL,)
SHARED = "shared"

Pair = tuple[str, str]


def check_rule(rule: str | None) -> None:
    """Refuse a rule that there is not."""
    if rule is not None and rule not in RULES:
        raise InputError(f"There is no rule of sharing {rule!r}; expected {', '.join(RULES)}.")


def with_shared(content: Content, rule: str, identical: Identical) -> Content:
    """The content with the grades that identical documents share, each with the id that was judged."""
    rows, conflicts = _shared(content, identical)
    qrels = PartText.of_rows(merge(content.tables["qrels"], sorted(rows, key=_pair), key=_pair))
    tables = {**content.tables, "qrels": qrels}
    if "evidence" in tables:
        tables["evidence"] = _with_evidence(tables["evidence"], rows)
    added = Counter(content.split.parts[row["query_id"]] for row in rows)
    return replace(
        content,
        tables=tables,
        grades={part: count + added[part] for part, count in content.grades.items()},
        graded=replace(content.graded, inputs=_inputs(content, rows)),
        sharing=Sharing(rule, len(rows), conflicts),
    )


def with_outside(store: Store, content: Content, filters: Filters) -> Content:
    """The content in which pairs outside the filter of their query have the lowest grade."""
    reasons = filters.among(_pair(row) for part in ("candidates", "qrels") for row in content.tables[part])
    if not reasons:
        return content
    similar = _similar(store, content, reasons)
    held = {_pair(row): row for row in content.tables["qrels"]}
    for pair, reason in reasons.items():
        row = {"query_id": pair[0], "document_id": pair[1], "votes": {}, "cannot_tell": 0}
        how = {"how": OUTDATED if pair in similar else OUTSIDE, "reason": reason}
        held[pair] = row | held.get(pair, {}) | {"grade": content.agreement.scale[0], **how}
    tables = {**content.tables, "qrels": PartText.of_rows(row for _, row in sorted(held.items()))}
    if "evidence" in tables:
        tables["evidence"] = [row for row in tables["evidence"] if _pair(row) not in reasons]
    grades = Counter(content.split.parts[query_id] for query_id, _ in held)
    return replace(content, tables=tables, grades={part: grades[part] for part in content.grades})


def _similar(store: Store, content: Content, outside: Collection[Pair]) -> set[Pair]:
    """Those of the pairs whose text is nearly that of a relevant document."""
    least = content.split.parameters["relevant_grade"]
    relevant = defaultdict(list)
    for row in content.tables["qrels"]:
        if row["grade"] >= least and _pair(row) not in outside:
            relevant[row["query_id"]].append(row["document_id"])
    needed = {pair[1] for pair in outside}.union(*relevant.values())
    hashes = [row["content_hash"] for row in content.tables["documents"] if row["document_id"] in needed]
    with store.reading() as cursor:
        found = documents_by_hash(cursor, hashes).values()
    shingles = {one.document_id: word_shingles(one.text) for one in found}
    return {
        pair
        for pair in outside
        if near_duplicate(pair[1], relevant[pair[0]], shingles, NEAR_DUPLICATE) is not None
    }


def _shared(content: Content, identical: Identical) -> tuple[Table, int]:
    """The rows of further documents, and the number of conflicts."""
    own = _own(content)
    by_text: defaultdict[Pair, Table] = defaultdict(list)
    for row in content.tables["qrels"]:
        if "version" not in row:
            by_text[row["query_id"], identical.first(row["document_id"])].append(row)
    rows: Table = []
    conflicts = 0
    for (query_id, first), given in by_text.items():
        if len({row["grade"] for row in given}) > 1:
            conflicts += 1
            continue
        source = min(given, key=lambda row: str(row["document_id"]))
        others = sorted(identical.all_ids([first]))
        rows += [_row(source, other) for other in others if (query_id, other) not in own]
    return rows, conflicts


def _with_evidence(evidence: Iterable[Mapping[str, Any]], shared: Table) -> Table:
    """The evidence, and that of further documents: their text is the same."""
    others: defaultdict[Pair, list[str]] = defaultdict(list)
    for row in shared:
        others[row["query_id"], row["from"]].append(row["document_id"])
    copies = ({**row, "document_id": other} for row in evidence for other in others[_pair(row)])
    return sorted([*map(dict, evidence), *copies], key=_pair)


def _pair(row: Mapping[str, Any]) -> Pair:
    return row["query_id"], row["document_id"]


def _own(content: Content) -> set[Pair]:
    """Pairs with judgments or a decision of their own, whatever came of them, and those with a grade."""
    tables = ("judgments", "adjudications", "qrels")
    return {(row["query_id"], row["document_id"]) for name in tables for row in content.tables[name]}


def _row(source: Mapping[str, Any], document_id: str) -> dict[str, Any]:
    row = {
        "query_id": source["query_id"],
        "document_id": document_id,
        "grade": source["grade"],
        "how": SHARED,
        "from": source["document_id"],
        "votes": {},
        "cannot_tell": 0,
    }
    return row | ({"confidence": source["confidence"]} if "confidence" in source else {})


def _inputs(content: Content, rows: Iterable[Mapping[str, Any]]) -> SplitInputs:
    """What leakage is looked for in, with the relevant documents among these."""
    inputs = content.graded.inputs
    relevant = {query_id: set(names) for query_id, names in inputs.relevant.items()}
    documents = dict(inputs.documents)
    for row in rows:
        if row["from"] in relevant.get(row["query_id"], ()):
            relevant[row["query_id"]].add(row["document_id"])
            documents[row["document_id"]] = inputs.documents[row["from"]]
    return replace(
        inputs,
        relevant={query_id: frozenset(names) for query_id, names in relevant.items()},
        documents=documents,
    )
