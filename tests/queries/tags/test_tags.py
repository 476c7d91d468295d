"""Tags as the project keeps them: rules, people's word over them, files, lists, written queries."""

from __future__ import annotations

import pytest

from curation.core.errors import InputError, NotFoundError, RefusedError
from curation.ingest.importers.queries import make_query_id, read_active_queries
from curation.ingest.importers.query_import import import_queries
from curation.ingest.importers.query_tags import TagStatement, append_tags
from curation.labeling.requests import RoundRequest
from curation.labeling.rounds.create_round import open_round
from curation.people.accounts import add_annotator
from curation.pooling.pool import build_pool
from curation.pooling.request import PoolRequest
from curation.queries.new_query import write_query
from curation.queries.sampling.draw import draw_sample
from curation.queries.sampling.requests import DrawRequest, TopUpRequest
from curation.queries.sampling.top_up import top_up
from curation.queries.stored_tags import read_tagged_queries, set_tags
from curation.queries.tag_rules import find_tags, match_tag
from curation.queries.unanswerable import count_unanswerable
from curation.store import append, put_setting
from tests.support.projects import rows_of


@pytest.fixture
def asked(store, write):
    """A project with four queries."""
    text = "id,query\n1,how to clean a keyboard\n2,keybord\n3,usb hub\n4,acme kettle\n"
    import_queries(store, write("q.csv", text))
    return store


def tags_by_id(store):
    return {query.query_id: query.tags for query in read_tagged_queries(store)}


def all_rows(store):
    return rows_of(store, "SELECT * FROM query_tags ORDER BY ALL")


def test_the_rules_tag_the_queries_in_force(asked):
    found = find_tags(asked)
    assert found.queries == 4
    assert {tag: count for tag, count in found.tags.items() if count} == {"question": 1, "short": 3}
    assert tags_by_id(asked) == {
        "1": {"question": False},
        "2": {"short": False},
        "3": {"short": False},
        "4": {"short": False},
    }


def test_finding_tags_twice_appends_nothing(asked):
    assert find_tags(asked).changed == 4
    before = all_rows(asked)
    assert find_tags(asked).changed == 0
    assert all_rows(asked) == before


def test_a_tag_that_no_longer_holds_is_taken_away_and_one_without_a_rule_stays(asked):
    with asked.transaction() as cursor:
        earlier = [TagStatement("1", "short", True), TagStatement("2", "misspelling", True)]
        append_tags(cursor, earlier, by_person=False, author="rules 0")
    found = find_tags(asked)
    assert tags_by_id(asked)["1"] == {"question": False}
    assert tags_by_id(asked)["2"] == {"short": False, "misspelling": False}
    assert found.tags["misspelling"] == 1
    assert match_tag(asked, "misspelling", ["keybord"]).tolist() == [False], "strata rest on people's tags"


def test_without_queries_there_is_nothing_to_tag(store):
    with pytest.raises(RefusedError, match="goldgrade queries add"):
        find_tags(store)


@pytest.mark.slow
def test_a_persons_word_stands_over_the_rules_before_and_after(asked):
    set_tags(asked, "usb hub", ["temporal"], ["short"], "ada")
    found = find_tags(asked)
    assert found.by_person == 2
    assert tags_by_id(asked)["3"] == {"temporal": True}
    set_tags(asked, "3", ["short"], ["temporal"])
    assert tags_by_id(asked)["3"] == {"short": True}
    assert match_tag(asked, "short", ["usb hub", "a b c"]).tolist() == [True, False]


@pytest.mark.slow
def test_texts_are_tagged_by_rule_unless_people_said_otherwise(asked):
    texts = ["keybord", "how to clean a keyboard", "usb hub"]
    assert match_tag(asked, "short", texts).tolist() == [True, False, True]
    set_tags(asked, "keybord", ["misspelling"], ["short"])
    assert match_tag(asked, "short", texts).tolist() == [False, False, True]
    assert match_tag(asked, "misspelling", texts).tolist() == [True, False, False]
    assert match_tag(asked, "long", []).tolist() == []


@pytest.mark.slow
def test_saying_the_same_again_appends_nothing(asked):
    assert set_tags(asked, "1", ["multi-hop"], ["entity"]).added == [("1", "multi-hop")]
    before = all_rows(asked)
    again = set_tags(asked, "1", ["multi-hop"], ["entity"])
    assert (again.added, again.removed, again.unchanged) == ([], [], 2)
    assert all_rows(asked) == before


def test_a_correction_is_a_new_revision_and_an_event(asked):
    set_tags(asked, "1", ["multi-hop"], [], "ada")
    set_tags(asked, "1", [], ["multi-hop"], "bo")
    rows = [(row[2], row[3], row[4], row[5]) for row in all_rows(asked)]
    assert rows == [(1, True, True, "ada"), (2, False, True, "bo")]
    actors = rows_of(asked, "SELECT actor FROM events WHERE action = 'tags set'")
    assert sorted(actors) == [("ada",), ("bo",)]


@pytest.mark.parametrize(
    ("query", "add", "remove", "kind", "told"),
    [
        ("1", ["musical"], [], InputError, "no tag 'musical'.*\nTags: question, temporal"),
        ("1", ["long"], ["long"], InputError, "both added and removed"),
        ("1", [], [], InputError, "No tag was named"),
        ("nobody asked this", ["long"], [], NotFoundError, "No query has the id or text"),
    ],
)
def test_what_cannot_be_said_is_refused(asked, query, add, remove, kind, told):
    with pytest.raises(kind, match=told):
        set_tags(asked, query, add, remove)
    assert all_rows(asked) == []


def sample_of(store, *ids):
    with store.transaction() as cursor:
        drawn = {"query_id": list(ids), "stratum": ["head"] * len(ids), "traffic": [1] * len(ids)}
        more = {"sample_id": ["s"] * len(ids), "inclusion_probability": [1.0] * len(ids)}
        append(cursor, "sample_queries", {**drawn, **more})
        put_setting(cursor, "sample", "s")


def share(store):
    with store.reading() as cursor:
        return count_unanswerable(cursor)


@pytest.mark.slow
def test_the_unanswerable_share_is_unknown_until_a_failure_mode_is_tagged(asked):
    assert share(asked) is None
    sample_of(asked, "1", "2", "3")
    set_tags(asked, "4", ["unanswerable"], [])
    set_tags(asked, "1", ["long"], [])
    assert share(asked) is None
    set_tags(asked, "1", ["multi-hop"], [])
    assert share(asked) == (0, 3)
    set_tags(asked, "2", ["unanswerable", "adversarial"], [])
    assert share(asked) == (1, 3)


def test_lists_show_stratum_and_who_said_each_tag_and_can_be_narrowed(asked):
    sample_of(asked, "3")
    find_tags(asked)
    set_tags(asked, "3", ["unanswerable"], [])
    (found,) = read_tagged_queries(asked, "unanswerable")
    assert found == ("3", "usb hub", "head", {"short": False, "unanswerable": True}, False)
    with pytest.raises(InputError, match="no tag"):
        read_tagged_queries(asked, "funny")


@pytest.mark.slow
def test_a_written_query_comes_with_its_tags_or_not_at_all(asked):
    added = write_query(asked, "Who repairs phones in space?", tags=["unanswerable"], author="ada")
    assert tags_by_id(asked)[added.query_id] == {"unanswerable": True}
    with asked.reading() as cursor:
        before = read_active_queries(cursor)
    with pytest.raises(InputError, match="no tag"):
        write_query(asked, "another one", tags=["funny"])
    with asked.reading() as cursor:
        assert read_active_queries(cursor) == before
    assert added.query_id == make_query_id("who repairs phones in space?")


def test_several_queries_are_tagged_at_once_or_none_is(asked):
    with pytest.raises(NotFoundError, match="'no such', 'nor this'"):
        set_tags(asked, ["1", "no such", "2", "nor this"], ["multi-hop"], [])
    assert not read_tagged_queries(asked, "multi-hop")
    said = set_tags(asked, ["1", "2", "1"], ["multi-hop"], ["entity"])
    assert said.added == [("1", "multi-hop"), ("2", "multi-hop")]
    assert said.removed == [("1", "entity"), ("2", "entity")]
    assert rows_of(asked, "SELECT count(*) FROM events WHERE action = 'tags set'") == [(1,)]
    with pytest.raises(InputError, match="No query was named"):
        set_tags(asked, [], ["multi-hop"], [])


def test_only_a_lead_changes_what_is_judged_whatever_page_asks(asked):
    add_annotator(asked, "ann", "annotator", "correct horse battery")
    deeds = [
        lambda: set_tags(asked, "1", ["multi-hop"], [], "ann", "ann"),
        lambda: write_query(asked, "a new one", author="ann", actor="ann"),
        lambda: find_tags(asked, author="ann"),
        lambda: draw_sample(asked, DrawRequest(1, 0), author="ann"),
        lambda: top_up(asked, TopUpRequest(size=1), author="ann"),
        lambda: build_pool(asked, PoolRequest(["bm25"], 1, 0, 0), author="ann"),
        lambda: open_round(asked, RoundRequest("first", ["ann"], overlap=1), author="ann"),
    ]
    for deed in deeds:
        with pytest.raises(RefusedError, match="This action needs the role lead; ann is annotator"):
            deed()
