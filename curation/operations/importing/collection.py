"""Importing a test collection: its documents, queries and judgments, by the import of each kind.

All of it is rehearsed on a copy of the project first, for judgments can be checked only where the documents
and queries are. So a collection with something wrong leaves the project as it was. Then the documents of all
files are imported in one transaction, for nobody should see a part of a corpus, and each other file in its
own. The same collection again changes nothing. A zip is unpacked first, and LlamaIndex's pairs for
embeddings, one JSON object, are written as a BEIR folder.

The copy holds all secrets of the project. It is next to it, where it is found if the process is killed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from curation.core.errors import InputError
from curation.core.progress import Progress, silent
from curation.ingest.importers.corpus import CorpusImport, import_corpus_files
from curation.ingest.importers.query_import import QueryImport, import_queries
from curation.ingest.picking.collection_archive import opened_collection
from curation.ingest.picking.collection_files import (
    DOCUMENTS,
    JUDGMENTS,
    QUERIES,
    CollectionFile,
    PassedFile,
    find_collection,
)
from curation.ingest.readers.fields import JudgmentFields
from curation.labeling.judgments.imported import JudgmentImport, import_judgments
from curation.labeling.transfers.outside import withdraw_outside
from curation.people.annotators import require_author
from curation.store import COMMAND_LINE, Store
from curation.store.staging import beside_or_temporary


class CollectionOptions(NamedTuple):
    """The options of an import of a collection; see the imports of each kind.

    Attributes
    ----------
    style: the form of the collection, out of `collection_files.STYLES`; None finds it.
    annotator: who gave the grades, for such collections do not say.
    add: extend the corpus in force; else the collection's documents are the whole new corpus.
    """

    style: str | None = None
    annotator: str | None = None
    grade_map: Mapping[str, int | None] | None = None
    skip_unknown: bool = False
    add: bool = False
    encoding: str = "utf-8"


@dataclass
class CollectionImport:
    """What an import of a collection did, or would do: what each file was taken for, and what came of it.

    Attributes
    ----------
    corpus: what came of all files of documents together; None where there are none.
    queries, judgments: what came of each file.
    """

    style: str
    files: list[CollectionFile]
    passed: list[PassedFile]
    corpus: CorpusImport | None = None
    queries: list[QueryImport] = field(default_factory=list)
    judgments: list[JudgmentImport] = field(default_factory=list)


def import_collection(
    store: Store,
    path: Path,
    options: CollectionOptions = CollectionOptions(),
    *,
    dry_run: bool = False,
    progress: Progress = silent,
    author: str = COMMAND_LINE,
) -> CollectionImport:
    """Import the collection of a folder or file; with `dry_run` only say what that would do.

    Raises
    ------
    InputError: the files are not understood, nobody is named for judgments, or the import of a file refuses
        it; nothing is written then.
    NotFoundError, RefusedError: the author is no lead, or there is no corpus for the judgments.
    """
    with store.reading() as cursor:
        require_author(cursor, author, "lead")
    with opened_collection(path) as root:
        found = CollectionImport(*find_collection(root, options.style, options.encoding))
        judgments = [file for file in found.files if file.kind == JUDGMENTS]
        if judgments and not options.annotator:
            raise InputError(
                f"{judgments[0].path.name} holds judgments, and does not say who gave them",
                path=path,
                way_out="Name who did.",
                command="--annotator does, such as --annotator nist.",
            )
        rehearsed = _rehearse(store, found, options, progress, author)
        found = rehearsed if dry_run else _take(store, found, options, progress, author)
    found.files = [file._replace(path=path / file.path.relative_to(root)) for file in found.files]
    found.passed = [file._replace(path=path / file.path.relative_to(root)) for file in found.passed]
    return found


def _rehearse(
    store: Store, collection: CollectionImport, options: CollectionOptions, progress: Progress, author: str
) -> CollectionImport:
    """Import into a copy of the project that only its owner can read, and that is removed again."""
    with beside_or_temporary(store.path) as folder:
        copy = folder / store.path.name
        store.copy_to(copy)
        rehearsal = Store(copy)
        try:
            return _take(rehearsal, collection, options, progress, author)
        finally:
            rehearsal.close()


def _take(
    store: Store, collection: CollectionImport, options: CollectionOptions, progress: Progress, author: str
) -> CollectionImport:
    collection_import = CollectionImport(collection.style, collection.files, collection.passed)
    documents = [(file.path, file.layout) for file in collection_import.files if file.kind == DOCUMENTS]
    if documents:
        collection_import.corpus = import_corpus_files(
            store, documents, add=options.add, progress=progress, author=author, withdraw=withdraw_outside
        )
    for file in collection_import.files:
        if file.kind != QUERIES:
            continue
        collection_import.queries.append(
            import_queries(store, file.path, None, file.layout, progress, author, withdraw_outside)
        )
    for file in collection_import.files:
        if file.kind != JUDGMENTS:
            continue
        fields = JudgmentFields(annotator_name=options.annotator)
        collection_import.judgments.append(
            import_judgments(
                *(store, file.path, fields, file.layout),
                grade_map=options.grade_map,
                skip_unknown=options.skip_unknown,
                progress=progress,
                author=author,
            )
        )
    return collection_import
