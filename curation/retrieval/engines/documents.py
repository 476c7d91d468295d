"""An engine's documents, fetched by id into the corpus.

The template names the fields of title and text. Without names in the template, title and text are found by
their usual names. Each document is read by itself, so its version does not depend on the other fetched
documents. A corpus is *held* if it has only documents that engines ranked. Steps that need the whole corpus
refuse a held corpus.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from curation.core.errors import CurationError, InputError, RefusedError
from curation.core.progress import Progress, silent
from curation.core.text import join_names, pluralize
from curation.ingest.importers import corpus_documents, corpus_snapshots
from curation.ingest.importers.corpus_snapshots import KnownVersions, read_known_versions
from curation.ingest.readers.column_search import find_column
from curation.ingest.readers.fields import CorpusFields, file_fields
from curation.ingest.readers.values import to_text
from curation.people.annotators import require_author
from curation.retrieval.engines import RATE
from curation.retrieval.engines.client import EngineClient
from curation.retrieval.engines.json_paths import MISSING, get_value
from curation.retrieval.engines.stored_engines import find_engine
from curation.retrieval.engines.template import DocumentFields
from curation.store import COMMAND_LINE, Cursor, Document, Store, append, record_event
from curation.store.release_parts import batched

_ID = "_id"
GONE = "documents that the engine no longer has"
NO_TEXT = "documents without title and text"
MAX_AT_ONCE = 20_000
"""Largest number of documents that are fetched and stored together."""
_FETCHED_IDS = "SELECT document_id FROM engine_documents WHERE engine = ? ORDER BY document_id"


@dataclass(frozen=True)
class CorpusRefresh:
    """The result of fetching an engine's documents again (compare `CorpusImport`).

    Attributes
    ----------
    gone: number of documents that left the corpus, because the engine no longer has them.
    """

    engine: str
    snapshot: str
    documents: int
    changed: int
    gone: int
    unchanged: int

    @property
    def sentences(self) -> list[str]:
        """Return sentences with the number of fetched documents, and the stored version of the corpus."""
        total = self.changed + self.gone + self.unchanged
        return [
            f"{pluralize(total, 'document')} of the engine {self.engine!r} fetched again: {self.changed:,} "
            f"changed, {self.gone:,} gone, {self.unchanged:,} unchanged.",
            f"The corpus has {pluralize(self.documents, 'document')}; its snapshot is {self.snapshot}.",
        ]


class FetchedDocuments(NamedTuple):
    """The result of fetching the documents that the corpus lacked.

    Attributes
    ----------
    documents: number of fetched documents.
    corpus_ids: ids of all documents of the corpus after the fetch.
    left_out: reason → number of documents that could not be fetched.
    """

    documents: int
    corpus_ids: Collection[str]
    left_out: Counter[str]


def fetch_documents(
    client: EngineClient, ids: Sequence[str], progress: Progress = silent, allow_no_text: bool = False
) -> tuple[dict[str, Document], dict[str, int]]:
    """Fetch the documents with these ids, by id, and count the documents left out, by reason.

    Parameters
    ----------
    allow_no_text: accept that no document has a text, because other documents of the engine have a text.

    Raises
    ------
    RefusedError: the engine does not answer.
    InputError: the answers lack a value that the template names, or no document has a title or a text.
    """
    fields = client.engine.template.fields
    documents: dict[str, Document] = {}
    sources_without_text: list[Mapping[str, Any]] = []
    for done, (document_id, source) in enumerate(client.fetch_documents(ids), 1):
        document = _make_document(document_id, source, fields)
        if document.text:
            documents[document_id] = document
        else:
            sources_without_text.append(source)
        progress("documents", done, len(ids))
    if sources_without_text and not documents and not allow_no_text:
        names = join_names(sorted(sources_without_text[0]), 20) or "none"
        raise InputError(
            f"No document of the engine {client.engine.name!r} has a title or a text. The documents have "
            f"the fields {names}: name the title and text fields under “fields”."
        )
    n_without_text = len(sources_without_text)
    left_out = {GONE: len(set(ids)) - len(documents) - n_without_text, NO_TEXT: n_without_text}
    return documents, {reason: count for reason, count in left_out.items() if count}


def fetch_missing_documents(
    store: Store, client: EngineClient, ids: Collection[str], progress: Progress = silent
) -> FetchedDocuments:
    """Fetch the documents that the current corpus lacks, and add them to it.

    A corpus with only fetched documents is held.

    Raises
    ------
    RefusedError: the engine does not answer, or its answers lack a value. Documents that were fetched before
        the error stay in the corpus.
    """
    with store.reading() as cursor:
        before = read_known_versions(cursor)
    n_fetched = 0
    left_out = Counter[str]()
    for batch_ids in batched(sorted(set(ids) - before.versions.keys()), MAX_AT_ONCE):
        try:
            documents, batch_left_out = fetch_documents(client, batch_ids, progress, n_fetched > 0)
        except CurationError as error:
            raise RefusedError(
                f"{error.found} Documents fetched so far are kept. The next attempt fetches the rest."
            ) from error
        left_out.update(batch_left_out)
        n_fetched += len(documents)
        if documents:
            with store.transaction(appends=True) as cursor:
                _add_documents(cursor, client.engine.name, before, documents)
                before = read_known_versions(cursor)
    return FetchedDocuments(n_fetched, before.versions.keys(), left_out)


def refresh_documents(
    store: Store,
    name: str,
    rate: float = RATE,
    progress: Progress = silent,
    author: str = COMMAND_LINE,
    say: Callable[[str], object] = lambda _: None,
) -> CorpusRefresh:
    """Fetch an engine's documents again: store changed documents, and remove missing documents.

    Parameters
    ----------
    say: function that is called before the first request, with the notice of what is sent to which host.

    Raises
    ------
    NotFoundError: the project has no engine of this name.
    RefusedError: no document of the corpus is from the engine, the engine does not answer, or the author is
        no lead.
    """
    with store.reading() as cursor:
        require_author(cursor, author, "lead")
        engine = find_engine(cursor, name)
        before = read_known_versions(cursor)
        ids = [row[0] for row in cursor.execute(_FETCHED_IDS, [name]).fetchall() if row[0] in before.versions]
    if not ids:
        raise RefusedError(
            f"The engine {name!r} has returned no document of the corpus; nothing was fetched."
        )
    client = EngineClient(engine, rate)
    say(client.describe_requests(f"{pluralize(len(ids), 'document')} by id"))
    documents, _ = fetch_documents(client, ids, progress)
    if not documents:
        raise RefusedError(
            f"The engine {name!r} no longer has any of its {pluralize(len(ids), 'document')}, and nothing "
            "was changed. Check the address and the template of the engine."
        )
    gone_ids = set(ids) - documents.keys()
    versions = before.versions | _list_versions(documents)
    for document_id in gone_ids:
        del versions[document_id]
    changed = [version for key, version in documents.items() if before.versions[key] != version.content_hash]
    snapshot = before.snapshot or ""
    if gone_ids or changed:
        with store.transaction(appends=True) as cursor:
            snapshot = _write_corpus(cursor, name, before, versions, changed, before.held)
            detail = {"engine": name, "snapshot": snapshot, "changed": len(changed), "gone": len(gone_ids)}
            record_event(cursor, "refresh corpus", detail, author)
    unchanged = len(documents) - len(changed)
    return CorpusRefresh(name, snapshot, len(versions), len(changed), len(gone_ids), unchanged)


def _add_documents(
    cursor: Cursor, engine: str, before: KnownVersions, documents: Mapping[str, Document]
) -> None:
    """Add fetched documents to the corpus, and record that they come from the engine."""
    versions = before.versions | _list_versions(documents)
    is_held = before.held or before.snapshot is None
    _write_corpus(cursor, engine, before, versions, list(documents.values()), is_held)
    stored_ids = {row[0] for row in cursor.execute(_FETCHED_IDS, [engine]).fetchall()}
    ids = [document_id for document_id in documents if document_id not in stored_ids]
    append(cursor, "engine_documents", {"engine": [engine] * len(ids), "document_id": ids})


def _list_versions(documents: Mapping[str, Document]) -> dict[str, str]:
    return {document_id: document.content_hash for document_id, document in documents.items()}


def _write_corpus(
    cursor: Cursor,
    engine: str,
    before: KnownVersions,
    versions: dict[str, str],
    documents: Sequence[Document],
    is_held: bool,
) -> str:
    """Write a new version of the corpus with the documents that are not stored, and return its snapshot."""
    new = [document for document in documents if document.content_hash not in before.hashes]
    table = corpus_documents.build_document_table(sorted(new, key=lambda document: document[:2]))
    return corpus_snapshots.write_corpus(cursor, before, versions, [table], f"engine {engine}", is_held)


def _make_document(document_id: str, source: Mapping[str, Any], fields: DocumentFields) -> Document:
    """Make a project document from an engine's document, without repeating the id in the metadata."""
    corpus_fields = {field.name: field for field in file_fields(CorpusFields)}
    id_names = corpus_fields.pop("id").usual_names
    repeated_ids = {name for name in id_names if name in source and to_text(source[name]) == document_id}
    left_out = repeated_ids.union(fields.leave_out)
    values = {name: value for name, value in source.items() if name not in left_out}
    columns: dict[str, Any] = {"id": _ID}
    for field in corpus_fields.values():
        paths = getattr(fields, field.name) or find_column(field, list(values)) or ()
        names = (paths,) if isinstance(paths, str) else paths
        columns[field.name] = names if field.several else next(iter(names), None)
        field_values = {name: get_value(source, name) for name in names}
        values |= {name: value for name, value in field_values.items() if value is not MISSING}
    document = corpus_documents.build_document({**values, _ID: document_id}, CorpusFields(**columns))
    # With the group, a document that is fetched again would become a new version.
    return corpus_documents.drop_group(document, columns["group"])
