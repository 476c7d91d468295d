"""The export format triplets: rows to train and test encoders with sentence-transformers.

A hard negative is a document that people graded below relevant, and that a system ranked for the query or
that came with imported judgments. The best ranked documents come first. A randomly drawn document of a pool
is never a hard negative. A near-duplicate of a relevant document is never a hard negative, whatever its
grade. A text that has several document ids is written only once. Grades of another version of a document are
left out, because people judged a different text.

    <part>.jsonl       anchor, positive, negative
    ids/<part>.jsonl   query_id, positive_id, negative_ids: the same rows in the same order

Training code takes every column for a text, so the ids are in a separate file. If queries have filters, the
file of ids also has the kind of each negative (negative_kinds). A negative of the kind outdated may be a
near-duplicate of a relevant document, but not have the same text.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

from curation.core.errors import RefusedError
from curation.ingest.filters import OUTDATED, OUTSIDE
from curation.negatives.hard_negatives import JUDGED
from curation.releases.export.export_format import ExportFormat, Written
from curation.releases.export.files import json_line, map_files, write_lines
from curation.releases.part_rows import get_pair

if TYPE_CHECKING:
    from curation.releases.export.export_source import ExportSource
    from curation.store import Document

OTHER_VERSION = "grade of another version of the document"
UNRANKED = "document graded not relevant that no system ranked"
NEAR_DUPLICATE_NEGATIVE = "document graded not relevant, but nearly identical to a relevant document"
REPEATED_NEGATIVE = "document graded not relevant, with the same text as another document"
REPEATED_POSITIVE = "relevant document with the same text as another document"
NO_POSITIVE = "query without a relevant document"
NO_NEGATIVE = "query without a hard negative"


def write_triplets(folder: Path, source: ExportSource) -> Written:
    """Write rows that pair each relevant document with the best hard negatives, up to the number in the
    request.

    Raises
    ------
    RefusedError: no part has a row.
    """
    left_out: Counter[str] = Counter()
    corpus = source.read_documents({row["document_id"] for row in source.rows("qrels")})
    queries = list(_find_usable_queries(source, corpus, left_out))
    texts = {query["query_id"]: query["text"] for query in source.queries}
    kinds = _map_negative_kinds(source)
    rows: dict[str, int] = {}
    (folder / "ids").mkdir()
    for part in source.parts:
        triplets = [
            (query_id, positive, negative)
            for query_id, positives, negatives in queries
            if source.query_parts[query_id] == part
            for positive in positives
            for negative in negatives[: source.request.negatives]
        ]
        if not triplets:
            continue
        name = f"{part}.jsonl"
        objects = (
            {"anchor": texts[query_id], "positive": corpus[positive].text, "negative": corpus[negative].text}
            for query_id, positive, negative in triplets
        )
        write_lines(folder / name, map(json_line, objects))
        write_lines(folder / "ids" / name, (json_line(_make_id_row(*row, kinds)) for row in triplets))
        rows[name] = len(triplets)
    counts = dict(sorted((+left_out).items()))
    if not rows:
        reasons = "; ".join(f"{count:,} × {reason}" for reason, count in counts.items())
        raise RefusedError(
            f"The grades of {', '.join(source.parts) or 'no part'} give no row for the export: "
            f"{reasons or 'there is no grade'}. Negatives are documents that people graded not relevant, "
            "and that a pool ranked or an import brought."
        )
    splits = {split: name for split, name in map_files(source, ".jsonl").items() if name in rows}
    configs = {"default": splits, "ids": {split: f"ids/{name}" for split, name in splits.items()}}
    return Written(configs, rows=rows, left_out=counts)


def _make_id_row(
    query_id: str, positive: str, negative: str, kinds: Mapping[str, Mapping[str, str]]
) -> dict[str, Any]:
    row = {"query_id": query_id, "positive_id": positive, "negative_ids": [negative]}
    if query_id in kinds:
        row["negative_kinds"] = [kinds[query_id].get(negative, JUDGED)]
    return row


def _map_negative_kinds(source: ExportSource) -> dict[str, dict[str, str]]:
    """Map (query id, document id) to the kind of negative, for pairs whose document is outside the query's
    filter."""
    kinds: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for row in source.rows("qrels"):
        if row["how"] in (OUTSIDE, OUTDATED) and "version" not in row:
            kinds[row["query_id"]][row["document_id"]] = row["how"]
    return kinds


def _find_usable_queries(
    source: ExportSource, documents: Mapping[str, Document], left_out: Counter[str]
) -> Iterator[tuple[str, list[str], list[str]]]:
    """Find the queries from which triplets can be made, with their relevant documents by grade and their
    negatives by rank."""
    ranks = _find_best_ranks(source)
    by_query: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in source.rows("qrels"):
        by_query[row["query_id"]].append(row)
    for query_id, rows in sorted(by_query.items()):
        usable = [row for row in rows if "version" not in row]
        left_out[OTHER_VERSION] += len(rows) - len(usable)
        relevant = [row["document_id"] for row in rows if row["grade"] >= source.relevant_grade]
        relevant_rows = [row for row in usable if row["document_id"] in relevant]
        positives = _find_positives(relevant_rows, documents, left_out)
        irrelevant = [row["document_id"] for row in usable if row["document_id"] not in relevant]
        ranked_ids = [document_id for document_id in irrelevant if (query_id, document_id) in ranks]
        left_out[UNRANKED] += len(irrelevant) - len(ranked_ids)
        negatives = sorted(ranked_ids, key=lambda document_id: (ranks[query_id, document_id], document_id))
        outdated = {row["document_id"] for row in usable if row["how"] == OUTDATED}
        hard_negatives = _find_negatives(negatives, relevant, outdated, documents, source, left_out)
        if positives and hard_negatives:
            yield query_id, positives, hard_negatives
        else:
            left_out[NO_NEGATIVE if positives else NO_POSITIVE] += 1


def _find_positives(
    rows: Sequence[Mapping[str, Any]], documents: Mapping[str, Document], left_out: Counter[str]
) -> list[str]:
    """Return the relevant documents of a query, highest grade first, each text once."""
    id_by_text: dict[str, str] = {}
    for row in sorted(rows, key=lambda row: (-row["grade"], row["document_id"])):
        id_by_text.setdefault(documents[row["document_id"]].text, row["document_id"])
    left_out[REPEATED_POSITIVE] += len(rows) - len(id_by_text)
    return list(id_by_text.values())


def _find_negatives(
    negatives: Sequence[str],
    relevant: Sequence[str],
    outdated: Collection[str],
    documents: Mapping[str, Document],
    source: ExportSource,
    left_out: Counter[str],
) -> list[str]:
    """Return the hard negatives, without equal texts and near-duplicates of relevant documents."""
    from curation.core.similarity.shingles import find_near_duplicate, word_shingles

    texts = {document_id: documents[document_id].text for document_id in (*relevant, *negatives)}
    shingles = {document_id: word_shingles(text) for document_id, text in texts.items()}
    relevant_texts = {texts[document_id] for document_id in relevant}
    negative_by_text: dict[str, str] = {}
    for document_id in negatives:
        text = texts[document_id]
        duplicate = find_near_duplicate(document_id, relevant, shingles, source.near_duplicate)
        if text in relevant_texts or (duplicate is not None and document_id not in outdated):
            left_out[NEAR_DUPLICATE_NEGATIVE] += 1
        elif text in negative_by_text:
            left_out[REPEATED_NEGATIVE] += 1
        else:
            negative_by_text[text] = document_id
    return list(negative_by_text.values())


def _find_best_ranks(source: ExportSource) -> dict[tuple[str, str], float]:
    """Map each (query id, document id) to its best rank in any system of any pool.

    The rank is infinite for a document that only came with imported judgments.
    """
    ranks: dict[tuple[str, str], float] = {}
    for row in source.rows("candidates"):
        rank = row["rank"]
        if row["pool_id"] is None:
            rank = inf if row["system"] == "imported" else None
        if rank is not None:
            pair = get_pair(row)
            ranks[pair] = min(rank, ranks.get(pair, rank))
    return ranks


TRIPLETS = ExportFormat(
    "triplets",
    write_triplets,
    sealed_by_default=False,
    takes_negatives=True,
    readers="Training of embedding models: query, relevant document, hard negative",
)
