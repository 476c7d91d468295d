"""The certificate of a split: a record of its request, its parts, and the ties found between the parts.

A shared document that ties two queries is relevant to both queries. So where a release seals one of the
queries, people see the tie without its documents. The certificate does not name the closest documents of
different parts if any query is sealed, because the certificate does not store to which queries the documents
are relevant. The number of compared pairs of documents is hidden, too. The number is a product of numbers of
relevant documents, so splits with many seeds would reveal the number of each query.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, TypeVar

from pydantic import TypeAdapter

from curation.core.digests import digest
from curation.core.errors import NotFoundError, RefusedError
from curation.people.seal_access import closed_access
from curation.splits.assignment import Distance, PartShare, distances, shares
from curation.splits.certify import NEAR_DUPLICATE, ClosestPair, Crossing, Findings, TieCheck
from curation.splits.edges import Edge
from curation.splits.inputs import GradedQueries
from curation.store import Cursor, get_setting
from curation.store.release_parts import read_part

Redacted = TypeVar("Redacted")
SEALED_TEXT = "not named, because a release seals which documents are relevant"
FORMAT = 1


@dataclass(frozen=True)
class Certificate:
    """The certificate that describes a split and the check of its parts for leaks.

    Attributes
    ----------
    parameters: the request with its seed and fractions, and how similarity was computed.
    query_hash: hash of the ids and texts of the queries.
    corpus_hash: hash of the corpus (ids and versions).
    groups, largest: number of leakage groups, and queries in the largest.
    shares, distances: sizes of the parts next to their ideals, as a whole and in each dimension.
    checks, leaks, residual: ties across the parts (`certify.Findings`).
    missed: ties that MinHash missed and the exhaustive check found, so that they became ties.
    texts: texts of the queries in leaks, residual and the cuts of the parameters.
    """

    format: int
    split_id: str
    parameters: dict[str, Any]
    query_hash: str
    corpus_hash: str
    queries: int
    groups: int
    largest: int
    shares: tuple[PartShare, ...]
    distances: tuple[Distance, ...]
    checks: tuple[TieCheck, ...]
    leaks: tuple[Crossing, ...]
    residual: tuple[Crossing, ...]
    texts: dict[str, str]
    missed: int = 0


def certificate_of(
    graded: GradedQueries,
    split_id: str,
    parameters: Mapping[str, Any],
    groups: Mapping[str, str],
    parts: Mapping[str, str],
    findings: Findings,
    missed: int = 0,
) -> Certificate:
    """Make the certificate of a split.

    Parameters
    ----------
    groups, parts: query id → leakage group, part, for the queries of the split.
    missed: number of ties that only the exhaustive check found.
    """
    inputs = graded.inputs
    fractions = parameters["parts"]
    sizes = Counter(groups[query_id] for query_id in parts)
    named = {name for tie in (*findings.leaks, *findings.residual) for name in (tie.query_a, tie.query_b)}
    named |= {name for pair in parameters.get("cut", ()) for name in pair if name in inputs.queries}
    return Certificate(
        format=FORMAT,
        split_id=split_id,
        parameters=dict(parameters),
        query_hash=digest("queries", sorted((name, inputs.queries[name]) for name in parts)),
        corpus_hash=graded.corpus,
        queries=len(parts),
        groups=len(sizes),
        largest=max(sizes.values(), default=0),
        shares=shares(parts, graded.levels, fractions),
        distances=distances(parts, graded.levels, fractions),
        checks=findings.checks,
        leaks=findings.leaks,
        residual=findings.residual,
        texts={name: inputs.queries[name] for name in sorted(named)},
        missed=missed,
    )


def shown_certificate(cursor: Cursor, release: str | None = None) -> Certificate:
    """Read the certificate of the current split, or of a release, without documents that a release seals.

    Raises
    ------
    NotFoundError, RefusedError: as `read_certificate`.
    """
    return without_sealed(read_certificate(cursor, release), closed_access(cursor).closed)


def read_certificate(cursor: Cursor, release: str | None = None) -> Certificate:
    """Read the certificate of the current split, or of a release.

    Raises
    ------
    NotFoundError: there is no such release.
    RefusedError: there is no split yet, or the certificate of the split was altered.
    """
    if release is not None:
        row = cursor.execute("SELECT release_id FROM releases WHERE name = ?", [release]).fetchone()
        if row is None:
            rows = cursor.execute("SELECT name FROM releases ORDER BY rowid").fetchall()
            names = ", ".join(name for (name,) in rows)
            raise NotFoundError(f"The project has no release {release!r}. It has {names or 'none yet'}.")
        return parsed_certificate(str(read_part(cursor, row[0], "split")), f"The release {release!r}")
    split_id = get_setting(cursor, "split")
    row = cursor.execute("SELECT report FROM splits WHERE split_id = ?", [split_id]).fetchone()
    if row is None:
        raise RefusedError("There is no split yet. Make one first.", command="`goldgrade split` makes one.")
    return parsed_certificate(row[0], "The current split")


def parsed_certificate(stored: str, origin: str) -> Certificate:
    """Parse the certificate in stored JSON; `origin` names the split or release.

    Raises
    ------
    RefusedError: the JSON holds no certificate.
    """
    try:
        return _CERTIFICATE.validate_python(json.loads(stored)["certificate"])
    except (ValueError, KeyError) as error:
        raise RefusedError(f"{origin} holds no certificate: it was altered. Split again.") from error


def without_sealed(record: Redacted, closed: Collection[str]) -> Redacted:
    """Return the record without the documents that tie the sealed queries `closed`, also in nested fields."""
    return _redact(record, closed) if closed else record


def _redact(record: Any, closed: Collection[str]) -> Any:
    if isinstance(record, Edge | Crossing):
        if record.query_a not in closed and record.query_b not in closed:
            return record
        return record._replace(documents=()) if isinstance(record, Edge) else replace(record, documents=())
    if isinstance(record, TieCheck):
        return _redact_check(record)
    if is_dataclass(record) and not isinstance(record, type):
        return replace(
            record, **{field.name: _redact(getattr(record, field.name), closed) for field in fields(record)}
        )
    if isinstance(record, Mapping):
        return {key: _redact(value, closed) for key, value in record.items()}
    if isinstance(record, list | tuple):
        items = [_redact(item, closed) for item in record]
        return type(record)(*items) if hasattr(record, "_fields") else type(record)(items)
    return record


def _redact_check(check: TieCheck) -> TieCheck:
    if check.kind != NEAR_DUPLICATE:
        return check
    highest, told_apart = (
        pair and ClosestPair("–", "–", pair.similarity, SEALED_TEXT, SEALED_TEXT)
        for pair in (check.highest, check.told_apart)
    )
    return replace(check, compared=None, highest=highest, told_apart=told_apart)


_CERTIFICATE = TypeAdapter(Certificate)
