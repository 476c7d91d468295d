"""Grades for pairs outside their query's filter, which get the lowest grade without a judgment.

The filter of a query decides before people and sharing. The field `reason` of the grade names the field or
date that excludes the document.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection
from itertools import chain

from curation.core.similarity.shingles import find_near_duplicate, word_shingles
from curation.ingest.filters import OUTDATED, OUTSIDE, Filters
from curation.negatives.requests import NEAR_DUPLICATE
from curation.releases.freeze.draft import ReleaseDraft
from curation.releases.freeze.pair_selection import Pair
from curation.releases.part_rows import get_pair
from curation.store import Store
from curation.store.documents import documents_by_hash
from curation.store.release_parts import PartText


def grade_outside_filter(store: Store, draft: ReleaseDraft, filters: Filters) -> None:
    """Give pairs outside their query's filter the lowest grade."""
    tables = draft.tables
    rows = chain(tables["candidates"], tables["qrels"])
    reasons = filters.find_excluded_pairs(map(get_pair, rows))
    if not reasons:
        return
    similar = _find_near_duplicates(store, draft, reasons)
    graded = {get_pair(row): row for row in tables["qrels"]}
    for pair, reason in reasons.items():
        row = {"query_id": pair[0], "document_id": pair[1], "votes": {}, "cannot_tell": 0}
        origin = {"how": OUTDATED if pair in similar else OUTSIDE, "reason": reason}
        graded[pair] = row | graded.get(pair, {}) | {"grade": draft.scale[0], **origin}
    tables["qrels"] = PartText.of_rows(row for _, row in sorted(graded.items()))
    if "evidence" in tables:
        tables["evidence"] = [row for row in tables["evidence"] if get_pair(row) not in reasons]
    grades = Counter(draft.split.parts[query_id] for query_id, _ in graded)
    draft.grades = {part: grades[part] for part in draft.grades}


def _find_near_duplicates(store: Store, draft: ReleaseDraft, outside: Collection[Pair]) -> set[Pair]:
    """Find the pairs whose document is a near-duplicate of a relevant document of the same query."""
    relevant_grade = draft.split.parameters["relevant_grade"]
    relevant = defaultdict(list)
    for row in draft.tables["qrels"]:
        if row["grade"] >= relevant_grade and get_pair(row) not in outside:
            relevant[row["query_id"]].append(row["document_id"])
    document_ids = {pair[1] for pair in outside}.union(*relevant.values())
    hashes = [row["content_hash"] for row in draft.tables["documents"] if row["document_id"] in document_ids]
    with store.reading() as cursor:
        documents = documents_by_hash(cursor, hashes).values()
    shingles = {document.document_id: word_shingles(document.text) for document in documents}
    return {
        pair
        for pair in outside
        if find_near_duplicate(pair[1], relevant[pair[0]], shingles, NEAR_DUPLICATE) is not None
    }
