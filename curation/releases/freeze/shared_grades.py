"""Grades shared by identical documents, so that one document's grade counts for its copies.

Without a sharing rule, each document has only grades from judgments of this document. By the rule
'identical', documents of the corpus with the same title and body have the same grade for the same query. A
pair that people judged keeps the grade from the judgments. If documents with the same text have different
grades, no further document gets a shared grade. A grade of another version of a document is not shared.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from heapq import merge
from typing import Any

from curation.core.errors import InputError
from curation.core.similarity.identical_texts import IdenticalTexts
from curation.releases.freeze.draft import ReleaseDraft
from curation.releases.freeze.pair_selection import Pair
from curation.releases.part_rows import Rows, get_pair
from curation.splits.inputs import SplitInputs
from curation.store.release_parts import PartText

IDENTICAL = "identical"
RULES = (IDENTICAL,)
SHARED = "shared"


def check_rule(rule: str | None) -> None:
    """Reject an unknown rule for sharing grades between identical documents."""
    if rule is not None and rule not in RULES:
        raise InputError(f"There is no rule {rule!r} for sharing grades; expected {', '.join(RULES)}.")


def share_grades(draft: ReleaseDraft, rule: str, identical: IdenticalTexts) -> None:
    """Add the grades that identical documents share, each with the id of the judged document."""
    rows, conflicts = _make_shared_qrels(draft, identical)
    tables = draft.tables
    tables["qrels"] = PartText.of_rows(merge(tables["qrels"], sorted(rows, key=get_pair), key=get_pair))
    if "evidence" in tables:
        tables["evidence"] = _share_evidence(tables["evidence"], rows)
    added = Counter(draft.split.parts[row["query_id"]] for row in rows)
    draft.grades = {part: count + added[part] for part, count in draft.grades.items()}
    draft.graded = replace(draft.graded, inputs=_add_shared_inputs(draft, rows))
    draft.sharing = {"rule": rule, "grades": len(rows), "conflicts": conflicts}


def _make_shared_qrels(draft: ReleaseDraft, identical: IdenticalTexts) -> tuple[Rows, int]:
    """Return rows of grades for identical documents, and the number of texts with conflicting grades."""
    judged = {get_pair(row) for part in ("judgments", "adjudications", "qrels") for row in draft.tables[part]}
    by_text: defaultdict[Pair, Rows] = defaultdict(list)
    for row in draft.tables["qrels"]:
        if "version" not in row:
            by_text[row["query_id"], identical.first(row["document_id"])].append(row)
    rows: Rows = []
    conflicts = 0
    for (query_id, first), text_rows in by_text.items():
        if len({row["grade"] for row in text_rows}) > 1:
            conflicts += 1
            continue
        source = min(text_rows, key=lambda row: str(row["document_id"]))
        ids = sorted(identical.all_ids([first]))
        shared = {"how": SHARED, "from": source["document_id"], "votes": {}, "cannot_tell": 0}
        names = ("query_id", "grade", "confidence")
        fields: dict[str, Any] = {name: source[name] for name in names if name in source}
        rows += [{**fields, "document_id": id, **shared} for id in ids if (query_id, id) not in judged]
    return rows, conflicts


def _share_evidence(evidence: Iterable[Mapping[str, Any]], shared: Rows) -> Rows:
    """Return the evidence, and copies of it for documents with the same text."""
    shared_ids: defaultdict[Pair, list[str]] = defaultdict(list)
    for row in shared:
        shared_ids[row["query_id"], row["from"]].append(row["document_id"])
    copies = ({**row, "document_id": other} for row in evidence for other in shared_ids[get_pair(row)])
    return sorted([*map(dict, evidence), *copies], key=get_pair)


def _add_shared_inputs(draft: ReleaseDraft, rows: Iterable[Mapping[str, Any]]) -> SplitInputs:
    """Return the inputs to the check of the split, with the relevant documents of these rows added."""
    inputs = draft.graded.inputs
    relevant = {query_id: set(names) for query_id, names in inputs.relevant.items()}
    documents = dict(inputs.documents)
    for row in rows:
        if row["from"] in relevant.get(row["query_id"], ()):
            relevant[row["query_id"]].add(row["document_id"])
            documents[row["document_id"]] = inputs.documents[row["from"]]
    relevant_sets = {query_id: frozenset(names) for query_id, names in relevant.items()}
    return replace(inputs, relevant=relevant_sets, documents=documents)
