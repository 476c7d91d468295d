"""The certificate of a split as sentences and tables, for the terminal, the app and an HTML page.

The HTML page has no scripts and loads nothing from the network. The same certificate always gives the same
bytes of HTML.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from curation.core.characters import isolate
from curation.core.reports.page import Section, html_page
from curation.core.reports.tables import QueryName, Table
from curation.core.text import pluralize
from curation.splits.assignment import ALL
from curation.splits.certificate import Certificate
from curation.splits.findings import NEAR_DUPLICATE, SHARED_DOCUMENT, ClosestPair, Crossing, TieCheck

MAX_PAIRS_SHOWN = 200
"""Maximum number of pairs in a table of the certificate."""


def make_certificate_page(certificate: Certificate, name: str | None = None) -> str:
    """Make the HTML page of a split's certificate; `name` is the name of the release that has the split."""
    title = f"Certificate of the split of release {name}" if name else "Certificate of the split"
    hashes = f"Queries {certificate.query_hash}. Corpus {certificate.corpus_hash}."
    remark = f"Split {certificate.split_id}. {hashes}"
    return html_page(title, summarize_certificate(certificate), build_sections(certificate), remark)


def summarize_certificate(certificate: Certificate) -> list[str]:
    """Summarize a certificate: ties across the parts, closest pairs, leakage groups and part sizes."""
    sentences = [_describe_verdict(certificate)]
    sentences += [_describe_closest(check, check.highest) for check in certificate.checks if check.highest]
    if "minhash" in certificate.parameters:
        missed = pluralize(certificate.missed, "tie") if certificate.missed else "no tie"
        sentences.append(
            "The split searched similar texts with a fast method (MinHash). The check of all pairs found "
            f"{missed} that this method missed."
        )
    if "not_read" in certificate.parameters:
        sentences.append(
            f"{certificate.parameters['not_read']:,} queries were not compared by paraphrase: the model "
            f"{certificate.parameters['model']} cannot read their language."
        )
    sizes = [
        f"{share.part} has {pluralize(share.reached, 'query', 'queries')} (target {share.ideal:,.1f})"
        for share in certificate.shares
        if share.dimension == ALL
    ]
    return [
        *sentences,
        f"{pluralize(certificate.queries, 'query forms', 'queries form')} "
        f"{pluralize(certificate.groups, 'leakage group')}, the largest of "
        f"{pluralize(certificate.largest, 'query', 'queries')}. No group is divided.",
        f"Parts: {'; '.join(sizes)}.",
    ]


def _describe_verdict(certificate: Certificate) -> str:
    """Say whether the exhaustive check found ties between parts of the split, and how many.

    Shared documents are named even if the request skips them.
    """
    leaks, residual = len(certificate.leaks), len(certificate.residual)
    verdict = "No tie crosses the parts."
    if leaks:
        verdict = f"{pluralize(leaks, 'tie crosses', 'ties cross')} the parts: this split LEAKS."
    elif residual:
        cut = pluralize(residual, "tie that was", "ties that were")
        verdict = f"No tie crosses the parts except {cut} cut by name (residual leakage)."
    shared = next((check for check in certificate.checks if check.kind == SHARED_DOCUMENT), None)
    if shared is None or shared.looked_for or not shared.compared:
        return verdict
    documents = pluralize(shared.compared, "document is", "documents are")
    return (
        f"{documents} relevant to queries of different parts, because the split ignored shared documents. "
        + verdict.replace("No tie", "No other tie", 1)
    )


def threshold_text(check: TieCheck) -> str:
    """Write the similarity from which a pair counts as a leak."""
    if not check.looked_for:
        return "not looked for"
    return "any" if check.threshold is None else f"{check.threshold:g}"


def _describe_closest(check: TieCheck, pair: ClosestPair) -> str:
    texts = "relevant documents" if check.kind == NEAR_DUPLICATE else "queries"
    limit = f"{'threshold ' if check.looked_for else ''}{threshold_text(check)}"
    compared = "" if check.compared is None else f"; {pluralize(check.compared, 'pair')} compared"
    return f"Closest {texts} across the parts, by {check.kind}: {pair.similarity:.3f} ({limit}{compared})."


def build_sections(certificate: Certificate) -> list[Section]:
    """Make all sections of a certificate's page, in reading order."""
    texts = certificate.texts
    residual = "The split ignored these ties across the parts, because someone cut them by name."
    sections = [
        _check_section(certificate),
        _closest_section(certificate),
        _tie_section(
            "Leaks", "These ties cross the parts, which a split must not allow.", certificate.leaks, texts
        ),
        _tie_section("Residual leakage", residual, certificate.residual, texts),
        _share_section(certificate),
        Section("Made with", "The request for the split.", (), (_parameter_table(certificate),)),
    ]
    return [section for section in sections if section.tables and section.tables[0].rows]


def _check_section(certificate: Certificate) -> Section:
    columns = ("kind of tie", "a leak from", "pairs compared", "highest", "leaks", "cut by name")
    rows = []
    for check in certificate.checks:
        highest = check.highest.similarity if check.highest else None
        leaks = check.crossing if check.looked_for else None
        rows.append((check.kind, threshold_text(check), check.compared, highest, leaks, check.cut))
    return Section(
        "Checks across the parts",
        "The check compared all queries and documents of each part with those in the other parts. It shares "
        "no code with the search that formed the groups.",
        (),
        (Table("Kinds of tie", columns, tuple(rows)),),
        "The column “highest” has the similarity of the most similar pair that nobody cut. The column "
        "“leaks” counts the closest leak of each text.",
    )


def _closest_section(certificate: Certificate) -> Section:
    rows = []
    for check in certificate.checks:
        for remark, pair in (("", check.highest), (", told apart", check.told_apart)):
            if pair is not None:
                texts = _name_text(pair.first, pair.first_text), _name_text(pair.second, pair.second_text)
                rows.append((f"{check.kind}{remark}", pair.similarity, *texts))
    columns = ("kind of tie", "similarity", "in one part", "in another")
    table = Table("Closest across the parts", columns, tuple(rows), True)
    return Section("The closest pairs", "The most similar texts in different parts.", (), (table,))


def _name_text(query_id: str, text: str) -> QueryName:
    return QueryName(f"{isolate(query_id)}: {isolate(text)}", query_id)


def _tie_section(heading: str, sentence: str, ties: Sequence[Crossing], texts: Mapping[str, str]) -> Section:
    rows = []
    for tie in ties[:MAX_PAIRS_SHOWN]:
        queries = (_name_text(query_id, texts.get(query_id, "")) for query_id in (tie.query_a, tie.query_b))
        rows.append((tie.kind, tie.similarity, *queries, ", ".join(map(isolate, tie.documents))))
    hidden = max(0, len(ties) - MAX_PAIRS_SHOWN)
    remark = f"The JSON output has {hidden:,} more ties." if hidden else ""
    columns = ("kind of tie", "similarity", "query", "query", "documents")
    return Section(heading, sentence, (), (Table(heading, columns, tuple(rows), True),), remark)


def _share_section(certificate: Certificate) -> Section:
    columns = ("part", "dimension", "level", "ideal", "reached")
    rows = tuple(
        (share.part, share.dimension, isolate(share.level), round(share.ideal, 1), share.reached)
        for share in certificate.shares
    )
    distance_columns = ("dimension", "queries off", "least possible")
    distances = tuple((gap.dimension, gap.queries, gap.least) for gap in certificate.distances)
    return Section(
        "Part sizes against their targets",
        "Number of queries of each kind in each part, next to the target.",
        (),
        (Table("Distance from the ideal", distance_columns, distances), Table("Queries", columns, rows)),
        "Queries off: half the sum of the differences from the targets. Least possible: the smallest "
        "value that any split can reach.",
    )


def _parameter_table(certificate: Certificate) -> Table:
    parameters: dict[str, Any] = dict(certificate.parameters)
    if cuts := parameters.get("cut"):
        parameters["cut"] = "; ".join(_describe_cut(cut, certificate.texts) for cut in cuts)
    rows = tuple((name.replace("_", " "), _format_value(value)) for name, value in sorted(parameters.items()))
    return Table("Parameters", ("name", "value"), rows, True)


def _describe_cut(cut: Iterable[str], texts: Mapping[str, str]) -> str:
    return " ~ ".join(f"{isolate(texts.get(query_id, ''))} ({isolate(query_id)})" for query_id in cut)


def _format_value(value: Any) -> str:
    if value is None or value == [] or value == {}:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{name.replace('_', ' ')} {_format_value(item)}" for name, item in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_format_value, value))
    return f"{value:g}" if isinstance(value, float) else str(value)
