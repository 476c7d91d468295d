"""The certificate for people: the sentences and tables that the terminal, the app and one HTML page share.

The page has no scripts and needs no network; the same certificate gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from curation.core.reports.page import QueryName, Section, Table, html_page
from curation.core.text import amount, isolated
from curation.splits.assignment.assignment import ALL
from curation.splits.certificate.certificate import Certificate
from curation.splits.certificate.documents import NEAR_DUPLICATE
from curation.splits.certificate.findings import Crossing, TieCheck
from curation.splits.certificate.shared import SHARED_DOCUMENT

SHOWN = 200
"""Pairs that are listed one by one."""


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
    sentences += [_closest(check) for check in certificate.checks if check.highest is not None]
    if "minhash" in certificate.parameters:
        missed = amount(certificate.missed, "tie") if certificate.missed else "no tie"
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
        f"{amount(certificate.queries, 'query forms', 'queries form')} "
        f"{amount(certificate.groups, 'leakage group')}, the largest of "
        f"{certificate.largest:,}; groups are whole in their parts."
    )
    return [*sentences, _parts_told(certificate)]


def _parts_told(certificate: Certificate) -> str:
    """How many queries each part has, and how many were asked for."""
    whole = [share for share in certificate.shares if share.dimension == ALL]
    parts = [
        f"{one.part} has {amount(one.reached, 'query', 'queries')} (target {one.ideal:,.1f})" for one in whole
    ]
    return f"Parts: {'; '.join(parts)}."


def certificate_sections(certificate: Certificate) -> list[Section]:
    """All that the page shows, in the order in which it is read."""
    found = [
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
    return [section for section in found if section.tables and section.tables[0].rows]


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
    documents = amount(shared.compared, "document is", "documents are")
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


def _closest(check: TieCheck) -> str:
    pair = check.highest
    assert pair is not None
    what = "relevant documents" if check.kind == NEAR_DUPLICATE else "queries"
    limit = f"{'threshold ' if check.looked_for else ''}{threshold_told(check)}"
    compared = "" if check.compared is None else f"; {amount(check.compared, 'pair')} compared"
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
        "Highest: of pairs that are not cut by name. Of leaks each text counts with its closest one.",
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
