"""Documents of an engine, fetched by id into the corpus.

The template names the fields of title and text. Without names in the template, title and text are found by
their usual names. Each document is read by itself, so its version does not depend on the other fetched
documents. A corpus is *held* if it has only documents that engines ranked. Steps that need the whole corpus
refuse a held corpus.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from curation.core.errors import CurationError, InputError, RefusedError
from curation.core.progress import Progress, silent
from curation.core.text import join_names, pluralize
from curation.ingest.importers import corpus
from curation.ingest.importers.corpus import KnownVersions, read_known_versions
from curation.ingest.readers.fields import CorpusFields, file_fields, find_column
from curation.ingest.readers.values import to_text
from curation.people.annotators import require_author
from curation.retrieval.engines import RATE
from curation.retrieval.engines.client import EngineClient
from curation.retrieval.engines.template import MISSING, find_engine, value_at
from curation.store import COMMAND_LINE, Cursor, Document, Store, append, record_event
from curation.store.release_parts import batched

_ID = "_id"
GONE = "documents that the engine no longer has"
NO_TEXT = "documents without title and text"


SLICE = 20_000  # number of documents that are fetched and stored at once
_BROUGHT = "SELECT document_id FROM engine_documents WHERE engine = ? ORDER BY document_id"


@dataclass(frozen=True)
class CorpusRefreshed:
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
        """Sentences about the result."""
        return [
            f"{pluralize(self.changed + self.gone + self.unchanged, 'document')} of the engine "
            f"{self.engine!r} "
            f"fetched again: {self.changed:,} changed, {self.gone:,} gone, {self.unchanged:,} unchanged.",
            f"The corpus has {pluralize(self.documents, 'document')}; its stored version is {self.snapshot}.",
        ]


def bring(
    client: EngineClient, ids: Sequence[str], progress: Progress = silent, others: bool = False
) -> tuple[dict[str, Document], dict[str, int]]:
    """Fetch the documents with these ids, and count the left-out documents by reason. With `others`,
    documents without text cause no error, because other documents of the engine have a text.

    Raises
    ------
    RefusedError: the engine does not answer.
    InputError: the answers lack a value that the template names, or no document has a title or a text.
    """
    fields, documents, bare = client.engine.template.fields, dict[str, Document](), list[Mapping[str, Any]]()
    for number, (document_id, source) in enumerate(client.documents(ids), 1):
        document = _document(document_id, source, fields)
        if document.text:
            documents[document_id] = document
        else:
            bare.append(source)
        progress("documents", number, len(ids))
    if bare and not documents and not others:
        raise InputError(
            f"No document of the engine {client.engine.name!r} has a title or a text. Found the fields "
            f"{join_names(sorted(bare[0]), 20) or 'none'}: name title and text under “fields”."
        )
    left_out = {GONE: len(set(ids)) - len(documents) - len(bare), NO_TEXT: len(bare)}
    return documents, {reason: count for reason, count in left_out.items() if count}


def bring_missing(
    store: Store, client: EngineClient, ids: Collection[str], progress: Progress = silent
) -> tuple[int, Collection[str], Counter[str]]:
    """Fetch the documents that the current corpus lacks, `SLICE` documents at a time, and add them to the
    corpus.

    Return the number of fetched documents, the ids of the corpus, and reason → number of documents left out.

    A corpus with only fetched documents is held. Documents that were fetched before a fault stay in the
    corpus.
    """
    with store.reading() as cursor:
        before = read_known_versions(cursor)
    number, left_out = 0, Counter[str]()
    for some in batched(sorted(set(ids) - before.versions.keys()), SLICE):
        try:
            documents, missed = bring(client, some, progress, number > 0)
        except CurationError as error:
            raise RefusedError(
                f"{error.found} Earlier documents are kept, and the same call asks for the rest."
            ) from error
        left_out.update(missed)
        number += len(documents)
        if documents:
            with store.transaction(appends=True) as cursor:
                _add(cursor, client.engine.name, before, documents)
                before = read_known_versions(cursor)
    return number, before.versions.keys(), left_out


def refresh(
    store: Store,
    name: str,
    rate: float = RATE,
    progress: Progress = silent,
    author: str = COMMAND_LINE,
    say: Callable[[str], object] = lambda _: None,
) -> CorpusRefreshed:
    """Fetch an engine's documents again, store changed documents as new versions, and remove missing
    documents.

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
        engine, before = find_engine(cursor, name), read_known_versions(cursor)
        ids = dict.fromkeys(
            document_id
            for (document_id,) in cursor.execute(_BROUGHT, [name]).fetchall()
            if document_id in before.versions
        )
    if not ids:
        raise RefusedError(f"The engine {name!r} gave no document of the corpus; nothing was fetched.")
    client = EngineClient(engine, rate)
    say(client.notice(f"{pluralize(len(ids), 'document')} by id"))
    brought, _ = bring(client, list(ids), progress)
    if not brought:
        raise RefusedError(
            f"The engine {name!r} has none of its {pluralize(len(ids), 'document')} any more, and nothing "
            "was changed. Check the address and the template of the engine."
        )
    versions = {key: value for key, value in before.versions.items() if key not in ids or key in brought}
    versions |= {document.document_id: document.content_hash for document in brought.values()}
    old = before.versions
    changed = [version for version in brought.values() if old[version.document_id] != version.content_hash]
    gone, snapshot = len(ids) - len(brought), before.snapshot or ""
    if gone or changed:
        with store.transaction(appends=True) as cursor:
            snapshot = _write(cursor, name, before, versions, changed, before.held)
            detail = {"engine": name, "snapshot": snapshot, "changed": len(changed), "gone": gone}
            record_event(cursor, "refresh corpus", detail, author)
    return CorpusRefreshed(name, snapshot, len(versions), len(changed), gone, len(ids) - gone - len(changed))


def _add(cursor: Cursor, engine: str, before: KnownVersions, brought: Mapping[str, Document]) -> None:
    versions = before.versions | {version.document_id: version.content_hash for version in brought.values()}
    is_held = before.held or before.snapshot is None
    _write(cursor, engine, before, versions, list(brought.values()), is_held)
    known = {row[0] for row in cursor.execute(_BROUGHT, [engine]).fetchall()}
    ids = [document_id for document_id in brought if document_id not in known]
    append(cursor, "engine_documents", {"engine": [engine] * len(ids), "document_id": ids})


def _write(
    cursor: Cursor,
    engine: str,
    before: KnownVersions,
    versions: dict[str, str],
    brought: Sequence[Document],
    held: bool,
) -> str:
    new = sorted(
        (document for document in brought if document.content_hash not in before.hashes),
        key=lambda document: document[:2],
    )
    return corpus.write_corpus(
        cursor, before, versions, [corpus.build_document_table(new)], f"engine {engine}", held
    )


def _document(document_id: str, source: Mapping[str, Any], chosen: Any) -> Document:
    """Make a document of the project from an engine's document, without repeating the id in the metadata."""
    with_id = {name for name, value in source.items() if to_text(value) == document_id}
    ids = next(field.usual_names for field in file_fields(CorpusFields) if field.name == "id")
    unkept = with_id.intersection(ids) | set(chosen.leave_out)
    values = {name: value for name, value in source.items() if name not in unkept}
    columns: dict[str, Any] = {"id": _ID}
    for field in file_fields(CorpusFields):
        if field.name == "id":
            continue
        given = getattr(chosen, field.name)
        usual = None if given else find_column(field, list(values))
        names = ((usual,) if usual else ()) if not given else given if field.several else (given,)
        columns[field.name] = names if field.several else next(iter(names), None)
        values |= {name: at for name in names if (at := value_at(source, name)) is not MISSING}
    document = corpus.build_document({**values, _ID: document_id}, CorpusFields(**columns))
    return corpus.drop_group(document, columns["group"])  # else every document fetched again would be another
