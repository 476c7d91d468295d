"""Strata by tag and by a further field of the log, and queries of releases left out."""

from __future__ import annotations

import json

import pytest

from curation.core.characters import normalise_query
from curation.core.digests import digest
from curation.core.errors import InputError, RefusedError
from curation.core.request import DEFAULT_MODEL
from curation.ingest.importers.query_tags import declare_tags
from curation.operations.registry import OPERATIONS
from curation.queries.sampling.draw import draw_sample
from curation.queries.sampling.frame import read_frame
from curation.queries.sampling.requests import DrawRequest, TopUpRequest
from curation.queries.sampling.stored_sample import store_sample
from curation.queries.sampling.strata import Labels, cross_dimensions
from curation.queries.sampling.top_up import top_up
from curation.queries.stored_tags import set_tags
from curation.releases.release_rows import read_released_queries
from curation.store import Store, utc_now
from tests.support.logged import Asked, drawn, log
from tests.support.stored_parts import add_texts


def strata_of(store: Store) -> dict[str, str]:
    """The current sample: text → stratum."""
    return {text: row[0] for text, row in drawn(store).items()}


def release(store: Store, name: str, texts: list[str]) -> None:
    """A release that holds queries of the current sample."""
    with store.transaction() as cursor:
        ids = dict(cursor.execute("SELECT text, query_id FROM queries").fetchall())
        lines = "".join(f"{json.dumps({'query_id': ids[text]})}\n" for text in texts)
        release_id = digest(name)
        cursor.execute("INSERT INTO releases VALUES (?, ?, '{}', ?, 'ada')", [name, release_id, utc_now()])
        add_texts(cursor, release_id, {"queries": lines})


ODD = 'a"b/c~d.$*'


def test_a_query_belongs_to_the_value_that_it_has_most_often_and_ties_to_the_first_by_text(
    store: Store,
) -> None:
    log(
        store,
        [
            Asked("a", 2, metadata={"lang": "fr", ODD: "x"}),
            Asked("A", 3, metadata={"lang": "de"}),
            Asked("b", 1, metadata={"lang": "fr"}),
            Asked("b", 1, metadata={"lang": "de"}),
            Asked("c", 9, metadata={"lang": ""}),
            Asked("c", 1, metadata={"lang": "fr"}),
            Asked("d", 1, metadata={"lang": None}),
            Asked("e", 1, metadata={"lang": "no lang"}),
            Asked("f"),
            Asked("g", 1, metadata={"lang": "all"}),
        ],
    )
    report = draw_sample(store, DrawRequest(7, seed=0, strata=("field:lang",)))
    strata = {normalise_query(text): stratum for text, stratum in strata_of(store).items()}
    assert strata == {
        "a": "de", "b": "de", "c": "fr", "d": "no lang", "e": "lang no lang", "f": "no lang", "g": "lang all",
    }  # fmt: skip
    assert report.parameters["strata"] == ["field:lang"]
    draw_sample(store, DrawRequest(7, seed=0, strata=("band", f"field:{ODD}")))
    assert set(strata_of(store).values()) >= {"head · no " + ODD, "tail · no " + ODD}
    assert any(stratum.endswith("· x") for stratum in strata_of(store).values())


def test_an_unknown_field_is_refused_by_the_names_that_the_traffic_has(store: Store) -> None:
    log(store, [Asked("a", 1, metadata={"lang": "de", "shop": ""})])
    with pytest.raises(
        InputError, match=r"no field 'language'; expected one of 'lang', 'shop'[^§]*--map metadata"
    ):
        draw_sample(store, DrawRequest(1, seed=0, strata=("field:language",)))
    draw_sample(store, DrawRequest(1, seed=0, strata=("field:shop",)))
    assert strata_of(store) == {"a": "no shop"}


def test_a_log_without_further_fields_says_so(store: Store) -> None:
    log(store, [Asked("a")])
    with pytest.raises(InputError, match="the traffic has no additional fields"):
        draw_sample(store, DrawRequest(1, seed=0, strata=("field:lang", "band")))
    with pytest.raises(InputError, match="'field:' is not a dimension of strata"):
        draw_sample(store, DrawRequest(1, seed=0, strata=("field:",)))


def test_two_strata_of_one_name_are_refused() -> None:
    import numpy as np

    first = Labels(np.zeros(1, np.intp), ("a", "a · b"))
    second = Labels(np.zeros(1, np.intp), ("b · c", "c"))
    with pytest.raises(InputError, match="both be called 'a · b · c'"):
        cross_dimensions([first, second])


QUESTIONS = [Asked("how do i return shoes", 5), Asked("what is a boot?", 2), Asked("who made this hat")]
OTHERS = [Asked("red shoes", 9), *(Asked(f"hat {number}") for number in range(6))]


def test_strata_by_tag_are_the_tag_and_not_the_tag_crossed_like_others(store: Store) -> None:
    log(store, QUESTIONS + OTHERS)
    report = draw_sample(store, DrawRequest(10, seed=0, strata=("tag:question", "length")))
    assert [stratum.name for stratum in report.strata] == [
        f"{kind} · {length}"
        for kind in ("question", "not question")
        for length in ("short", "medium", "long")
    ]
    strata = strata_of(store)
    assert strata["how do i return shoes"] == "question · medium"
    assert strata["red shoes"] == "not question · short"
    assert report.parameters["model"] == DEFAULT_MODEL
    assert sum(name.startswith("question") for name in strata.values()) == 3


def test_a_persons_word_moves_a_query_to_another_stratum(store: Store) -> None:
    log(store, QUESTIONS + OTHERS)
    draw_sample(store, DrawRequest(10, seed=0))
    set_tags(store, "red shoes", ["question"], [])
    set_tags(store, "who made this hat", [], ["question"])
    draw_sample(store, DrawRequest(10, seed=0, strata=("tag:question",)))
    assert {text for text, stratum in strata_of(store).items() if stratum == "question"} == {
        "how do i return shoes", "what is a boot?", "red shoes",
    }  # fmt: skip
    draw_sample(store, DrawRequest(10, seed=0, strata=("tag:unanswerable",)))
    assert set(strata_of(store).values()) == {"not unanswerable"}


def test_an_unknown_tag_is_refused_and_a_tag_of_ones_own_makes_strata_and_top_ups(store: Store) -> None:
    log(store, QUESTIONS + OTHERS)
    with pytest.raises(InputError, match="no tag 'qestion'; did you mean 'question'"):
        draw_sample(store, DrawRequest(1, seed=0, strata=("tag:qestion",)))
    by_tag = ("tag:shop-talk",)
    with store.reading() as cursor, pytest.raises(InputError, match="goldgrade tags --declare"):
        OPERATIONS["sample"].check(cursor, DrawRequest(1, strata=by_tag))
    declare_tags(store, ["shop-talk", "traffic"])
    draw_sample(store, DrawRequest(10, seed=0))
    set_tags(store, "red shoes", ["shop-talk"], [])
    first = draw_sample(store, DrawRequest(3, seed=0, strata=by_tag))
    assert {text for text, stratum in strata_of(store).items() if stratum == "shop-talk"} == {"red shoes"}
    more = top_up(store, TopUpRequest(size=5))
    assert (more.size, more.parameters["tops_up"]) == (5, first.sample_id)
    named = draw_sample(store, DrawRequest(2, seed=0, strata=("tag:traffic",)))
    assert [stratum.name for stratum in named.strata] == ["tag traffic", "not traffic"]


def test_the_same_draw_has_the_id_that_it_had_when_rules_used_a_model(store: Store) -> None:
    log(store, QUESTIONS + OTHERS)
    report = draw_sample(store, DrawRequest(4, seed=1, strata=("tag:question",)))
    assert report.sample_id == "fbd2b3cd3e98396953025132fa09092d"


def test_a_tag_that_was_added_while_the_sample_was_drawn_stops_it(store: Store) -> None:
    log(store, QUESTIONS + OTHERS)
    before = draw_sample(store, DrawRequest(10, seed=0))
    frame = read_frame(store, DrawRequest(seed=0, strata=("tag:question",)))
    plain = read_frame(store, DrawRequest(seed=0))
    set_tags(store, "red shoes", ["question"], [])
    parameters = before.parameters | {"strata": ["tag:question"]}
    with pytest.raises(RefusedError, match="a tag or a corpus was added"):
        store_sample(store, parameters, before.strata, [], frame.state)
    assert store_sample(store, before.parameters, before.strata, [], plain.state).added == 0


def test_queries_of_releases_can_be_left_out(store: Store) -> None:
    log(store, [Asked(text, 2) for text in ("first", "second", "both", "neither")])
    draw_sample(store, DrawRequest(4, seed=0))
    release(store, "v1", ["first", "both"])
    release(store, "v2", ["second", "both"])

    request = DrawRequest(1, seed=0, exclude_released=True)
    with pytest.raises(RefusedError, match="A release was added while the sample was being drawn"):
        draw_sample(store, request)
    report = draw_sample(store, request, released=read_released_queries(store))
    assert set(strata_of(store)) == {"neither"}
    assert report.left_out == {"of 3 queries that are already in a release": 3}
    assert report.parameters["exclude_released"] is True
