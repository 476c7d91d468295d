"""Releases, the preview of a split: its parts as bars, its groups with what ties them, its certificate."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.views.releases.bars import StackRow, stacks
from curation.core.text import amount, isolated, left_out_sentences
from curation.splits.assignment.assignment import ALL, PartShare
from curation.splits.certificate.certificate import Certificate
from curation.splits.certificate.page import certificate_sections, findings
from curation.splits.leakage_groups import LeakageGroup
from curation.splits.preview import SplitPreview
from curation.splits.refusals import edge_sentence

MOST_LEVELS = 16
"""Kinds of queries that have a bar; the certificate has all."""
MOST_QUERIES = 50
"""Queries of a group that are written out."""
STEPS = 8
"""Ties of a group that are written out."""


def show(split_preview: SplitPreview) -> None:
    """What decides whether it is stored: the parts, what changes, and what crosses them."""
    if split_preview.refused:
        st.error("\n\n".join(map(ui.plain, _why_not(split_preview))), icon=":material/error:")
    ui.heading("Parts of this split")
    _parts(split_preview)
    ui.sentences("\n".join(_changes(split_preview)))
    show_certificate(split_preview.certificate)


def details(split_preview: SplitPreview) -> None:
    """The kinds of queries by part, the groups and why they are tied, and the certificate's tables."""
    kinds(split_preview.certificate)
    _groups(split_preview)
    ui.heading("Certificate")
    tables(split_preview.certificate)


def show_certificate(certificate: Certificate) -> None:
    """What a search across the parts found, in sentences."""
    st.markdown("\n".join(f"- {ui.plain(sentence)}" for sentence in findings(certificate)))


def tables(certificate: Certificate) -> None:
    """The certificate's sections."""
    ui.folded(certificate_sections(certificate))


def cuts(split_preview: SplitPreview) -> dict[tuple[str, str], str]:
    """Pairs of queries whose tie could be cut → the two in words."""
    return {
        edge[:2]: " ~ ".join(group.queries[name] for name in edge[:2])
        for group in split_preview.groups
        for edge in group.chain
    }


def part_bars(certificate: Certificate, further: list[StackRow] | None = None) -> None:
    """The queries of each part next to the fractions that were asked for."""
    names, asked = _asked(certificate)
    whole = [share.reached for share in certificate.shares if share.dimension == ALL]
    rows = [StackRow("Queries", whole, f"{certificate.queries:,}"), *(further or [])]
    stacks("Shares of the parts; lines show the target", names, rows, asked)


def kinds(certificate: Certificate) -> None:
    """Each kind of query by part, next to the fractions."""
    names, asked = _asked(certificate)
    levels: dict[tuple[str, str], dict[str, PartShare]] = {}
    for share in certificate.shares:
        if share.dimension != ALL:
            levels.setdefault((share.dimension, share.level), {})[share.part] = share
    if len(levels) < 2:
        return
    rows = []
    for (dimension, level), by_part in levels.items():
        counts = [by_part[name].reached for name in names]
        rows.append(StackRow(f"{dimension}: {isolated(level)}", counts, f"{sum(counts):,}"))
    with st.expander("Kinds of queries by part", expanded=len(rows) <= MOST_LEVELS):
        stacks("Kinds of queries by part; lines show the target", names, rows[:MOST_LEVELS], asked)
        if len(rows) > MOST_LEVELS:
            ui.quiet(f"{len(rows) - MOST_LEVELS:,} more kinds are in the certificate.")


def _asked(certificate: Certificate) -> tuple[list[str], list[float]]:
    """The parts in their order, and their fractions."""
    names = [share.part for share in certificate.shares if share.dimension == ALL]
    return names, [certificate.parameters["parts"][name] for name in names]


def _parts(split_preview: SplitPreview) -> None:
    traffic = [part.traffic for part in split_preview.parts]
    rows = []
    if None not in traffic:
        searches = [float(count or 0) for count in traffic]
        rows.append(StackRow("Traffic", searches, f"{sum(searches):,.0f}"))
    grades = [part.grades for part in split_preview.parts]
    rows.append(StackRow("Grades", grades, f"{sum(grades):,}"))
    part_bars(split_preview.certificate, rows)


def _changes(split_preview: SplitPreview) -> list[str]:
    lines = []
    if split_preview.kept:
        lines.append(
            f"{amount(split_preview.kept, 'query keeps', 'queries keep')} the part that a release has "
            "them "
            "in."
        )
    if split_preview.moved is not None:
        added = ", ".join(f"{part.part} {part.added:,}" for part in split_preview.parts if part.added)
        lines.append(f"New in this split: {added}." if added else "No query is new in this split.")
        lines.append(
            f"{amount(split_preview.moved, 'query changes its part', 'queries change their parts')}."
            if split_preview.moved
            else "No query changes its part."
        )
    return [*lines, *left_out_sentences(split_preview.left_out)]


def _groups(split_preview: SplitPreview) -> None:
    ui.heading("Groups of tied queries")
    alone, groups = (
        split_preview.sizes.get(1, 0),
        sum(count for size, count in split_preview.sizes.items() if size > 1),
    )
    whole = amount(groups, "group stays whole in its part", "groups stay whole in their parts")
    ui.sentences(f"{whole}; {amount(alone, 'query is', 'queries are')} tied to no other.")
    for group in split_preview.groups:
        queries = amount(len(group.queries), "query", "queries")
        texts = list(group.queries.values())
        begin = f"{', '.join(texts[:2])}{' …' if texts[2:] else ''}"
        with st.expander(ui.plain(f"{queries} in {group.part}: {begin}")):
            _group(group)


def _group(group: LeakageGroup) -> None:
    texts = list(group.queries.values())
    more = len(texts) - MOST_QUERIES
    ui.said(
        "Queries",
        " · ".join(map(isolated, texts[:MOST_QUERIES])),
        *([f"… and {more:,} more"] if more > 0 else []),
    )
    ties = [edge_sentence(edge, group.queries) for edge in group.chain[:STEPS]]
    more = len(group.chain) - len(ties)
    ui.said("Why they are tied", *ties, *([f"… and {more:,} more"] if more else []))


def _why_not(split_preview: SplitPreview) -> list[str]:
    """Why it cannot be stored; the chains are shown with their groups."""
    lines = [
        line for line in split_preview.refused.splitlines() if not line.startswith(" ") and line[-1:] != ":"
    ]
    if split_preview.groups:
        lines.append(
            "The groups are below, with what ties them. Choose ties to cut in “Which queries stay together”."
        )
    return lines
