"""The certificate: the document that says what a split is and what the exhaustive check across it found.

The terminal, the app and one HTML page share its sentences and tables. The page has no scripts and needs no
network; the same certificate gives the same bytes.

A document that ties two queries is relevant to both. So where a release seals one of them, the tie is named
and its documents are not. The closest documents across the parts have no names where any query is sealed,
because the certificate does not keep to which queries they are relevant. The number of compared pairs is
hidden, too: it is a product of numbers of relevant documents, and splits by many seeds would reveal the
number of each query.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, TypeVar

from pydantic import TypeAdapter

from curation.core.characters import isolated
from curation.core.digests import digest
from curation.core.errors import NotFoundError, RefusedError
from curation.core.reports.page import QueryName, Section, Table, html_page
from curation.core.text import pluralize
from curation.people.seal_access import closed_access
from curation.splits.assignment import ALL, Distance, PartShare, distances, shares
from curation.splits.certify import NEAR_DUPLICATE, SHARED_DOCUMENT, ClosestPair, Crossing, Findings, TieCheck
from curation.splits.inputs import GradedQueries
from curation.splits.ties import Edge
from curation.store import Cursor, get_setting
from curation.store.release_parts import read_part

SHOWN = 200
"""Pairs that are listed one by one."""

Shown = TypeVar("Shown")
SEALED_TEXT = "not named, as a release seals what is relevant"


FORMAT = 1
ALTERED = "holds no certificate: it was altered. Split again."


def certificate_page(certificate: Certificate, name: str | None = None) -> str:
    """A whole HTML page about a split; `name` is the release that it belongs to."""
    title = f"Certificate of the split of release {name}" if name else "Certificate of the split"
    remark = (
        f"Split {certificate.split_id}. Queries {certificate.query_hash}. Corpus {certificate.corpus_hash}."
    )
    return html_page(title, findings(certificate), certificate_sections(certificate), remark)


def findings(certificate: Certificate) -> list[str]:
    """What a reader wants to know first, in sentences."""
    sentences = [_verdict(certificate)]
    sentences += [_closest_sentence(check) for check in certificate.checks if check.highest is not None]
    if "minhash" in certificate.parameters:
        missed = pluralize(certificate.missed, "tie") if certificate.missed else "no tie"
        sentences.append(
            f"Similar texts were searched by a fast method (MinHash). "
            f"The check of all pairs found {missed} that it missed."
        )
    if "not_read" in certificate.parameters:
        sentences.append(
            f"{certificate.parameters['not_read']:,} queries were not compared by paraphrase: the model "
            f"{certificate.parameters['model']} cannot read their language."
        )
    sentences.append(
        f"{pluralize(certificate.queries, 'query forms', 'queries form')} "
        f"{pluralize(certificate.groups, 'leakage group')}, the largest of "
        f"{certificate.largest:,}; groups are whole in their parts."
    )
    return [*sentences, _parts_told(certificate)]


def _parts_told(certificate: Certificate) -> str:
    """How many queries each part has, and how many were asked for."""
    whole = [share for share in certificate.shares if share.dimension == ALL]
    parts = [
        f"{share.part} has {pluralize(share.reached, 'query', 'queries')} (target {share.ideal:,.1f})"
        for share in whole
    ]
    return f"Parts: {'; '.join(parts)}."


def certificate_sections(certificate: Certificate) -> list[Section]:
    """All that the page shows, in the order in which it is read."""
    sections = [
        _checks(certificate),
        _pairs(certificate),
        _crossings("Leaks", "Ties across the parts that must not be.", certificate.leaks, certificate.texts),
        _crossings(
            "Residual leakage",
            "Ties across the parts that were cut by name: they are there, and were not counted.",
            certificate.residual,
            certificate.texts,
        ),
        _shares(certificate),
        Section("Made with", "What the split was asked for.", (), (_parameters(certificate),)),
    ]
    return [section for section in sections if section.tables and section.tables[0].rows]


def threshold_told(check: TieCheck) -> str:
    """From when on a pair is a leak, in words."""
    if not check.looked_for:
        return "not looked for"
    return "any" if check.threshold is None else f"{check.threshold:g}"


def _verdict(certificate: Certificate) -> str:
    """Whether anything crosses the parts; what was not looked for is counted all the same."""
    shared = next((check for check in certificate.checks if check.kind == SHARED_DOCUMENT), None)
    verdict = _looked_for(certificate)
    if shared is None or shared.looked_for or not shared.compared:
        return verdict
    documents = pluralize(shared.compared, "document is", "documents are")
    return (
        f"{documents} relevant to queries of different parts: shared documents were not looked for. "
        + verdict.replace("Nothing", "Nothing else", 1)
    )


def _looked_for(certificate: Certificate) -> str:
    if certificate.leaks:
        number = len(certificate.leaks)
        return f"{number:,} {'tie crosses' if number == 1 else 'ties cross'} the parts: this split LEAKS."
    if certificate.residual:
        number = len(certificate.residual)
        cut = "1 tie that was" if number == 1 else f"{number:,} ties that were"
        return f"Nothing crosses the parts but {cut} cut by name: residual leakage."
    return "Nothing crosses the parts."


def _closest_sentence(check: TieCheck) -> str:
    pair = check.highest
    assert pair is not None
    what = "relevant documents" if check.kind == NEAR_DUPLICATE else "queries"
    limit = f"{'threshold ' if check.looked_for else ''}{threshold_told(check)}"
    compared = "" if check.compared is None else f"; {pluralize(check.compared, 'pair')} compared"
    return f"Closest {what} across the parts, by {check.kind}: {pair.similarity:.3f} ({limit}{compared})."


def _checks(certificate: Certificate) -> Section:
    columns = ("kind of tie", "a leak from", "pairs compared", "highest", "leaks", "cut by name")
    rows = [
        (
            check.kind,
            threshold_told(check),
            check.compared,
            check.highest.similarity if check.highest else None,
            check.crossing if check.looked_for else None,
            check.cut,
        )
        for check in certificate.checks
    ]
    return Section(
        "What was looked for across the parts",
        "Everything in one part was compared with everything in the others, by code that the grouping does "
        "not use.",
        (),
        (Table("Kinds of tie", columns, tuple(rows)),),
        "Highest: the most similar pair that is not cut by name. Each text counts with its closest leak.",
    )


def _pairs(certificate: Certificate) -> Section:
    rows = [
        (
            *(f"{check.kind}{remark}", pair.similarity),
            *(_named(pair.first, pair.first_text), _named(pair.second, pair.second_text)),
        )
        for check in certificate.checks
        for remark, pair in (("", check.highest), (", told apart", check.told_apart))
        if pair is not None
    ]
    columns = ("kind of tie", "similarity", "in one part", "in another")
    drawn = Table("Closest across the parts", columns, tuple(rows), True)
    return Section("The closest pairs", "With their ids.", (), (drawn,))


def _named(query_id: str, text: str) -> QueryName:
    return QueryName(f"{isolated(query_id)}: {isolated(text)}", query_id)


def _crossings(heading: str, sentence: str, ties: Sequence[Crossing], texts: Mapping[str, str]) -> Section:
    rows = tuple(
        (
            tie.kind,
            tie.similarity,
            _named(tie.query_a, texts.get(tie.query_a, "")),
            _named(tie.query_b, texts.get(tie.query_b, "")),
            ", ".join(map(isolated, tie.documents)),
        )
        for tie in ties[:SHOWN]
    )
    remark = f"{len(ties) - SHOWN:,} more are in the JSON." if len(ties) > SHOWN else ""
    columns = ("kind of tie", "similarity", "query", "query", "documents")
    return Section(heading, sentence, (), (Table(heading, columns, rows, True),), remark)


def _shares(certificate: Certificate) -> Section:
    columns = ("part", "dimension", "level", "ideal", "reached")
    rows = [
        (share.part, share.dimension, isolated(share.level), round(share.ideal, 1), share.reached)
        for share in certificate.shares
    ]
    far = [(distance.dimension, distance.queries, distance.least) for distance in certificate.distances]
    return Section(
        "Part sizes against their targets",
        "Queries of each kind in each part, next to the target.",
        (),
        (
            Table("Distance from the ideal", ("dimension", "queries off", "least possible"), tuple(far)),
            Table("Queries", columns, tuple(rows)),
        ),
        "Queries off: half the sum of the differences from what was asked for. Least possible: no "
        "split is nearer.",
    )


def _parameters(certificate: Certificate) -> Table:
    shown = dict(certificate.parameters)
    if shown.get("cut"):
        shown["cut"] = "; ".join(
            " ~ ".join(f"{isolated(certificate.texts.get(name, ''))} ({isolated(name)})" for name in pair)
            for pair in shown["cut"]
        )
    rows = tuple((name.replace("_", " "), _value_text(value)) for name, value in sorted(shown.items()))
    return Table("Parameters", ("name", "value"), rows, True)


def _value_text(value: Any) -> str:
    if value is None or value == [] or value == {}:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{name.replace('_', ' ')} {_value_text(item)}" for name, item in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_value_text, value))
    return f"{value:g}" if isinstance(value, float) else str(value)


def without_sealed(shown: Shown, closed: Collection[str]) -> Shown:
    """The record, at any depth without the documents that tie queries of `closed`."""
    return _shown(shown, closed) if closed else shown


def shown_certificate(cursor: Cursor, release: str | None = None) -> Certificate:
    """The certificate of the split in force, or of a release, as it may be shown.

    Raises
    ------
    NotFoundError, RefusedError: as `read_certificate`.
    """
    return without_sealed(read_certificate(cursor, release), closed_access(cursor).closed)


def _shown(record: Any, closed: Collection[str]) -> Any:
    if isinstance(record, Edge | Crossing):
        return _tie(record, closed)
    if isinstance(record, TieCheck):
        return _check(record)
    if is_dataclass(record) and not isinstance(record, type):
        return replace(
            record, **{field.name: _shown(getattr(record, field.name), closed) for field in fields(record)}
        )
    if isinstance(record, Mapping):
        return {key: _shown(value, closed) for key, value in record.items()}
    if isinstance(record, list | tuple):
        items = [_shown(item, closed) for item in record]
        return type(record)(*items) if hasattr(record, "_fields") else type(record)(items)
    return record


def _tie(tie: Edge | Crossing, closed: Collection[str]) -> Edge | Crossing:
    if tie.query_a not in closed and tie.query_b not in closed:
        return tie
    return tie._replace(documents=()) if isinstance(tie, Edge) else replace(tie, documents=())


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
        raise RefusedError("There is no split yet. Make one first.", command="`goldgrade split` does.")
    return parsed(row[0], "The split in force")


def parsed(stored: str, what: str) -> Certificate:
    """The certificate in stored JSON; `what` names where it comes from.

    Raises
    ------
    RefusedError: the JSON holds no certificate.
    """
    try:
        return _READ.validate_python(json.loads(stored)["certificate"])
    except (ValueError, KeyError) as error:
        raise RefusedError(f"{what} {ALTERED}") from error


_READ = TypeAdapter(Certificate)
