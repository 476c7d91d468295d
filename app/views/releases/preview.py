"""The preview of a split on the page Releases, before a lead stores it."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.views.releases import certificate
from app.views.releases.bars import BarRow
from curation.core.characters import isolate
from curation.core.text import describe_left_out, pluralize
from curation.splits.chains import describe_edge
from curation.splits.groups import LeakageGroup
from curation.splits.preview import SplitPreview

MAX_LISTED_QUERIES = 50
MAX_LISTED_TIES = 8


def show(preview: SplitPreview) -> None:
    """Show the parts of the split, how the split changes, and the queries that leak between the parts."""
    if preview.refused:
        st.error("\n\n".join(map(ui.literal, _explain_refusal(preview))), icon=":material/error:")
    ui.heading("Parts of this split")
    _show_parts(preview)
    ui.sentences(*_describe_changes(preview))
    certificate.show_findings(preview.certificate)


def show_details(preview: SplitPreview) -> None:
    """Show the kinds of queries by part, the groups of tied queries, and the certificate's tables."""
    certificate.show_kinds(preview.certificate)
    _show_groups(preview)
    ui.heading("Certificate")
    certificate.show_tables(preview.certificate)


def list_cuts(preview: SplitPreview) -> dict[tuple[str, str], str]:
    """Map each pair of query ids whose tie can be cut to the texts of both queries."""
    return {
        edge[:2]: " ~ ".join(group.queries[name] for name in edge[:2])
        for group in preview.groups
        for edge in group.chain
    }


def _show_parts(preview: SplitPreview) -> None:
    traffic = [part.traffic for part in preview.parts]
    rows = []
    if None not in traffic:
        searches = [float(count or 0) for count in traffic]
        rows.append(BarRow("Traffic", searches, f"{sum(searches):,.0f}"))
    grades = [part.grades for part in preview.parts]
    rows.append(BarRow("Grades", grades, f"{sum(grades):,}"))
    certificate.show_shares(preview.certificate, rows)


def _describe_changes(preview: SplitPreview) -> list[str]:
    lines = []
    if preview.report.kept:
        queries_keep = pluralize(preview.report.kept, "query keeps", "queries keep")
        lines.append(f"{queries_keep} the part of an earlier release.")
    if preview.moved is not None:
        added = ", ".join(f"{part.part} {part.added:,}" for part in preview.parts if part.added)
        lines.append(
            f"Queries added since the current split: {added}."
            if added
            else "No query has been added since the current split."
        )
        lines.append(
            f"{pluralize(preview.moved, 'query changes its part', 'queries change their parts')}."
            if preview.moved
            else "No query changes its part."
        )
    return [*lines, *describe_left_out(preview.report.left_out)]


def _show_groups(preview: SplitPreview) -> None:
    ui.heading("Groups of tied queries")
    untied = preview.sizes.get(1, 0)
    group_count = sum(count for size, count in preview.sizes.items() if size > 1)
    groups_stay = pluralize(group_count, "group stays whole in its part", "groups stay whole in their parts")
    ui.sentences(f"{groups_stay}; {pluralize(untied, 'query has', 'queries have')} no tie.")
    for group in preview.groups:
        queries = pluralize(len(group.queries), "query", "queries")
        texts = list(group.queries.values())
        first_texts = f"{', '.join(texts[:2])}{' …' if texts[2:] else ''}"
        with st.expander(ui.literal(f"{queries} in {group.part}: {first_texts}")):
            _show_group(group)


def _show_group(group: LeakageGroup) -> None:
    texts = list(group.queries.values())
    queries = " · ".join(map(isolate, texts[:MAX_LISTED_QUERIES]))
    ui.remarks("Queries", queries, *_count_more(len(texts) - MAX_LISTED_QUERIES))
    ties = [describe_edge(edge, group.queries) for edge in group.chain[:MAX_LISTED_TIES]]
    ui.remarks("Ties", *ties, *_count_more(len(group.chain) - MAX_LISTED_TIES))


def _count_more(count: int) -> list[str]:
    return [f"… and {count:,} more"] if count > 0 else []


def _explain_refusal(preview: SplitPreview) -> list[str]:
    """Return the reasons why the split cannot be stored; the groups on the page show the chains of ties."""
    lines = [line for line in preview.refused.splitlines() if not line.startswith(" ") and line[-1:] != ":"]
    if preview.groups:
        advice = "To allow a split, choose ties to cut under “Which queries stay together”."
        lines.append(f"The page shows the groups with their ties below. {advice}")
    return lines
