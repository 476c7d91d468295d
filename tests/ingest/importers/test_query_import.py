"""The import of queries, and which queries are to be judged."""

from __future__ import annotations

import pytest

from curation.core.errors import InputError, RefusedError
from curation.ingest.importers.known_queries import KnownQueries
from curation.ingest.importers.queries import add_query, make_query_id, read_active_queries
from curation.ingest.importers.query_import import import_queries
from curation.ingest.readers.fields import QueryFields
from curation.store import append, put_setting
from curation.store.row_types import Query
from tests.support.projects import all_rows, rows_of


def _active(store):
    with store.reading() as cursor:
        return read_active_queries(cursor)


def _add_sample(store, sample_id, *texts):
    """A sample that was drawn from traffic, as the sampling room stores it."""
    ids = [make_query_id(text) for text in texts]
    with store.transaction() as cursor:
        columns = {"query_id": ids, "text": list(texts), "normalised": list(texts)}
        append(
            cursor, "queries", {**columns, "source": ["traffic"] * len(ids), "metadata": ["{}"] * len(ids)}
        )
        drawn = {"query_id": ids, "stratum": ["head"] * len(ids), "traffic": [1] * len(ids)}
        append(
            cursor,
            "sample_queries",
            {"sample_id": [sample_id] * len(ids), **drawn, "inclusion_probability": [1.0] * len(ids)},
        )
        put_setting(cursor, "sample", sample_id)


def test_queries_keep_their_ids_needs_and_other_fields(store, write):
    path = write("q.jsonl", [{"_id": 3, "text": "Red  Shoes", "narrative": "to run", "type": "head"}])
    result = import_queries(store, path)
    assert result.fields == QueryFields("_id", "text", "narrative")
    assert _active(store) == [Query("3", "Red  Shoes", "red shoes", "imported", "to run")]
    assert rows_of(store, "SELECT metadata FROM queries") == [('{"type":"head"}',)]


def test_without_an_id_the_normalised_text_makes_it(store, write):
    result = import_queries(store, write("q.csv", "query\nred shoes\nRED   shoes\nhat\n\n"))
    assert result.left_out == {"repeated query": 1, "empty query": 1}
    assert {query.query_id for query in _active(store)} == {make_query_id("red shoes"), make_query_id("hat")}
    assert make_query_id("red shoes").startswith("q")
    assert len(make_query_id("red shoes")) == 13


def test_a_new_information_need_is_taken_and_silence_takes_nothing_away(store, write):
    import_queries(store, write("q.csv", "id,query,information_need\n1,a,old\n2,b,\n"))
    result = import_queries(store, write("q2.csv", "id,query,information_need\n1,a,new\n2,b,\n"))
    assert (result.changed, result.unchanged) == (1, 1)
    assert import_queries(store, write("q3.csv", "id,query\n1,a\n")).changed == 0
    assert [query.information_need for query in _active(store)] == ["new", None]


def test_a_query_known_from_traffic_stays_active_once_it_is_imported(store, write):
    _add_sample(store, "older", "old")
    _add_sample(store, "newer", "drawn")
    result = import_queries(store, write("q.csv", "query\nold\n"))
    assert (result.added, result.changed) == (0, 1)
    assert {query.text for query in _active(store)} == {"drawn", "old"}


@pytest.mark.parametrize(
    ("name", "content", "sentences"),
    [
        ("q.csv", "id,query\n1,a\n1,b\n", ["line 3: query '1' has the text 'b', but 'a' on line 2"]),
        (
            "q.csv",
            "id,query\n9,other\n",
            ["line 2: query '9' has the text 'other', but 'mine' in the project"],
        ),
        ("q.csv", "id,name\n1,a\n", ["the query's text: name it with --map text=COLUMN", "'id', 'name'"]),
        ("q.csv", "id,query\n1,\n", ["no query could be read from the file: 1 empty query"]),
    ],
)
def test_bad_input_is_refused_in_sentences_and_changes_nothing(
    store, write, refused, name, content, sentences
):
    import_queries(store, write("given.csv", "id,query\n9,mine\n"))
    message = str(refused(import_queries, write(name, content)))
    assert [sentence for sentence in sentences if sentence not in message] == []


def test_a_sampled_query_that_a_file_brings_with_an_id_stays_one_query_under_both_ids(store, write):
    _add_sample(store, "now", "alpha beta", "gamma")
    row = {"_id": "42", "text": "Alpha  Beta", "narrative": "the first letters", "topic": "greek"}
    result = import_queries(store, write("q.jsonl", [row, {"_id": "43", "text": "delta"}]))
    sampled = make_query_id("alpha beta")
    assert (result.added, result.changed, result.known_as) == (1, 1, {"42": sampled})
    with store.reading() as cursor:
        rows = cursor.execute("SELECT query_id, information_need, source FROM queries").fetchall()
        known = KnownQueries.read(cursor)
    assert sorted(rows) == sorted(
        [
            (sampled, "the first letters", "imported"),
            (make_query_id("gamma"), None, "traffic"),
            ("43", None, "imported"),
        ]
    )
    assert known.find("42") == known.find(sampled) == known.find("ALPHA beta")
    assert known.metadata[sampled] == '{"other_ids":["42"],"topic":"greek"}'
    before = all_rows(store)
    again = import_queries(store, write("q.jsonl", [row]))
    assert (again.added, again.changed, again.unchanged, again.known_as) == (0, 0, 1, {"42": sampled})
    assert all_rows(store) == before


def test_a_file_without_ids_finds_the_query_that_another_gave_an_id(store, write):
    import_queries(store, write("q.csv", "id,query\n17,shoes\n"))
    result = import_queries(store, write("texts.csv", "query\nShoes\n"))
    assert (result.added, result.unchanged, result.known_as) == (0, 1, {})
    assert [query.query_id for query in _active(store)] == ["17"]


def test_texts_that_have_the_id_of_another_source_are_refused_all_at_once(store, write, refused):
    _add_sample(store, "now", "gamma")
    import_queries(store, write("q.csv", "id,query\n17,alpha\n18,beta\n"))
    sampled = make_query_id("gamma")
    path = write("r.csv", "id,query\n1,alpha\n2,Beta\n3,gamma\n4,Gamma\n5,new\n")
    error = refused(import_queries, path)
    assert error.problems == [
        "line 2: query '1' has the text 'alpha', which the project already has as '17'",
        "line 3: query '2' has the text 'Beta', which the project already has as '18'",
        f"line 5: query '4' has the text 'Gamma' like line 4, which the project already has as {sampled!r}",
    ]
    assert "Give these queries the ids that they have in the project" in str(error)


def test_an_other_id_of_a_query_belongs_to_its_text(store, write):
    _add_sample(store, "now", "alpha")
    import_queries(store, write("q.csv", "id,query\n42,alpha\n"))
    with pytest.raises(InputError, match="query '42' has the text 'beta', but 'alpha' in the project"):
        import_queries(store, write("q.csv", "id,query\n42,beta\n"))


def test_one_file_may_tell_two_queries_of_the_same_text_apart(store, write):
    content = "id,query,narrative\n1,jaguar,the cat\n2,Jaguar,the car\n"
    assert import_queries(store, write("q.csv", content)).added == 2
    assert import_queries(store, write("q.csv", content)).unchanged == 2


def test_texts_and_ids_lose_the_white_space_around_them(store, write):
    import_queries(store, write("q.jsonl", [{"_id": " 7 ", "text": "\u00a0 padded query \n"}]))
    assert _active(store) == [Query("7", "padded query", "padded query", "imported")]


def _add(store, *arguments):
    with store.transaction() as cursor:
        return add_query(cursor, *arguments)


def test_a_written_query_is_in_force_with_the_id_of_its_text(store):
    added = _add(store, "  Red  Shoes ", None, "to run")
    assert added == Query(make_query_id("red shoes"), "Red  Shoes", "red shoes", "written", "to run")
    assert _active(store) == [added]
    assert _add(store, "hat", "h1").query_id == "h1"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("mail ada@example.org",), "query contains personal data (email)"),
        (("shoes", None, "call +44 20 7946 0958"), "information need contains personal data (phone)"),
        (("shoes", "ada@example.org"), "id contains an e-mail address"),
        (("sho\udcff es",), "query is not UTF-8 text"),
        (("shoes", "\udcff"), "id is not UTF-8 text"),
        (("  ",), "query is empty"),
    ],
)
def test_a_written_query_without_text_or_with_personal_data_is_refused(refused, arguments, sentence):
    assert sentence in str(refused(_add, *arguments))


def test_a_written_query_that_the_project_holds_is_refused_by_its_id(store, write):
    import_queries(store, write("q.jsonl", [{"id": "7", "query": "red shoes"}]))
    _add_sample(store, "s", "usb hub")
    with pytest.raises(RefusedError, match=r"as query '7'\.$"):
        _add(store, "RED shoes")
    with pytest.raises(RefusedError, match="drawn from traffic"):
        _add(store, "usb hub")
    with pytest.raises(RefusedError, match="'7' already belongs to the query 'red shoes'"):
        _add(store, "hat", "7")
