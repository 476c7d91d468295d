"""A file of unjudged pairs that people judge outside the app.

The file holds the pairs that a new round would show: unjudged candidates of the current queries that are in
no round. Like the grading screen, the file is blind: it has no rank, score, system or mark of a random
negative, and the order of queries and documents follows a hash. `goldgrade import judgments` reads the
completed file.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from curation.core.characters import quote_formula
from curation.core.digests import digest
from curation.core.errors import InputError, RefusedError
from curation.ingest.filters import NEED
from curation.ingest.importers.queries import read_active_queries
from curation.labeling.presentation.excerpts import MAX_PASSAGE_LENGTH, find_best_passage
from curation.labeling.rounds.candidates import Candidate, choose_candidates, read_candidates
from curation.people.annotators import require_author
from curation.store import COMMAND_LINE, Document, Query, Store, record_event
from curation.store.documents import documents_by_hash
from curation.store.staging import flush, staging_folder

COLUMNS = ("query_id", "query", "information_need", "document_id", "title", "text", "grade", "note")
FORMATS = (".csv", ".jsonl")
TEXTS = ("whole", "excerpt")


class WrittenPairs(NamedTuple):
    """The result of writing a pairs file: its path, and its numbers of queries and pairs.

    Attributes
    ----------
    left_out: reason → number of candidates that are not in the file.
    """

    path: Path
    queries: int
    pairs: int
    left_out: dict[str, int]


def export_pairs(
    store: Store, path: Path, seed: int = 0, text: str = "whole", author: str = COMMAND_LINE
) -> WrittenPairs:
    """Write the unjudged pairs to a new file with the columns `COLUMNS`, as CSV or JSON lines by the file's
    extension.

    Parameters
    ----------
    seed: the seed of the order.
    text: 'whole', or 'excerpt': the passage that the grading screen would show of a long document.

    Raises
    ------
    InputError: the file exists, has an unknown ending, or cannot be written; or `text` is unknown.
    NotFoundError: the author is unknown.
    RefusedError: the author is not a lead, or no pair needs a judgment.
    """
    check_output(path, text)
    with store.reading() as cursor:
        require_author(cursor, author, "lead")
        choice = choose_candidates(*read_candidates(cursor), again=False)
        needs = dict(cursor.execute(f"SELECT query_id, {NEED} FROM queries q").fetchall())  # noqa: S608
        active = read_active_queries(cursor)
        queries = {query.query_id: query._replace(information_need=needs[query.query_id]) for query in active}
        documents = documents_by_hash(cursor, (pair.content_hash for pair in choice.candidates))
    pairs = sorted(choice.candidates, key=lambda pair: _hash_rank(seed, pair))
    if not pairs:
        reasons = "; ".join(f"{count:,} × {why}" for why, count in choice.left_out.items())
        raise RefusedError(
            f"There are no pairs to judge ({reasons or 'no pool was built'}).",
            command="`goldgrade pool` finds the documents of each query.",
        )
    rows = _build_rows(pairs, queries, documents, excerpt=text == "excerpt")
    _write_file(path, rows)
    count = len({pair.query_id for pair in pairs})
    detail = {"file": path.name, "queries": count, "pairs": len(pairs)}
    with store.transaction() as cursor:
        record_event(cursor, "export pairs", detail, author)
    return WrittenPairs(path, count, len(pairs), dict(choice.left_out))


def check_output(path: Path, text: str) -> None:
    """Reject an output file that cannot be written, and an unknown kind of text.

    Raises
    ------
    InputError: the kind of text is unknown; the file exists, has an unknown ending, or has no folder.
    """
    if text not in TEXTS:
        raise InputError(f"--text {text!r}: expected {' or '.join(TEXTS)}")
    if path.suffix.lower() not in FORMATS:
        endings = " or ".join(FORMATS)
        raise InputError(f"--out {path}: unknown file format; expected a name that ends in {endings}")
    if path.exists():
        raise InputError(f"--out {path}: the file already exists; expected the name of a new file")
    if not path.resolve().parent.is_dir():
        raise InputError(f"--out {path}: the folder does not exist; expected an existing folder")


def _hash_rank(seed: int, pair: Candidate) -> tuple[str, str, str]:
    query_hash = digest("pairs", seed, pair.query_id)
    return query_hash, pair.query_id, digest("pairs", seed, pair.query_id, pair.document_id)


def _build_rows(
    pairs: Sequence[Candidate], queries: Mapping[str, Query], documents: Mapping[str, Document], excerpt: bool
) -> Iterator[tuple[str, ...]]:
    for pair in pairs:
        query, document = queries[pair.query_id], documents[pair.content_hash]
        body = document.body
        if excerpt and len(body) > MAX_PASSAGE_LENGTH:
            body = "".join(segment.text for segment in find_best_passage(body, query.text)[1])
        query_columns = (query.query_id, query.text, query.information_need or "")
        yield (*query_columns, pair.document_id, document.title, body, "", "")


def _write_file(path: Path, rows: Iterator[tuple[str, ...]]) -> None:
    try:
        with staging_folder(path) as folder:
            new_path = folder / path.name
            with new_path.open("w", encoding="utf-8", newline="") as file:
                if path.suffix.lower() == ".csv":
                    table = csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_ALL)
                    table.writerows(map(quote_formula, row) for row in [COLUMNS, *rows])
                else:
                    records = (dict(zip(COLUMNS, row, strict=True)) | {"grade": None} for row in rows)
                    file.writelines(f"{json.dumps(record, ensure_ascii=False)}\n" for record in records)
            flush(new_path)
            new_path.rename(path)
    except OSError as error:
        raise InputError(
            f"--out {path}: the pairs could not be written ({error.strerror}); expected a writable "
            "folder with free space"
        ) from error
