"""The certificate of a split: findings of a search for leakage, and the kinds of queries by part."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.views.releases.bars import StackRow, stacks
from curation.core.characters import isolated
from curation.splits.assignment import ALL, PartShare
from curation.splits.certificate import Certificate
from curation.splits.certificate_page import build_sections, summarize_certificate

MAX_LEVELS = 16
"""Maximum number of kinds of queries with a bar; the certificate contains all kinds."""


def show_certificate(certificate: Certificate) -> None:
    """Show the findings of the search for leakage between the parts of the split."""
    ui.findings(summarize_certificate(certificate))


def show_tables(certificate: Certificate) -> None:
    """Show the sections of the certificate of a split."""
    ui.folded(build_sections(certificate))


def part_bars(certificate: Certificate, further: list[StackRow] | None = None) -> None:
    """Show the queries of each part as bars, with lines at the requested fractions."""
    names, asked = _asked(certificate)
    whole = [share.reached for share in certificate.shares if share.dimension == ALL]
    rows = [StackRow("Queries", whole, f"{certificate.queries:,}"), *(further or [])]
    stacks("Shares of the parts; lines show the target", names, rows, asked)


def show_kinds(certificate: Certificate) -> None:
    """Show each kind of query by part as bars, with lines at the requested fractions."""
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
    with st.expander("Kinds of queries by part", expanded=len(rows) <= MAX_LEVELS):
        stacks("Kinds of queries by part; lines show the target", names, rows[:MAX_LEVELS], asked)
        if len(rows) > MAX_LEVELS:
            ui.quiet(f"{len(rows) - MAX_LEVELS:,} more kinds are in the certificate.")


def _asked(certificate: Certificate) -> tuple[list[str], list[float]]:
    """Return the parts of the split in their order, and the requested fractions of the parts."""
    names = [share.part for share in certificate.shares if share.dimension == ALL]
    return names, [certificate.parameters["parts"][name] for name in names]
