"""Documents made from a file's records, and the content hash of each document version.

A document has the values of its fields. The group and all columns without a field become metadata.
"""

from __future__ import annotations

import json
from collections.abc import Container, Mapping, Sequence
from typing import Any

import pyarrow as pa

from curation.core.digests import digest
from curation.ingest.filters import VALID
from curation.ingest.readers.fields import CorpusFields
from curation.ingest.readers.json_paths import select_unused
from curation.ingest.readers.values import field_to_text, to_metadata_json
from curation.store import Document

_TYPES = pa.schema({name: pa.string() for name in Document._fields})


def compute_content_hash(document: Document) -> str:
    """Return the hash of a document's id and fields, except the field `content_hash`."""
    return digest(*document._replace(content_hash=""))


def build_known_document(values: Mapping[str, Any], fields: CorpusFields, known: Container[str]) -> Document:
    """Make the document for a record, or return the version that the project has if the record only lacks
    that version's group.

    A new version would set aside all grades of the document.
    """
    document = build_document(values, fields)
    if document.content_hash in known:
        return document
    older = drop_group(document, fields.group)
    return older if older.content_hash in known else document


def drop_group(document: Document, group: str | None) -> Document:
    """Return the document without the group column in its metadata."""
    if group is None:
        return document
    metadata = {name: value for name, value in json.loads(document.metadata).items() if name != group}
    older = document._replace(metadata=to_metadata_json(metadata))
    return older._replace(content_hash=compute_content_hash(older))


def build_document(values: Mapping[str, Any], fields: CorpusFields) -> Document:
    """Make a document from a record's values; columns that match no field become metadata."""
    used = {fields.id, fields.title, *fields.body, fields.url, fields.date}
    valid = {name: column for name in VALID if (column := getattr(fields, name)) in values}
    other_values = select_unused(values, used | {*valid.values()}, fields.inside)
    document = Document(
        document_id=field_to_text(values, fields.id).strip(),
        content_hash="",
        title=field_to_text(values, fields.title),
        body="\n".join(filter(None, (field_to_text(values, name) for name in fields.body))),
        url=field_to_text(values, fields.url) or None,
        published=field_to_text(values, fields.date) or None,
        group_key=field_to_text(values, fields.group) or None,
        metadata=to_metadata_json(other_values | {name: values[column] for name, column in valid.items()}),
    )
    return document._replace(content_hash=compute_content_hash(document))


def build_document_table(documents: Sequence[Document]) -> pa.Table:
    """Return documents as Arrow rows."""
    columns = map(list, zip(*documents, strict=True))
    return pa.table(dict(zip(Document._fields, columns, strict=True)), schema=_TYPES)
