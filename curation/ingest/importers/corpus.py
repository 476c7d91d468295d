"""Import of documents as a new snapshot of the corpus.

An import reads the documents of its files, compares their versions with the current snapshot, and stores the
new versions and the new snapshot in one transaction.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from curation.core.progress import Progress, silent
from curation.core.text import pluralize
from curation.ingest.filters import Withdraw, keep_items
from curation.ingest.importers.corpus_documents import build_document_table, build_known_document
from curation.ingest.importers.corpus_snapshots import (
    KnownVersions,
    compute_snapshot_id,
    read_known_versions,
    write_corpus,
)
from curation.ingest.importers.corpus_warnings import describe_alike, find_corpus_warnings
from curation.ingest.outcome import ImportOutcome, describe_fields, describe_replaced, describe_withdrawals
from curation.ingest.readers.fields import CorpusFields
from curation.ingest.readers.formats import FileLayout, find_corpus_file
from curation.ingest.readers.problems import Problems
from curation.ingest.readers.record_source import FIRST_RECORDS
from curation.ingest.readers.records import Records
from curation.store import Cursor, Document, Store
from curation.store.audit_trail import COMMAND_LINE, record_event

_BATCH = 5_000
NO_TEXT = "no column contains text, so people would judge documents by the title alone"


@dataclass(frozen=True)
class CorpusImport:
    """The result of importing documents.

    Attributes
    ----------
    snapshot: id of the current corpus after the import.
    documents: number of documents in the corpus.
    is_new: whether the new snapshot of the corpus differs from the previous snapshot.
    added, changed, removed, unchanged: numbers of documents, compared with the previous snapshot of the
    corpus.
    fields: columns of the first file.
    left_out: number of records that were left out for each reason.
    replaced: number of characters that were replaced by U+FFFD, by kind.
    without_text: number of documents that have only a title.
    shown: sentence about a change in how the guide shows documents; '' without a change.
    withdrawn: number of items withdrawn from rounds, because their document is now outside their query's
    filter.
    warnings: sentences about a corpus that is probably not as meant.
    unit: noun for what was left out: 'documents', or 'files' of a folder.
    """

    snapshot: str
    documents: int
    is_new: bool
    added: int
    changed: int
    removed: int
    unchanged: int
    fields: CorpusFields
    left_out: dict[str, int]
    replaced: dict[str, int]
    without_text: int
    shown: str = ""
    withdrawn: int = 0
    warnings: tuple[str, ...] = ()
    unit: str = "documents"

    @property
    def outcome(self) -> ImportOutcome:
        """Return the outcome of the corpus import as counts and sentences."""
        sentence = f"The corpus now has {pluralize(self.documents, 'document')}."
        if not self.is_new:
            sentence = (
                f"Nothing changed: the project already has the same {pluralize(self.documents, 'document')}."
            )
        names = ("documents", "added", "changed", "removed", "unchanged")
        figures = {name: getattr(self, name) for name in names}
        remarks = []
        if self.unit == "documents":  # files of a folder have no columns
            remarks.append(describe_fields(self.fields, "the other columns are kept as metadata"))
        if self.without_text:
            have = pluralize(self.without_text, "document has", "documents have")
            remarks.append(f"{have} no text, so people judge by title alone.")
        remarks += [*filter(None, [self.shown]), *describe_withdrawals(self.withdrawn)]
        remarks += [*describe_replaced(self.replaced), *self.warnings]
        return ImportOutcome(self.is_new, sentence, self.unit, figures, self.left_out, remarks)


@dataclass
class CorpusBuilder:
    """The documents that an import reads from files: each document's version, and rows for new versions.

    versions: version, index of the file, and line of each document id.
    in_files: hashes of all known versions, if texts of some versions stay in files.
    """

    paths: Sequence[Path]
    known: frozenset[str]
    versions: dict[str, tuple[str, int, int]] = field(default_factory=dict)
    new: list[Document] = field(default_factory=list)
    batches: list[pa.Table] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    replaced: Counter[str] = field(default_factory=Counter)
    sources: list[str] = field(default_factory=list)
    problems: list[Problems] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    fields: list[CorpusFields] = field(default_factory=list)
    without_text: int = 0
    in_files: frozenset[str] = frozenset()

    @property
    def source(self) -> str:
        """Return the name of the first file, and how many further files there are."""
        more = len(self.sources) - 1
        return f"{self.sources[0]} and {more:,} more" if more else self.sources[0]

    def add_document(self, document: Document, _: int) -> None:
        """Keep a document, to store it later, if the project lacks this version of the document."""
        if document.content_hash not in self.known:
            self.new.append(document)
        if len(self.new) == _BATCH:
            self.pack_documents()

    def pack_documents(self) -> None:
        """Convert the kept documents to Arrow rows, which need less memory."""
        if self.new:
            self.batches.append(build_document_table(self.new))
            self.new.clear()


def import_corpus(
    store: Store,
    path: Path,
    fields: CorpusFields | None = None,
    layout: FileLayout | None = None,
    *,
    add: bool = False,
    progress: Progress = silent,
    author: str = COMMAND_LINE,
    withdraw: Withdraw = keep_items,
) -> CorpusImport:
    """Import the documents of a file, a BEIR folder, or a folder or archive of documents as the project's
    corpus. See `import_corpus_files` for parameters.
    """
    files = [find_corpus_file(path, layout or FileLayout())]
    return import_corpus_files(
        store, files, fields, add=add, progress=progress, author=author, withdraw=withdraw
    )


def import_corpus_files(
    store: Store,
    files: Sequence[tuple[Path, FileLayout | None]],
    fields: CorpusFields | None = None,
    *,
    add: bool = False,
    progress: Progress = silent,
    author: str = COMMAND_LINE,
    withdraw: Withdraw = keep_items,
) -> CorpusImport:
    """Import the documents of several files as the project's corpus, in one transaction.

    Parameters
    ----------
    add: whether to add the documents to the current corpus; otherwise the documents replace the corpus.

    Raises
    ------
    InputError: a file cannot be read, a field is missing, or an id has two different texts.
    RefusedError: another process changed the corpus during the import.
    """
    with store.reading() as cursor:
        before = read_known_versions(cursor)
    builder = CorpusBuilder([path for path, _ in files], before.hashes)
    for path, layout in files:
        read_documents(Records(path, layout, progress), fields or CorpusFields(), builder)
    builder.pack_documents()
    versions = dict(before.versions) if add else {}
    versions.update({document_id: version for document_id, (version, *_) in builder.versions.items()})
    result = compare_versions(before, versions, builder)
    is_held = add and before.held
    if result.is_new or before.held != is_held or builder.batches:  # texts were external
        with store.transaction(appends=True) as cursor:
            write_corpus(cursor, before, versions, builder.batches, builder.source, is_held)
            record_import(cursor, {"source": builder.source}, result, author)
            result = replace(result, withdrawn=withdraw(cursor, author))
    return result


def record_import(cursor: Cursor, detail: dict[str, Any], result: CorpusImport, author: str) -> None:
    """Record an import of documents, with its counts, in the audit trail."""
    counts = {name: getattr(result, name) for name in ("snapshot", "added", "changed", "removed", "left_out")}
    record_event(cursor, "import corpus", detail | counts, author)


def _choose_columns(records: Records, requested: CorpusFields) -> CorpusFields:
    used = records.resolve(requested)
    if used.title is None and not used.body:
        problem = "no column was recognized as text: name it with --map title=COLUMN or --map body=COLUMN"
        records.refuse_columns(problem)
    elif not used.body and not requested.titles_only:
        longest_column = records.find_longest_text(set(used.used.values()))
        hint = f" ({longest_column} has the longest values)" if longest_column else ""
        records.refuse_columns(f"{NO_TEXT}. Name the text with --map body=COLUMN{hint}, or use --titles-only")
    return used


def read_documents(records: Records, requested: CorpusFields, builder: CorpusBuilder) -> None:
    """Read the documents of the next file, and add them to the builder."""
    fields = _choose_columns(records, requested)
    earlier_left_out, documents = Counter(builder.left_out), 0
    first_documents: list[Document] = []
    builder.sources.append(records.source)
    builder.problems.append(records.problems)
    for number, record in enumerate(records):
        document = build_known_document(record.fields, fields, builder.in_files or builder.known)
        if not document.document_id:
            builder.left_out["no id"] += 1
        elif not document.text:
            builder.left_out["neither title nor body"] += 1
        else:
            documents += 1
            if documents <= FIRST_RECORDS:
                first_documents.append(document)
            if _add_version(document, record.line, builder, records):
                builder.without_text += not document.body.strip()
                builder.add_document(document, number)
    if not documents:
        records.refuse_empty("document", builder.left_out - earlier_left_out)
    builder.left_out += records.folder.left_out
    builder.replaced += Counter(records.replaced)
    builder.warnings += describe_alike(records.folder)
    builder.warnings += find_corpus_warnings(first_documents, fields, records)
    builder.fields.append(fields)


def _add_version(document: Document, line: int, builder: CorpusBuilder, records: Records) -> bool:
    """Return whether the document's id is new; record a problem if the same id has different content."""
    entry = (document.content_hash, len(builder.problems) - 1, line)
    first = builder.versions.setdefault(document.document_id, entry)
    version, file_index, first_line = first
    if first is entry:  # a file can hold several documents on one line
        return True
    if version == document.content_hash:
        builder.left_out["repeated document"] += 1
    else:
        where = builder.problems[file_index].place(first_line)
        where += f" of {builder.paths[file_index]}" if file_index != entry[1] else ""
        records.problems.add(
            line,
            f"document {document.document_id!r} has a different text on {where}",
            "A document id can have only one text: remove one of the two documents, or change its id.",
        )
    return False


def compare_versions(
    before: KnownVersions, versions: Mapping[str, str], builder: CorpusBuilder
) -> CorpusImport:
    """Count the new, changed, unchanged and removed documents of a new corpus snapshot, compared with the
    project."""
    stored = before.versions
    added = sum(document_id not in stored for document_id in versions)
    unchanged = sum(stored.get(document_id) == version for document_id, version in versions.items())
    snapshot = compute_snapshot_id(versions)
    return CorpusImport(
        snapshot=snapshot,
        documents=len(versions),
        is_new=snapshot != before.snapshot,
        added=added,
        changed=len(versions) - added - unchanged,
        removed=sum(document_id not in versions for document_id in stored),
        unchanged=unchanged,
        fields=builder.fields[0],
        left_out=dict(builder.left_out),
        replaced=dict(builder.replaced),
        without_text=builder.without_text,
        warnings=tuple(dict.fromkeys(builder.warnings)),
        unit="files" if any(problems.names for problems in builder.problems) else "documents",
    )
