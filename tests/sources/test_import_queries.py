"""The import of queries, and which queries are to be judged."""

from __future__ import annotations

import pytest

from curation.errors import InputError
from curation.sources.queries import QueryFields, active_queries, import_queries, query_id_of
from curation.sources.records import Layout
from curation.store import append, put_setting
from curation.store.rows import Query


def _active(store):
    with store.reading() as cursor:
        return active_queries(cursor)


def _add_sample(store, sample_id, *texts):
    """A sample that was drawn from traffic, as the sampling room stores it."""
    ids = [query_id_of(text) for text in texts]
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
    with store.reading() as cursor:
        assert cursor.execute("SELECT metadata FROM queries").fetchall() == [('{"type":"head"}',)]


def test_without_an_id_the_normalised_text_makes_it(store, write):
    result = import_queries(store, write("q.csv", "query\nred shoes\nRED   shoes\nhat\n\n"))
    assert result.left_out == {"the same query again": 1, "empty query": 1}
    assert {query.query_id for query in _active(store)} == {query_id_of("red shoes"), query_id_of("hat")}
    assert query_id_of("red shoes").startswith("q")
    assert len(query_id_of("red shoes")) == 13


def test_a_beir_folder_is_imported_as_it_is(store, write, tmp_path):
    write("queries.jsonl", [{"_id": "1", "text": "a", "metadata": {}}])
    assert import_queries(store, tmp_path).added == 1


def test_importing_the_same_queries_again_changes_nothing(store, write, contents):
    rows = [{"id": "1", "query": "a", "information_need": "n", "x": 1.5}, {"id": "2", "query": "b"}]
    import_queries(store, write("q.jsonl", rows))
    before = contents()
    again = import_queries(store, write("q.jsonl", rows))
    assert (again.added, again.changed, again.unchanged) == (0, 0, 2)
    assert contents() == before


def test_a_new_information_need_is_taken_and_silence_takes_nothing_away(store, write):
    import_queries(store, write("q.csv", "id,query,information_need\n1,a,old\n2,b,\n"))
    result = import_queries(store, write("q2.csv", "id,query,information_need\n1,a,new\n2,b,\n"))
    assert (result.changed, result.unchanged) == (1, 1)
    assert import_queries(store, write("q3.csv", "id,query\n1,a\n")).changed == 0
    assert [query.information_need for query in _active(store)] == ["new", None]


def test_active_are_the_current_sample_and_all_imported_queries(store, write):
    _add_sample(store, "older", "old")
    _add_sample(store, "newer", "drawn")
    import_queries(store, write("q.csv", "query\nimported\n"))
    assert {query.text for query in _active(store)} == {"drawn", "imported"}


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
        ("q.csv", "id,name\n1,a\n", ["the query's text: name it with --text-field", "'id', 'name'"]),
        ("q.csv", "id,query\n1,\n", ["no query could be taken from it: 1 empty query"]),
        ("q.jsonl", '{"text": "a"}\nbroken\n', ["line 2: broken JSON"]),
        (".", None, ["is a folder without queries.jsonl"]),
    ],
)
def test_bad_input_is_refused_in_sentences_and_changes_nothing(
    store, write, contents, tmp_path, name, content, sentences
):
    import_queries(store, write("given.csv", "id,query\n9,mine\n"))
    before = contents()
    path = tmp_path if content is None else write(name, content)
    with pytest.raises(InputError) as refused:
        import_queries(store, path)
    for sentence in sentences:
        assert sentence in str(refused.value)
    assert contents() == before


def test_trec_topics_are_imported_as_they_are(store, shared):
    layout = Layout(columns=("id", "text"), header=False)
    result = import_queries(store, shared / "touche2020" / "topics.tsv.gz", layout=layout)
    assert (result.queries, result.added) == (49, 49)
    assert _active(store)[0].text == "Should teachers get tenure?"
