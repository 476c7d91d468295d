"""Releases, Split, the form: the parts of a split, and the rules that assign queries to parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from app import ui
from app.components.forms import Form
from app.page_context import PageContext
from app.views.releases import preview
from curation.guides.guide import current_guide
from curation.releases.release_rows import list_releases
from curation.splits.preview import SplitPreview
from curation.splits.query_keys import list_key_kinds
from curation.splits.request import SplitRequest, find_part_problems
from curation.splits.rules import Rules

ASSIGNMENT_FIELDS = ("parts", "by_time", "largest_group", "fresh")
"""The fields of the form that decide how groups of queries are assigned to parts."""


def ask_split(
    context: PageContext, start: tuple[SplitRequest, str], split_preview: SplitPreview | None
) -> tuple[SplitRequest, list[str]]:
    """Ask for the settings of a split; return the request and the problems of the entries."""
    start_request, key = start
    with context.store.reading() as cursor:
        stored_keys, scale = list_key_kinds(cursor), current_guide(cursor).values
        has_releases = bool(list_releases(cursor))
    ui.heading("Parts")
    parts, problems = _ask_parts(start_request.parts, key)
    keys = list(dict.fromkeys([*stored_keys, *start_request.rules.keys]))
    choices = {"keys": keys, "relevant_grade": scale[1:]}
    form = Form(SplitRequest, start_request, key, choices)
    values: dict[str, Any] = {"parts": parts, "expected": None}
    with st.expander("Which queries stay together"):
        cuts = preview.list_cuts(split_preview) if split_preview else {}
        values |= _ask_rules(form, start_request.rules, cuts, key)
    with st.expander("Assignment of groups to parts"):
        values |= _ask_assignment(form, start_request, has_releases, key)
    with st.expander("More options"):
        form.ask("seed")
    return form.request(**values), problems


def _ask_parts(
    start_parts: Sequence[tuple[str, float]], key: str
) -> tuple[tuple[tuple[str, float], ...], list[str]]:
    """Ask for the names and shares of parts in rows; return the parts and any problems with them."""
    rows_key = f"rows of parts {key}"
    rows: list[int] = st.session_state.setdefault(rows_key, list(range(len(start_parts))))
    parts: list[tuple[str, float]] = []
    for number, row in enumerate(rows, 1):
        start_part = start_parts[row] if row < len(start_parts) else ("", 0.0)
        with st.container(horizontal=True, vertical_alignment="bottom"):
            parts.append(_ask_part(start_part, number, f"{row} {key}"))
            st.button(
                f"Remove part {number}",
                key=f"remove {row} {key}",
                type="tertiary",
                disabled=len(rows) == 1,
                on_click=st.session_state.update,
                args=({rows_key: [other_row for other_row in rows if other_row != row]},),
            )
    st.button(
        "Add a part",
        key=f"add {key}",
        icon=":material/add:",
        on_click=st.session_state.update,
        args=({rows_key: [*rows, max(rows) + 1]},),
    )
    shares = dict(parts)
    problems = find_part_problems(shares) if len(shares) == len(parts) else ["two parts have the same name"]
    return tuple(parts), [f"{problem[0].upper()}{problem[1:]}." for problem in problems]


def _ask_part(start_part: tuple[str, float], number: int, key: str) -> tuple[str, float]:
    """Ask for a part's name and its share of the queries."""
    name, share = start_part
    new_name = st.text_input(f"Name of part {number}", name, max_chars=31, width=150, key=f"part {key}")
    percent = st.number_input(
        f"Part {number}, % of queries",
        0.0,
        100.0,
        round(100 * share, 4),
        5.0,
        width=150,
        key=f"percent {key}",
    )
    return new_name.strip(), round(percent / 100, 6)


def _ask_rules(
    form: Form[SplitRequest], rules: Rules, cuts: Mapping[tuple[str, str], str], key: str
) -> dict[str, Any]:
    """Ask for the rules that keep queries together; return the fields without widgets in the form."""
    form.ask("query", "paraphrase")
    if form.value("paraphrase") is not None:
        form.ask("model")
    form.ask_rest("model", "cut", "seed", *ASSIGNMENT_FIELDS)
    return _ask_cuts(rules, cuts, key)


def _ask_cuts(rules: Rules, cuts: Mapping[tuple[str, str], str], key: str) -> dict[str, Any]:
    """Ask which ties do not count as leakage, if there are ties to choose from."""
    pairs = list(dict.fromkeys([*rules.cut, *cuts]))
    if not pairs:
        return {}
    ties = st.multiselect(
        "Ties to cut",
        pairs,
        default=list(rules.cut),
        key=f"cut {key}",
        format_func=lambda pair: cuts.get(pair, " ~ ".join(pair)),
        help="Cut a tie if it is not leakage. The certificate lists cut ties as residual leakage.",
    )
    return {"cut": tuple(ties)}


def _ask_assignment(
    form: Form[SplitRequest], start_request: SplitRequest, has_releases: bool, key: str
) -> dict[str, Any]:
    """Ask how groups of queries are assigned to parts; return the fields without widgets in the form."""
    form.ask("by_time")
    is_limited = st.checkbox(
        "Limit the largest group",
        start_request.largest_group is not None,
        key=f"limited {key}",
        help="Without a limit, the split is refused if a group is too large for the parts.",
    )
    largest = None
    if is_limited:
        percent = st.number_input(
            "Largest group, % of the queries",
            1.0,
            100.0,
            100 * (start_request.largest_group or 0.05),
            1.0,
            key=f"largest {key}",
        )
        largest = round(percent / 100, 6)
    if has_releases:
        form.ask("fresh")
        if form.value("fresh"):
            ui.note("A released test query can then move to a part that teams use to tune systems.")
    return {"largest_group": largest}
