"""Releases, the split: what keeps queries together, and how whole groups go to the parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

import streamlit as st

from app import ui
from curation.splits.rules import DOCUMENT, PARAPHRASE, QUERY, Rules
from curation.text import amount

NUMBERS = {
    "text": "Like other words",
    "apart": "Queries with different ones are not tied by their words",
    "tie": "Left out of the comparison",
}
BLOCKS = {None: "Any time", 3_600: "The same hour", 86_400: "The same day", 604_800: "The same week"}
ALL_RELEASES, SOME, NONE = "All releases", "Some releases", "No release"


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
    rules: Rules, relevant: int | None, choices: SplitChoices, key: str
) -> tuple[dict[str, Any], int | None]:
    """The rules, as JSON knows them, and the least relevant grade; they start as given."""
    found = asdict(rules) | _ask_likeness(rules, key) | _ask_origin(rules, choices, key)
    found["numbers"] = st.selectbox(
        "Numbers and model names in queries",
        list(NUMBERS),
        index=list(NUMBERS).index(rules.numbers),
        format_func=NUMBERS.__getitem__,
        key=f"numbers {key}",
    )
    grades = [None, *choices.scale[1:]]
    relevant = st.selectbox(
        "A document is relevant from grade",
        grades,
        index=grades.index(relevant) if relevant in grades else 0,
        format_func=lambda grade: "Every grade above the lowest" if grade is None else str(grade),
        key=f"relevant {key}",
    )
    return found | _ask_cuts(rules, choices.cuts, key), relevant


def _ask_likeness(rules: Rules, key: str) -> dict[str, Any]:
    """Queries that are tied by their words, their meaning or their relevant documents."""
    found: dict[str, Any] = {}
    words = st.checkbox("Similar query texts stay together", rules.query is not None, key=f"words {key}")
    found["query"] = _least(
        "Similarity of query texts from", rules.query or QUERY, words, f"query {key}", 0.1
    )
    meaning = st.checkbox("Paraphrases stay together", rules.paraphrase is not None, key=f"meaning {key}")
    found["paraphrase"] = _least(
        "Similarity of paraphrases from",
        rules.paraphrase or PARAPHRASE,
        meaning,
        f"paraphrase {key}",
        0.3,
    )
    if meaning:
        found["model"] = st.text_input(
            "Embedding model of paraphrases", rules.model, key=f"model {key}"
        ).strip()
    found["shared"] = st.checkbox(
        "Queries with a relevant document in common stay together", rules.shared, key=f"shared {key}"
    )
    copies = st.checkbox(
        "Queries with nearly identical relevant documents stay together",
        rules.document is not None,
        key=f"copies {key}",
    )
    found["document"] = _least(
        "Similarity of documents from", rules.document or DOCUMENT, copies, f"document {key}", 0.1
    )
    return found


def _ask_origin(rules: Rules, choices: SplitChoices, key: str) -> dict[str, Any]:
    """Queries that are tied by whom or when they came from."""
    found: dict[str, Any] = {}
    offered = list(dict.fromkeys([*choices.keys, *rules.keys]))
    if offered:
        found["keys"] = st.multiselect(
            "Queries with the same … stay together",
            offered,
            default=list(rules.keys),
            key=f"keys {key}",
            help="Session and group as the project imported them, or a field of the queries.",
        )
    blocks = dict(BLOCKS)
    if rules.time_block is not None:
        blocks.setdefault(rules.time_block, amount(rules.time_block, "second"))
    found["time_block"] = st.selectbox(
        "Queries first asked in … stay together",
        list(blocks),
        index=list(blocks).index(rules.time_block),
        format_func=blocks.__getitem__,
        key=f"block {key}",
    )
    return found


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
    return {"cut": [list(pair) for pair in cut]}


def _least(label: str, value: float, on: bool, key: str, least: float) -> float | None:
    """A threshold, where its kind of tie is switched on."""
    if not on:
        return None
    return round(st.number_input(label, least, 1.0, value, 0.01, key=key), 4)


def ask_options(
    options: Mapping[str, Any], parts: Sequence[str], releases: Sequence[str], key: str
) -> dict[str, Any]:
    """How groups go to the parts, as JSON knows it; starts as given."""
    found = dict(options)
    by_time = st.checkbox(
        "By time: earlier queries in earlier parts",
        options["by_time"],
        key=f"time {key}",
        help="Instead of parts that are alike. The parts are in the order above.",
    )
    undated = None
    if by_time:
        offered = [None, *parts]
        undated = st.selectbox(
            "Part of queries without a time",
            offered,
            index=offered.index(options["undated"]) if options["undated"] in offered else 0,
            format_func=lambda part: part or "None: refuse them",
            key=f"undated {key}",
        )
    limited = st.checkbox(
        "Limit the largest group",
        options["largest_group"] is not None,
        key=f"limited {key}",
        help="Without a limit a group is refused where it spoils a part.",
    )
    largest = None
    if limited:
        percent = st.number_input(
            "Largest group, % of the queries",
            1.0,
            100.0,
            100 * (options["largest_group"] or 0.05),
            1.0,
            key=f"largest {key}",
        )
        largest = round(percent / 100, 6)
    keep = _keep(options["keep"], releases, key) if releases else options["keep"]
    return found | {"by_time": by_time, "undated": undated, "largest_group": largest, "keep": keep}


def _keep(keep: Sequence[str] | None, releases: Sequence[str], key: str) -> list[str] | None:
    now = ALL_RELEASES if keep is None else SOME if keep else NONE
    offered = [ALL_RELEASES, SOME, NONE]
    whose = st.selectbox("Queries keep the parts of", offered, index=offered.index(now), key=f"keep {key}")
    if whose == ALL_RELEASES:
        return None
    if whose == NONE:
        ui.quiet(
            "Released queries may change their part: a test query can become one that systems are tuned on."
        )
        return []
    known = [name for name in keep or () if name in releases]
    return st.multiselect("Releases whose parts are kept", releases, default=known, key=f"kept {key}")
