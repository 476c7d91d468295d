"""A frozen release, whose content all code reads with `load_release`.

`load_release` refuses an altered release, and a release of a newer goldgrade. Its argument is the name of a
release, its id, the beginning of its id, or its file.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from curation.core.errors import InputError, RefusedError
from curation.releases.checksums import find_altered_parts
from curation.releases.gate_override import describe_override
from curation.releases.packed import PackedRelease, is_file
from curation.releases.part_rows import FORMAT, Rows
from curation.releases.release_rows import ReleaseRow, find_release
from curation.store import Document, Store
from curation.store.documents import StoredDocuments
from curation.store.release_parts import PartText, batched, read_parts


@dataclass(frozen=True)
class FrozenRelease:
    """The content of a release that nobody has altered since it was frozen.

    Attributes
    ----------
    texts: part of the release → its text.
    file: the packed release, which may lack the grades of some parts; None for a release of the project.
    """

    row: ReleaseRow
    texts: Mapping[str, PartText]
    file: PackedRelease | None = None

    @property
    def has_documents(self) -> bool:
        """Return whether the release has a corpus; qrels without a project have none."""
        return "documents" in self.texts

    @property
    def closed_queries(self) -> set[str]:
        """Return the queries in parts of the split whose grades the packed file does not contain."""
        if self.file is None:
            return set()
        return {row["query_id"] for row in self.walk("queries") if row["part"] not in self.file.with_grades}

    @cached_property
    def versions(self) -> dict[str, str]:
        """Return the content hash of each document's pinned version, by document id."""
        return {row["document_id"]: row["content_hash"] for row in self.walk("documents")}

    def documents(
        self, store: Store, ids: Collection[str] | None = None
    ) -> Iterator[tuple[str, Document | None]]:
        """Yield the documents of the release, all or some by id; None for a document that no longer
        exists."""
        versions = self.versions
        if ids is not None:
            versions = {name: versions[name] for name in sorted(ids) if name in versions}
        return read_pinned(store, versions) if self.file is None else self.file.documents(versions)

    def rows(self, part: str) -> Rows:
        """Read the rows of a part of the release; empty if the release has no such part.

        Raises
        ------
        RefusedError: the part is not JSON, though it agrees with its sum.
        """
        return list(self.walk(part))

    def walk(self, part: str) -> Iterator[dict[str, Any]]:
        """Yield the rows of a part one by one, for parts with one row per judgment, grade or candidate.

        Raises
        ------
        RefusedError: as for `rows`, but only when the invalid row is reached.
        """
        try:
            yield from self.texts.get(part, PartText())
        except ValueError:
            raise RefusedError(
                f"The part {part!r} of the release {self.row.name!r} agrees with its checksum, but is not "
                "JSON: goldgrade did not write it. Freeze the labels again under another name."
            ) from None

    @cached_property
    def header(self) -> dict[str, Any]:
        """Return the header of the release: the row that describes its content."""
        return self.rows("release")[0]

    @property
    def mark(self) -> str | None:
        """Return the warning mark of a release that was frozen despite the gate; None for other releases."""
        return describe_override(self.header)


def load_release(store: Store, name: str | FrozenRelease) -> FrozenRelease:
    """Read a release to use its content, without a check of its documents.

    Parameters
    ----------
    name: the name of the release, its id, the beginning of its id, its file, or a release that was read
        before. For a file, no project is needed or opened.

    Raises
    ------
    InputError: the file cannot be read, or the name is an address.
    NotFoundError: there is no such release.
    RefusedError: the release was altered, or a newer goldgrade froze it.
    """
    if isinstance(name, FrozenRelease):
        return name
    release = read_unchecked(store, name)
    if release.file is None and (problems := find_altered_parts(release.row, release.texts)):
        raise RefusedError(
            f"The release {name!r} has changed since it was frozen: {problems[0]}.",
            command=f"`goldgrade verify {name}` lists all problems.",
        )
    refuse_other_format(release)
    return release


def read_unchecked(store: Store, reference: str) -> FrozenRelease:
    """Read a release from a file or from the project, without a check of its checksums."""
    if "://" in reference:
        raise InputError(
            f"{reference.partition('?')[0]} is an address, and goldgrade does not download releases. "
            "Download the file, compare its SHA-256 with the one that the pack command printed, and give "
            "the path of the file."
        )
    if is_file(reference):
        file = PackedRelease(Path(reference))
        return FrozenRelease(file.row, file.texts, file)
    with store.reading() as cursor:
        row = find_release(cursor, reference)
        return FrozenRelease(row, read_parts(cursor, row.release_id))


def refuse_other_format(release: FrozenRelease) -> None:
    """Reject a release from a different version of goldgrade, whose format this version does not know.

    Raises
    ------
    RefusedError: a different goldgrade froze the release, or the release does not name its format.
    """
    name = release.row.name
    header = release.rows("release")
    release_format = header[0].get("format") if header and isinstance(header[0], dict) else None
    if not isinstance(release_format, int):
        raise RefusedError(f"The release {name!r} does not name the version of its format; nothing was done.")
    if release_format != FORMAT:
        version = "a newer" if release_format > FORMAT else "an older"
        raise RefusedError(
            f"The release {name!r} was frozen by {version} goldgrade (format {release_format} of the "
            f"content; this goldgrade reads format {FORMAT}). Use {version} goldgrade."
        )


def read_pinned(store: Store, versions: Mapping[str, str]) -> Iterator[tuple[str, Document | None]]:
    """Yield the documents with these ids and content hashes, or None if the project no longer has the
    text."""
    import pyarrow as pa

    for batch in batched(versions.items()):
        hashes = pa.array([content_hash for _, content_hash in batch], pa.string())
        documents = {document.content_hash: document for document in StoredDocuments(store, hashes)}
        yield from ((document_id, documents.get(content_hash)) for document_id, content_hash in batch)
