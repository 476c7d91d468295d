"""The certificate of a split on the page Releases: its findings, and the parts' shares as bars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from app import ui
from app.views.releases.bars import BarRow, draw_bars
from curation.core.characters import isolate
from curation.splits.assignment import ALL, PartShare
from curation.splits.certificate import Certificate
from curation.splits.certificate_page import build_sections, summarize_certificate

MAX_KINDS = 16
"""Maximum number of kinds of queries with a bar; the certificate contains all kinds."""


def show_findings(certificate: Certificate) -> None:
    """Show the findings of the search for leakage between the split's parts."""
    ui.findings(summarize_certificate(certificate))


def show_tables(certificate: Certificate) -> None:
    """Show the sections of a split's certificate."""
    ui.folded(build_sections(certificate))


def show_shares(certificate: Certificate, other_rows: Sequence[BarRow] = ()) -> None:
    """Show each part's queries as bars, with lines at the requested fractions."""
    names, targets = _read_targets(certificate)
    counts = [share.reached for share in certificate.shares if share.dimension == ALL]
    rows = [BarRow("Queries", counts, f"{certificate.queries:,}"), *other_rows]
    draw_bars("Shares of the parts; lines show the target", names, rows, targets)


def show_kinds(certificate: Certificate) -> None:
    """Show each kind of query by part as bars, with lines at the requested fractions."""
    names, targets = _read_targets(certificate)
    shares_by_kind: dict[tuple[str, str], dict[str, PartShare]] = {}
    for share in certificate.shares:
        if share.dimension != ALL:
            shares_by_kind.setdefault((share.dimension, share.level), {})[share.part] = share
    if len(shares_by_kind) < 2:
        return
    rows = []
    for (dimension, level), by_part in shares_by_kind.items():
        counts = [by_part[name].reached for name in names]
        rows.append(BarRow(f"{dimension}: {isolate(level)}", counts, f"{sum(counts):,}"))
    with st.expander("Kinds of queries by part", expanded=len(rows) <= MAX_KINDS):
        draw_bars("Kinds of queries by part; lines show the target", names, rows[:MAX_KINDS], targets)
        if len(rows) > MAX_KINDS:
            ui.note(f"{len(rows) - MAX_KINDS:,} more kinds are in the certificate.")


def _read_targets(certificate: Certificate) -> tuple[list[str], list[float]]:
    """Return the parts of the split in their order, and the parts' requested fractions."""
    names = [share.part for share in certificate.shares if share.dimension == ALL]
    parameters: Mapping[str, Any] = certificate.parameters
    return names, [parameters["parts"][name] for name in names]
