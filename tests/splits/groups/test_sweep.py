"""The threshold sweep: the same groups as a search at each threshold."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curation.errors import InputError
from curation.splits.groups.groups import leakage_groups
from curation.splits.groups.sweep import SweepStep, sweep
from curation.splits.inputs import SplitInputs
from curation.splits.rules import Rules
from curation.splits.ties.near_duplicate import LABEL as NEAR_DUPLICATE
from curation.splits.ties.paraphrase import LABEL as PARAPHRASE
from curation.splits.ties.query_text import LABEL as QUERY_TEXT
from curation.splits.ties.search import find_edges
from tests.support import examples

WORDS = ("red", "blue", "green", "shoe", "shoes", "hat")


@st.composite
def split_inputs(draw: st.DrawFn) -> SplitInputs:
    ids = [f"q{number}" for number in range(draw(st.integers(2, 9)))]
    text = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)
    documents = {f"d{number}": draw(text) for number in range(5)}
    relevant = {
        name: draw(st.frozensets(st.sampled_from(sorted(documents)), min_size=1, max_size=2)) for name in ids
    }
    used = frozenset().union(*relevant.values())
    angles = np.array([draw(st.floats(0, 1.5)) for _ in ids])
    return SplitInputs(
        {name: draw(text) for name in ids},
        relevant,
        {name: body for name, body in documents.items() if name in used},
        vectors=np.column_stack((np.cos(angles), np.sin(angles))).astype(np.float32),
    )


@given(split_inputs(), st.booleans())
@settings(max_examples=examples(20))
def test_a_step_says_what_a_search_at_its_threshold_finds(inputs: SplitInputs, shared: bool) -> None:
    rules = Rules(query=0.9, paraphrase=None, document=0.9, shared=shared)
    thresholds = (0.95, 0.8, 0.5, 0.3)
    steps = sweep(inputs, rules, thresholds)
    assert [(step.kind, step.threshold) for step in steps] == [
        (kind, threshold) for kind in (QUERY_TEXT, PARAPHRASE, NEAR_DUPLICATE) for threshold in thresholds
    ]
    options = {QUERY_TEXT: "query", PARAPHRASE: "paraphrase", NEAR_DUPLICATE: "document"}
    for step in steps:
        asked = replace(rules, **{options[step.kind]: step.threshold})
        groups = list(leakage_groups(inputs.queries, find_edges(inputs, asked).edges).values())
        sizes = [groups.count(name) for name in set(groups)]
        assert step[2:] == (len(sizes), max(sizes), max(sizes) / len(groups), sizes.count(1))


def test_components_explode_where_templates_meet() -> None:
    texts = {f"q{number:03}": f"cheap {place} hotel" for number, place in enumerate(PLACES)}
    steps = sweep(SplitInputs(texts, {}, {}), Rules(paraphrase=None), (0.8, 0.6, 0.5, 0.4), [QUERY_TEXT])
    assert [step.largest for step in steps] == [2, 2, 12, 12]
    assert steps[0] == SweepStep(QUERY_TEXT, 0.8, 11, 2, 2 / 12, 10)


PLACES = "berlin bern paris parma rome roma oslo osaka lima linz turin turku".split()


def test_thresholds_that_are_none_are_refused_together() -> None:
    with pytest.raises(
        InputError, match=r"2 is out of range; expected(.|\n)*0\.01 is out of range; expected"
    ):
        sweep(SplitInputs({"a": "x"}, {}, {}), Rules(), (2, 0.01))
    with pytest.raises(InputError, match="no threshold"):
        sweep(SplitInputs({"a": "x"}, {}, {}), Rules(), ())


def test_paraphrases_alone_without_embeddings_are_refused_and_a_kind_named_twice_is_one() -> None:
    inputs = SplitInputs({"a": "red shoe", "b": "usb hub"}, {}, {})
    with pytest.raises(InputError, match="leave --no-paraphrase out"):
        sweep(inputs, Rules(paraphrase=None), (0.8,), [PARAPHRASE])
    assert len(sweep(inputs, Rules(paraphrase=None), (0.8,), [QUERY_TEXT, QUERY_TEXT])) == 1
