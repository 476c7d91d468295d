"""Releases, the split: what keeps queries together, and how whole groups go to the parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import streamlit as st

from app import ui
from app.components.forms import Form
from curation.splits.request import AssignmentOptions, NewSplit
from curation.splits.rules import Rules

ALL_RELEASES, SOME, NONE = "All releases", "Some releases", "No release"
OF_PARTS = ("by_time", "undated", "largest_group", "keep")
"""Fields of how groups go to the parts."""


class SplitChoices(NamedTuple):
    """What the project offers to choose from.

    keys: by what queries can be tied. scale: the guide's grades. releases: newest first.
    cuts: pairs of query ids → the two queries in words, of ties that could be cut.
    """

    keys: Sequence[str]
    scale: Sequence[int]
    releases: Sequence[str]
    cuts: Mapping[tuple[str, str], str]


def ask_rules(
    form: Form[NewSplit], rules: Rules, cuts: Mapping[tuple[str, str], str], key: str
) -> dict[str, Any]:
    """What keeps queries together; returns what has widgets of its own."""
    form.ask("query", "paraphrase")
    if form.value("paraphrase") is not None:
        form.ask("model")
    form.rest("model", "cut", *OF_PARTS)
    return _ask_cuts(rules, cuts, key)


def _ask_cuts(rules: Rules, cuts: Mapping[tuple[str, str], str], key: str) -> dict[str, Any]:
    """The ties that are no leak, where there are any to choose from."""
    pairs = list(dict.fromkeys([*rules.cut, *cuts]))
    if not pairs:
        return {}
    cut = st.multiselect(
        "Ties to cut",
        pairs,
        default=list(rules.cut),
        key=f"cut {key}",
        format_func=lambda pair: cuts.get(pair, " ~ ".join(pair)),
        help="Ties that are no leak. They are reported as residual leakage.",
    )
    return {"cut": tuple(cut)}


def ask_options(
    form: Form[NewSplit], options: AssignmentOptions, releases: Sequence[str], key: str
) -> dict[str, Any]:
    """How groups go to the parts; returns what has widgets of its own."""
    form.ask("by_time")
    undated = None
    if form.value("by_time"):
        form.ask("undated")
        undated = form.value("undated")
    limited = st.checkbox(
        "Limit the largest group",
        options.largest_group is not None,
        key=f"limited {key}",
        help="Without a limit, a group that is too large for the parts is refused.",
    )
    largest = None
    if limited:
        percent = st.number_input(
            "Largest group, % of the queries",
            1.0,
            100.0,
            100 * (options.largest_group or 0.05),
            1.0,
            key=f"largest {key}",
        )
        largest = round(percent / 100, 6)
    keep = _keep_choices(options.keep, releases, key) if releases else options.keep
    return {"undated": undated, "largest_group": largest, "keep": keep}


def _keep_choices(keep: Sequence[str] | None, releases: Sequence[str], key: str) -> tuple[str, ...] | None:
    now = ALL_RELEASES if keep is None else SOME if keep else NONE
    offered = [ALL_RELEASES, SOME, NONE]
    whose = st.selectbox("Queries keep the parts of", offered, index=offered.index(now), key=f"keep {key}")
    if whose == ALL_RELEASES:
        return None
    if whose == NONE:
        ui.quiet(
            "Released queries may change their part: a test query can become one that systems are tuned on."
        )
        return ()
    known = [name for name in keep or () if name in releases]
    return tuple(st.multiselect("Releases whose parts are kept", releases, default=known, key=f"kept {key}"))
