"""The certificate as a document: what a split is, and what the exhaustive check across it found.

Ties of sealed queries, as they may be shown: without the documents that tie them.

A document that ties two queries is relevant to both. So where a release seals one of them, the tie is named
and its documents are not. Which queries the closest documents across the parts are relevant to is not kept:
where any query is sealed, they have no names. How many pairs were compared is not said, either: it is a
product of numbers of relevant documents, and splits by many seeds would tell that of each query.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, TypeVar

from pydantic import TypeAdapter

from curation.core.errors import NotFoundError, RefusedError
from curation.core.text import digest
from curation.people.seal_access import shut_door
from curation.splits.assignment.assignment import Distance, PartShare, distances, shares
from curation.splits.certificate.documents import NEAR_DUPLICATE
from curation.splits.certificate.findings import ClosestPair, Crossing, Findings, TieCheck
from curation.splits.inputs import GradedQueries
from curation.splits.ties.edges import Edge
from curation.store import Cursor, get_setting
from curation.store.release_parts import read_part

Shown = TypeVar("Shown")
SEALED_TEXT = "not named, as a release seals what is relevant"


FORMAT = 1
ALTERED = "holds no certificate: it was altered. Split again."


def without_sealed(shown: Shown, closed: Collection[str]) -> Shown:
    """What was found of ties, at any depth, without the documents that tie queries of `closed`."""
    return _shown(shown, closed) if closed else shown


def shown_certificate(cursor: Cursor, release: str | None = None) -> Certificate:
    """The certificate of the split in force, or of a release, as it may be shown.

    Raises
    ------
    NotFoundError, RefusedError: as `read_certificate`.
    """
    return without_sealed(read_certificate(cursor, release), shut_door(cursor).closed)


def _shown(found: Any, closed: Collection[str]) -> Any:
    if isinstance(found, Edge | Crossing):
        return _tie(found, closed)
    if isinstance(found, TieCheck):
        return _check(found)
    if is_dataclass(found) and not isinstance(found, type):
        return replace(
            found, **{field.name: _shown(getattr(found, field.name), closed) for field in fields(found)}
        )
    if isinstance(found, Mapping):
        return {key: _shown(value, closed) for key, value in found.items()}
    if isinstance(found, list | tuple):
        items = [_shown(item, closed) for item in found]
        return type(found)(*items) if hasattr(found, "_fields") else type(found)(items)
    return found


def _tie(found: Edge | Crossing, closed: Collection[str]) -> Edge | Crossing:
    if found.query_a not in closed and found.query_b not in closed:
        return found
    return found._replace(documents=()) if isinstance(found, Edge) else replace(found, documents=())


def _check(tie_check: TieCheck) -> TieCheck:
    if tie_check.kind != NEAR_DUPLICATE:
        return tie_check
    return replace(
        tie_check,
        compared=None,
        highest=_closest(tie_check.highest),
        told_apart=_closest(tie_check.told_apart),
    )


def _closest(closest_pair: ClosestPair | None) -> ClosestPair | None:
    return closest_pair and ClosestPair("–", "–", closest_pair.similarity, SEALED_TEXT, SEALED_TEXT)


@dataclass(frozen=True)
class Certificate:
    """The document that describes a split.

    Attributes
    ----------
    parameters: all that was asked for, with seed and fractions, and how similarity was computed.
    query_hash: of the ids and texts of the queries; corpus_hash: of the corpus (ids and versions).
    groups, largest: number of leakage groups, and queries in the largest.
    shares, distances: how near the parts are to their fractions, as a whole and in each dimension.
    checks, leaks, residual: what was found across the parts (`findings.Findings`).
    missed: ties that MinHash missed and the exhaustive check found, so that they became ties.
    texts: the texts of the queries that leaks, residual and the cuts among the parameters name.
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
    """The certificate of a split.

    Parameters
    ----------
    groups, parts: query id → leakage group, part; of the queries that are in the split.
    missed: ties that only the exhaustive check found.
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


def read_certificate(cursor: Cursor, release: str | None = None) -> Certificate:
    """The certificate of the split in force, or of a release.

    Raises
    ------
    NotFoundError: there is no such release.
    RefusedError: there is no split yet, or its certificate was altered.
    """
    if release is not None:
        row = cursor.execute("SELECT release_id FROM releases WHERE name = ?", [release]).fetchone()
        if row is None:
            rows = cursor.execute("SELECT name FROM releases ORDER BY rowid").fetchall()
            names = ", ".join(name for (name,) in rows)
            raise NotFoundError(f"The project has no release {release!r}. It has {names or 'none yet'}.")
        return parsed(str(read_part(cursor, row[0], "split")), f"The release {release!r}")
    split_id = get_setting(cursor, "split")
    row = cursor.execute("SELECT report FROM splits WHERE split_id = ?", [split_id]).fetchone()
    if row is None:
        raise RefusedError(
            "There is no split yet. Make one first.", command="`goldgrade split --dev 0.7 --test 0.3` does."
        )
    return parsed(row[0], "The split in force")


def parsed(stored: str, what: str) -> Certificate:
    """The certificate in stored JSON; `what` names where it comes from.

    Raises
    ------
    RefusedError: there is none.
    """
    try:
        return _READ.validate_python(json.loads(stored)["certificate"])
    except (ValueError, KeyError) as error:
        raise RefusedError(f"{what} {ALTERED}") from error


_READ = TypeAdapter(Certificate)
