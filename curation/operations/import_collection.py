"""The import of a test collection: documents, queries and judgments that belong together.

The collection is first imported into a copy of the project, because judgments can be checked only after the
import of documents and queries. A faulty collection therefore leaves the project unchanged. After this check,
the documents of all files are imported in one transaction, so that a part of a corpus is never visible. Each
file of queries or judgments is imported in a separate transaction. Importing the same collection again
changes nothing. A zip is unpacked first. The copy contains all secrets of the project. The copy lies next to
the project, where the doctor finds the copy if the process is killed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from curation.core.errors import InputError
from curation.core.progress import Progress, silent
from curation.ingest import collection_files as files
from curation.ingest.collection_files import DOCUMENTS, JUDGMENTS, QUERIES, CollectionFile
from curation.ingest.importers.corpus import CorpusImport, import_corpus_files
from curation.ingest.importers.query_import import QueryImport, import_queries
from curation.ingest.option_maps import parse_grade_map
from curation.ingest.readers.fields import JudgmentFields
from curation.ingest.requests import CollectionRequest
from curation.labeling.imported import JudgmentImport, import_judgments
from curation.labeling.rounds.items import withdraw_outside
from curation.people.annotators import require_author
from curation.store import COMMAND_LINE, Store
from curation.store.staging import rehearsal_folder


@dataclass
class CollectionImport:
    """The import of a collection, or its dry run: the files with their recognized kinds, and the imports.

    Attributes
    ----------
    files, passed: the files that are imported, and the files that are passed over.
    corpus: the import of all files of documents together; None without documents.
    queries, judgments: the imports of the files of queries and of judgments.
    """

    style: str
    files: list[CollectionFile]
    passed: list[CollectionFile]
    corpus: CorpusImport | None = None
    queries: list[QueryImport] = field(default_factory=list)
    judgments: list[JudgmentImport] = field(default_factory=list)

    @property
    def sentences(self) -> list[str]:
        """Return sentences about the import of all documents and of each other file."""
        documents = [file.path.name for file in self.files if file.kind == DOCUMENTS]
        names = [f"{len(documents):,} files of documents" if len(documents) > 1 else "".join(documents)]
        names += [file.path.name for file in self.files if file.kind != DOCUMENTS]
        imports = [self.corpus, *self.queries, *self.judgments]
        sentences = []
        for name, imported in zip(names, imports, strict=True):
            if imported is not None:
                first, *remaining = imported.outcome.sentences
                sentences += [f"{name}: {first}", *remaining]
        return sentences


def import_collection(
    store: Store,
    path: Path,
    options: CollectionRequest = CollectionRequest(),
    *,
    dry_run: bool = False,
    progress: Progress = silent,
    author: str = COMMAND_LINE,
) -> CollectionImport:
    """Import the collection in a folder or file; a dry run keeps nothing.

    Raises
    ------
    InputError: the files are not understood, no annotator is named for judgments, or the import of a file is
        refused; nothing is written then.
    NotFoundError, RefusedError: the author is not a lead, or the judgments have no corpus.
    """
    store.read(require_author, author, "lead")
    with files.open_collection(path) as root:
        collection = CollectionImport(*files.find_collection(root, options.format, options.encoding))
        judgments = [file for file in collection.files if file.kind == JUDGMENTS]
        if judgments and not options.annotator:
            problem = f"{judgments[0].path.name} contains judgments, but does not name their annotators"
            command = "`--annotator nist` names the annotator nist."
            raise InputError(problem, path=path, way_out="Name the annotator.", command=command)
        rehearsal = _import_into_copy(store, collection, options, progress, author)
        collection = rehearsal if dry_run else _import_files(store, collection, options, progress, author)
    collection.files = [file._replace(path=path / file.path.relative_to(root)) for file in collection.files]
    collection.passed = [file._replace(path=path / file.path.relative_to(root)) for file in collection.passed]
    return collection


def _import_into_copy(
    store: Store, collection: CollectionImport, options: CollectionRequest, progress: Progress, author: str
) -> CollectionImport:
    """Import into a copy of the project that only its owner can read, and remove the copy."""
    with rehearsal_folder(store.path) as folder:
        copy = folder / store.path.name
        store.copy_to(copy)
        rehearsal = Store(copy)
        try:
            return _import_files(rehearsal, collection, options, progress, author)
        finally:
            rehearsal.close()


def _import_files(
    store: Store, collection: CollectionImport, options: CollectionRequest, progress: Progress, author: str
) -> CollectionImport:
    """Import the documents of all files together, then each file of queries, then each file of judgments."""
    files = collection.files
    imported = CollectionImport(collection.style, files, collection.passed)
    documents = [(file.path, file.layout) for file in files if file.kind == DOCUMENTS]
    if documents:
        imported.corpus = import_corpus_files(
            store, documents, add=options.add, progress=progress, author=author, withdraw=withdraw_outside
        )
    imported.queries = [
        import_queries(store, file.path, None, file.layout, progress, author, withdraw_outside)
        for file in files
        if file.kind == QUERIES
    ]
    imported.judgments = [
        import_judgments(
            *(store, file.path, JudgmentFields(annotator_name=options.annotator), file.layout),
            grade_map=parse_grade_map(options.grade_map) if options.grade_map else None,
            skip_unknown=options.skip_unknown,
            progress=progress,
            author=author,
        )
        for file in files
        if file.kind == JUDGMENTS
    ]
    return imported
