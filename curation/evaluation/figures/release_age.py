"""The age of a release: when it was frozen, and what a later release of the project says otherwise."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from curation.core.text import amount
from curation.evaluation.scoring.inputs.release import EvaluatedRelease
from curation.people.seal_access import sealed_parts
from curation.releases.release_rows import list_releases
from curation.store import Store
from curation.store.release_parts import read_part
from curation.store.table_rows import utc_now

OLD_DAYS = 365
"""A release that is older is said to be old."""


class ReleaseAge(NamedTuple):
    """How old a release is.

    Attributes
    ----------
    days: since it was frozen.
    successor: the newest release that was frozen after it; None where there is none, or that is the same.
    changed: its grades, of queries that are sealed in neither release, that the successor has otherwise.
    grades: those that both releases have.
    """

    days: int
    successor: str | None
    changed: int
    grades: int

    def sentences(self, name: str) -> list[str]:
        """What has to be known; nothing of a young release without a successor."""
        said = []
        if self.days > OLD_DAYS:
            said.append(
                f"The release {name} is {self.days:,} days old. Its documents and searches may have changed."
            )
        if self.successor is not None:
            said.append(
                f"The release {self.successor} is newer. It has another grade for {self.changed:,} of "
                f"{amount(self.grades, 'pair')} that both releases have."
            )
        return said


def release_age(store: Store, release: EvaluatedRelease) -> ReleaseAge | None:
    """The age; None of a young release without a successor, and of a file, which does not say when it was
    frozen."""
    frozen = release.frozen
    if frozen is None or frozen.file is not None:
        return None
    days = (utc_now() - frozen.row.frozen_at).days
    with store.reading() as cursor:
        rows = list_releases(cursor)
        ids = [row.release_id for row in rows]
        later = rows[ids.index(frozen.row.release_id) + 1 :] if frozen.row.release_id in ids else []
        if not later or later[-1].release_id == frozen.row.release_id:
            return ReleaseAge(days, None, 0, 0) if days > OLD_DAYS else None
        newest = later[-1]
        tables = {
            name: read_part(cursor, newest.release_id, name) for name in ("release", "queries", "qrels")
        }
    [header] = list(tables["release"])
    hidden = sealed_parts(header)
    shown = {row["query_id"] for row in tables["queries"] if row["part"] not in hidden}
    old = _grades(release, shown)
    new = {
        (row["query_id"], row["document_id"]): row["grade"]
        for row in tables["qrels"]
        if (row["query_id"], row["document_id"]) in old
    }
    changed = sum(grade != old[pair] for pair, grade in new.items())
    return ReleaseAge(days, newest.name, changed, len(new))


def _grades(release: EvaluatedRelease, shown: Collection[str]) -> dict[tuple[str, str], int]:
    """The grades of queries that are sealed in neither release."""
    qrels = release.qrels
    documents, sealed = qrels.documents.to_pylist(), release.sealed_queries.tolist()
    rows = zip(qrels.query.tolist(), qrels.document.tolist(), qrels.grade.tolist(), strict=True)
    return {
        (qrels.query_ids[query], documents[document]): grade
        for query, document, grade in rows
        if not sealed[query] and qrels.query_ids[query] in shown
    }
