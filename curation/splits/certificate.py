"""The certificate of a split, which records the request, the parts and the ties found between them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter

from curation.core.digests import digest
from curation.core.errors import NotFoundError, RefusedError
from curation.people.seal_access import read_closed_access
from curation.splits.assignment import Distance, Groups, Parts, PartShare, compute_distances, count_shares
from curation.splits.findings import Crossing, Findings, TieCheck
from curation.splits.graded_queries import GradedQueries
from curation.splits.sealed_ties import hide_sealed_documents
from curation.store import Cursor, get_setting
from curation.store.release_parts import read_part

FORMAT = 1


@dataclass(frozen=True)
class Certificate:
    """A certificate that describes a split, and the check for leaks between its parts.

    Attributes
    ----------
    parameters: the request with its seed and fractions, and how similarity was computed.
    query_hash: hash of the ids and texts of the queries.
    corpus_hash: hash of the corpus (ids and versions).
    groups, largest: number of leakage groups, and queries in the largest.
    shares, distances: sizes of the parts next to their ideals, as a whole and in each dimension.
    checks, leaks, residual: ties across the parts (`findings.Findings`).
    missed: ties that MinHash missed and the exhaustive check found, so that they became ties.
    texts: texts of the queries in leaks, residual and the cuts of the parameters.
    """

    format: int
    split_id: str
    parameters: dict[str, object]
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


def make_certificate(
    graded: GradedQueries,
    split_id: str,
    parameters: Mapping[str, Any],
    groups: Groups,
    parts: Parts,
    findings: Findings,
    missed: int = 0,
) -> Certificate:
    """Make the certificate of a split.

    Parameters
    ----------
    groups, parts: query id → leakage group, part, for the queries of the split.
    missed: number of ties that only the exhaustive check found.
    """
    queries, fractions = graded.inputs.queries, parameters["parts"]
    group_sizes = Counter(groups[query_id] for query_id in parts)
    crossing_ties = (*findings.leaks, *findings.residual)
    shown_ids = {query_id for tie in crossing_ties for query_id in (tie.query_a, tie.query_b)}
    shown_ids |= {query_id for pair in parameters.get("cut", ()) for query_id in pair if query_id in queries}
    return Certificate(
        format=FORMAT,
        split_id=split_id,
        parameters=dict(parameters),
        query_hash=digest("queries", sorted((query_id, queries[query_id]) for query_id in parts)),
        corpus_hash=graded.corpus,
        queries=len(parts),
        groups=len(group_sizes),
        largest=max(group_sizes.values(), default=0),
        shares=count_shares(parts, graded.levels, fractions),
        distances=compute_distances(parts, graded.levels, fractions),
        checks=findings.checks,
        leaks=findings.leaks,
        residual=findings.residual,
        texts={query_id: queries[query_id] for query_id in sorted(shown_ids)},
        missed=missed,
    )


def read_visible_certificate(cursor: Cursor, release: str | None = None) -> Certificate:
    """Read the certificate of the current split or of a release, leaving out documents that a release seals.

    Raises
    ------
    NotFoundError, RefusedError: as `read_certificate`.
    """
    return hide_sealed_documents(read_certificate(cursor, release), read_closed_access(cursor).closed)


def read_certificate(cursor: Cursor, release: str | None = None) -> Certificate:
    """Read the certificate of the current split or of a release.

    Raises
    ------
    NotFoundError: there is no such release.
    RefusedError: there is no split yet, or the certificate of the split was altered.
    """
    if release is not None:
        return _read_release_certificate(cursor, release)
    split_id = get_setting(cursor, "split")
    row = cursor.execute("SELECT report FROM splits WHERE split_id = ?", [split_id]).fetchone()
    if row is None:
        raise RefusedError(
            "There is no split yet. First make a split.", command="`goldgrade split` makes one."
        )
    return parse_certificate(row[0], "The current split")


def parse_certificate(stored: str, origin: str) -> Certificate:
    """Parse a certificate from stored JSON; `origin` names the split or release.

    Raises
    ------
    RefusedError: the JSON holds no certificate.
    """
    try:
        return _CERTIFICATE.validate_python(json.loads(stored)["certificate"])
    except (ValueError, KeyError) as error:
        raise RefusedError(f"{origin} has no certificate, so it was altered. Split again.") from error


def _read_release_certificate(cursor: Cursor, release: str) -> Certificate:
    row = cursor.execute("SELECT release_id FROM releases WHERE name = ?", [release]).fetchone()
    if row is None:
        rows = cursor.execute("SELECT name FROM releases ORDER BY rowid").fetchall()
        names = ", ".join(name for (name,) in rows)
        raise NotFoundError(
            f"The project has no release {release!r}. Releases of the project: {names or 'none yet'}."
        )
    return parse_certificate(str(read_part(cursor, row[0], "split")), f"The release {release!r}")


_CERTIFICATE = TypeAdapter(Certificate)
