"""Spellings of one query are grouped; queries that differ in what matters never are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.core.characters import normalise_query
from curation.core.errors import RefusedError
from curation.core.similarity.shingles import character_shingles, jaccard
from curation.queries.sampling.draw import draw_sample
from curation.queries.sampling.requests import DrawRequest
from curation.queries.sampling.spellings import (
    THRESHOLD,
    classify_difference,
    find_essentials,
    group_spellings,
)
from tests.support.logged import drawn, log

SAME = [
    ("receive data from socket", "recieve data from socket"),
    ("iphone 14 leather case", "iphone 14 leather cases"),
    ("abarajah's homepage", "abarajah's home page"),
    ("victoria's secret", '"victoria\'s secret"'),
    ("e-mail account settings", "email account settings"),
    ("colour laser printers", "color laser printers"),
    ("no-iron cotton shirt", "no-iron cotton shirts"),
]
DIFFERENT = [
    ("iphone 14 leather case", "iphone 13 leather case"),
    ("hp laserjet p1102w toner", "hp laserjet p1102 toner"),
    ("patch cable 2.0m beige", "patch cable 20m beige"),
    ("40mm leather strap", "40 mm leather strap"),
    ("shoes with laces for children", "shoes without laces for children"),
    ("why does python not import", "why does python now import"),
    ("why can't python import this", "why can python import this"),
    ("nonstick frying pan set", "non-stick frying pan set"),
    ("jaguar -car habitat", "jaguar car habitat"),
    ("sort a vector of strings in c++", "sort a vector of strings in c"),
    ("womens running shoes", "mens running shoes"),
    ("legal advice for a landlord", "illegal advice for a landlord"),
    ("toys for my little cat", "toys for my little car"),
    ("list to string conversion", "string to list conversion"),
    ("www.free.com/sports", "www.freep.com/sports"),
    ("export certificate chain", "import certificate chain"),
    ("vitamin a deficiency signs", "vitamin d deficiency signs"),
]
QUERIES = st.lists(
    st.tuples(
        st.sampled_from(["no ", "", "without "]),
        st.sampled_from(["running", "runing", "runnings", "run ning"]),
        st.sampled_from([" 1", " 12", " x1", ""]),
        st.sampled_from([" shoes", " shoe", " shoos", " c++", ""]),
    ).map("".join),
    max_size=20,
    unique=True,
)


def grouped(*asked):
    """The groups of (query, traffic) as spelling → leader."""
    queries, traffic = zip(*asked, strict=True)
    leaders = group_spellings(queries, np.array(traffic))
    return {
        query: queries[leader]
        for query, leader in zip(queries, leaders, strict=True)
        if query != queries[leader]
    }


@pytest.mark.parametrize(("often", "seldom"), SAME)
def test_a_slip_is_grouped_under_the_most_asked_spelling(often, seldom):
    assert grouped((seldom, 1), (often, 9)) == {seldom: often}


@pytest.mark.parametrize(("first", "second"), DIFFERENT)
def test_numbers_models_negations_signs_and_other_words_are_never_grouped(first, second):
    assert grouped((first, 100), (second, 1)) == {}
    assert grouped((first, 1), (second, 100)) == {}


def test_two_common_words_are_two_words():
    assert grouped(("rocking horse for children", 90), ("rocking house for children", 80)) == {}


def test_no_chain_joins_what_is_unlike_its_leader():
    chain = [("printer cartridge", 100), ("printer cartridgs", 40), ("printor cartridgs", 10)]
    assert grouped(*chain) == {"printer cartridgs": "printer cartridge"}


def test_short_texts_need_more_likeness_than_a_letter_changed_in_their_middle():
    assert classify_difference("medical", "medikal") == "letter"
    assert grouped(("medical", 90), ("medikal", 1)) == {}


@given(QUERIES, st.randoms(use_true_random=False), st.data())
def test_traffic_stays_numbers_stay_and_the_order_of_the_queries_changes_nothing(queries, order, data):
    traffic = np.array(
        data.draw(st.lists(st.integers(1, 50), min_size=len(queries), max_size=len(queries))), int
    )
    groups = group_spellings(queries, traffic)
    assert (groups[groups] == groups).all()
    for query, leader in zip(queries, (queries[leader] for leader in groups), strict=True):
        assert find_essentials(query) == find_essentials(leader)
        assert query == leader or jaccard(character_shingles(query), character_shingles(leader)) >= THRESHOLD
    shuffled = list(range(len(queries)))
    order.shuffle(shuffled)
    again = group_spellings([queries[place] for place in shuffled], traffic[shuffled])
    found = {queries[place]: queries[shuffled[leader]] for place, leader in zip(shuffled, again, strict=True)}
    assert found == {query: queries[leader] for query, leader in zip(queries, groups, strict=True)}


@pytest.mark.slow
def test_no_pair_of_the_excite_log_is_missed(shared):
    """Against all pairs compared one by one, by the same rules and without the search."""
    lines = (shared / "excite_log" / "excite-small.log").read_text(encoding="utf-8").splitlines()
    asked: dict[str, int] = {}
    for line in lines:
        query = normalise_query(line.split("\t")[2])
        asked[query] = asked.get(query, 0) + 1
    del asked[""]
    queries = sorted(asked, key=lambda query: (-asked[query], query))[:1_000]
    keys = [find_essentials(query) for query in queries]
    expected: dict[str, str] = {}
    for rank, query in enumerate(queries):
        if query in expected:
            continue
        for other, essential in zip(queries[rank + 1 :], keys[rank + 1 :], strict=True):
            if essential != keys[rank] or other in expected or abs(len(other) - len(query)) > 8:
                continue
            how = classify_difference(query, other)
            alike = how == "form" or (how == "letter" and 2 * asked[other] <= asked[query])
            if alike and jaccard(character_shingles(query), character_shingles(other)) >= THRESHOLD:
                expected[other] = query
    assert len(expected) > 10
    assert grouped(*((query, asked[query]) for query in queries)) == expected


ROWS = [("Sheet Music", 2), ("sheet music", 3), ("sheet musci", 1), ("sheet  musics", 2), ("blind date", 4)]


def test_a_group_is_drawn_once_in_its_leaders_most_frequent_spelling_with_all_its_traffic(store):
    log(store, ROWS)
    report = draw_sample(store, DrawRequest(2, seed=1))
    assert (report.grouped, report.parameters["group_spellings"]) == (2, True)
    traffic = {text: row[1] for text, row in drawn(store).items()}
    assert traffic == {"blind date": 4, "sheet music": 8}
    assert sum(stratum.traffic for stratum in report.strata) == 12
    with pytest.raises(
        RefusedError, match="asked for 3 queries, but the traffic has only 2 distinct queries"
    ):
        draw_sample(store, DrawRequest(3, seed=1))


def test_without_grouping_each_spelling_is_a_query(store):
    log(store, ROWS)
    report = draw_sample(store, DrawRequest(4, seed=1, group_spellings=False))
    assert (report.grouped, sum(stratum.population for stratum in report.strata)) == (0, 4)
