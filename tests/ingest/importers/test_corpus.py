"""The import of documents."""

from __future__ import annotations

import csv
import io
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from curation.core.errors import InputError, RefusedError
from curation.ingest.importers import corpus as corpus_module
from curation.ingest.importers.corpus import import_corpus
from curation.ingest.importers.corpus_documents import build_document, build_document_table, drop_group
from curation.ingest.importers.corpus_snapshots import compute_snapshot_id, read_known_versions, write_corpus
from curation.ingest.readers.fields import CorpusFields
from curation.store.documents import current_corpus, current_snapshot, documents_by_hash
from tests.support import examples
from tests.support.projects import all_rows, documents_in_force, new_project, rows_of

TWO = [{"id": "a", "title": "A", "text": "one", "colour": "red"}, {"id": "b", "title": "B", "text": "two"}]


def test_named_fields_are_kept_as_such_and_the_rest_as_metadata(store, write):
    record = {
        "key": 7,
        "head": "T",
        "p": "first",
        "points": ["x", "y"],
        "link": "u",
        "day": "2024",
        "line": "g",
    }
    fields = CorpusFields("key", "head", ("p", "points"), "link", "day", "line")
    result = import_corpus(
        store, write("c.jsonl", [{**record, "price": 3, "tags": {"b": 1, "a": None}}]), fields
    )
    (document,) = documents_in_force(store)
    assert document[0] == "7"
    assert document[2:7] == ("T", "first\nx\ny", "u", "2024", "g")
    assert document[7:] == ('{"line":"g","price":3,"tags":{"a":null,"b":1}}',)
    assert result.fields == fields


def test_a_document_from_before_the_group_was_metadata_keeps_its_version(store, write):
    """A new version would put aside all its grades."""
    path = write("c.jsonl", [{"id": "a", "text": "one", "line": "g", "price": 3}])
    fields = CorpusFields(group="line")
    used = CorpusFields("id", None, ("text",), group="line")
    older = drop_group(build_document({"id": "a", "text": "one", "line": "g", "price": 3}, used), "line")
    assert older.metadata == '{"price":3}'
    with store.transaction(appends=True) as cursor:
        known = read_known_versions(cursor)
        write_corpus(
            cursor, known, {"a": older.content_hash}, [build_document_table([older])], "c.jsonl", False
        )
    assert not import_corpus(store, path, fields).is_new


def test_usual_names_are_found_and_explicit_ones_win(store, write):
    path = write("c.csv", "id,_id,title,name,text\n1,2,t,n,x\n")
    assert import_corpus(store, path).fields == CorpusFields("_id", "title", ("text",))
    assert import_corpus(store, path, CorpusFields(id="id", title="name")).fields.title == "name"
    assert [(d.document_id, d.title) for d in documents_in_force(store)] == [("1", "n")]


def test_a_beir_folder_is_imported_as_it_is(store, write, tmp_path):
    write("corpus.jsonl", [{"_id": "9", "title": "T", "text": "x", "metadata": {"url": "u"}}])
    import_corpus(store, tmp_path)
    assert documents_in_force(store)[0].text == "T\nx"
    source = rows_of(store, "SELECT source FROM corpus_snapshots")
    assert source == [(f"{tmp_path.name}/corpus.jsonl",)]


def test_the_snapshot_does_not_depend_on_the_order_or_the_format_of_the_file(store, write):
    first = import_corpus(store, write("c.jsonl", [{"id": "a", "text": "A"}, {"id": "b", "text": "B"}]))
    assert not import_corpus(store, write("c.csv", "text,id\nB,b\nA,a\n")).is_new
    with store.reading() as cursor:
        assert current_snapshot(cursor) == first.snapshot
        corpus = current_corpus(cursor)
    versions = dict(zip(corpus.ids, corpus.hashes.to_pylist(), strict=True))
    assert compute_snapshot_id(versions) == first.snapshot


def test_a_changed_document_makes_a_new_snapshot_and_the_old_one_stays(store, write):
    first = import_corpus(store, write("c.jsonl", TWO))
    old = {document.content_hash: document for document in documents_in_force(store)}
    new = [{**TWO[0], "text": "changed"}, {"id": "c", "title": "C"}, {"id": "d", "title": "D"}]
    second = import_corpus(store, write("c2.jsonl", new))
    assert (second.added, second.changed, second.removed, second.unchanged) == (2, 1, 1, 0)
    assert [document.document_id for document in documents_in_force(store)] == ["a", "c", "d"]
    with store.reading() as cursor:
        assert documents_by_hash(cursor, old) == old
        assert documents_by_hash(cursor, ["no such hash"]) == {}
        count = cursor.execute("SELECT count(*) FROM documents").fetchone()
        snapshots = cursor.execute(
            "SELECT snapshot_id, count(*) FROM snapshot_documents GROUP BY ALL ORDER BY count(*)"
        ).fetchall()
    assert count == (5,)
    assert snapshots == [(first.snapshot, 2), (second.snapshot, 3)]


def test_going_back_to_an_older_file_brings_its_snapshot_back_into_force(store, write):
    first = import_corpus(store, write("c.jsonl", TWO))
    import_corpus(store, write("c2.jsonl", TWO[:1]))
    before = all_rows(store)
    back = import_corpus(store, write("c.jsonl", TWO))
    assert (back.is_new, back.snapshot) == (True, first.snapshot)
    after = all_rows(store)
    assert after["snapshot_documents"] == before["snapshot_documents"]
    assert after["documents"] == before["documents"]


def test_add_extends_the_corpus_in_force(store, write):
    import_corpus(store, write("c.jsonl", TWO))
    more = [{"id": "b", "title": "B2", "text": "x"}, {"id": "c", "title": "C"}]
    result = import_corpus(store, write("more.jsonl", more), add=True)
    assert (result.documents, result.added, result.changed, result.removed) == (3, 1, 1, 0)
    assert [(d.document_id, d.title) for d in documents_in_force(store)] == [
        ("a", "A"),
        ("b", "B2"),
        ("c", "C"),
    ]


def test_what_cannot_be_a_document_is_left_out_and_counted(store, write):
    rows = [
        *TWO,
        TWO[0],
        {"title": "no id"},
        {"id": " ", "title": "x"},
        {"id": "z", "title": " ", "text": None},
    ]
    result = import_corpus(store, write("c.jsonl", rows))
    assert result.left_out == {"repeated document": 1, "no id": 2, "neither title nor body": 1}
    assert result.documents == 2


def test_a_file_without_one_document_is_refused_with_the_reasons(write, refused):
    error = refused(import_corpus, write("c.csv", "id,text\n,x\n,y\n"))
    assert "no document could be read from the file: 2 no id" in str(error)


def test_large_documents_in_csv_are_taken_whole(store, write):
    text = "word " * 100_000
    import_corpus(store, write("c.csv", f'id,text\n1,"{text}"\n'))
    assert documents_in_force(store)[0].body == text


@pytest.mark.parametrize(
    ("name", "content", "fields", "sentences"),
    [
        (
            "c.csv",
            "id,headline,text\n1,a,b\n",
            CorpusFields(title="title", url="address"),
            ["--map title names 'title'", "--map url names 'address'", "'id', 'headline', 'text'"],
        ),
        ("c.csv", "id,price\n1,2\n", None, ["--map title=COLUMN or --map body=COLUMN", "'id', 'price'"]),
        (
            "c.csv",
            f"id,title,story\n1,2,{'x' * 99}\n",
            None,
            ["--map body=COLUMN (story has the longest values)"],
        ),
        (
            "c.csv",
            "sku,title\n1,2\n",
            None,
            ["the documents' ids: name it with --map id=COLUMN", "add a column that numbers the documents"],
        ),
        (
            "c.jsonl",
            '{"id": "a", "text": "one"}\n{"id": "b", "text": "x"}\n{"id": "a", "text": "two"}\n',
            None,
            ["line 3: document 'a' has a different text on line 1", "change its id"],
        ),
    ],
)
def test_bad_input_is_refused_in_sentences_and_changes_nothing(
    store, write, refused, name, content, fields, sentences
):
    import_corpus(store, write("good.jsonl", TWO))
    message = str(refused(import_corpus, write(name, content), fields))
    assert [sentence for sentence in sentences if sentence not in message] == []


def test_a_corpus_changed_by_another_import_meanwhile_is_not_overwritten(store, write, monkeypatch):
    other = write("other.jsonl", [{"id": "o", "text": "O"}])
    path = write("c.jsonl", TWO)
    read = corpus_module.read_documents

    def read_slowly(*arguments):
        monkeypatch.setattr(corpus_module, "read_documents", read)
        import_corpus(store, other)
        return read(*arguments)

    monkeypatch.setattr(corpus_module, "read_documents", read_slowly)
    with pytest.raises(RefusedError, match="Another import changed the corpus"):
        import_corpus(store, path)
    assert [document.document_id for document in documents_in_force(store)] == ["o"]


def test_documents_without_text_go_in_only_where_that_is_said_and_are_counted(store, write):
    titles = write("c.csv", "id,title\n1,Tea\n2,Milk\n")
    with pytest.raises(InputError, match=r"judge documents by the title alone(?s:.*)--titles-only"):
        import_corpus(store, titles)
    assert import_corpus(store, titles, CorpusFields(titles_only=True)).without_text == 2
    assert import_corpus(store, write("d.csv", "id,title,text\n1,Tea,leaves\n2,Milk,\n")).without_text == 1


def test_a_project_without_corpus_says_what_to_do(store):
    with store.reading() as cursor, pytest.raises(RefusedError, match="goldgrade import corpus PATH"):
        current_corpus(cursor)


# Text that both formats can hold: a CSV cell has no types, and csv folds no line ends inside quotes.
_text = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=20)
_rows = st.dictionaries(
    _text.map(str.strip).filter(bool), st.tuples(_text, _text, _text), min_size=1, max_size=6
)


@pytest.fixture(scope="module")
def round_trip_store(tmp_path_factory):
    project = new_project(tmp_path_factory.mktemp("round-trip") / "p.duckdb")
    yield project
    project.close()


@pytest.mark.slow
@settings(max_examples=examples(40), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=_rows)
def test_csv_tells_the_same_documents_as_json_lines(round_trip_store, tmp_path, rows):
    records = [
        {"id": key, "title": f"t{title}", "text": text, "extra": extra}
        for key, (title, text, extra) in rows.items()
    ]
    lines = tmp_path / "c.jsonl"
    lines.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    buffer = io.StringIO(newline="")
    writer = csv.DictWriter(buffer, ["id", "title", "text", "extra"])
    writer.writeheader()
    writer.writerows(records)
    table = tmp_path / "c.csv"
    table.write_bytes(buffer.getvalue().encode())
    import_corpus(round_trip_store, lines)
    from_lines = documents_in_force(round_trip_store)
    assert {(d.document_id, d.title, d.body) for d in from_lines} == {
        (record["id"], record["title"], record["text"]) for record in records
    }
    assert not import_corpus(round_trip_store, table).is_new
    assert documents_in_force(round_trip_store) == from_lines
