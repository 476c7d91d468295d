"""All queries asked of an engine: the stored run, what breaks off and goes on, and what is left out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from curation.core.errors import InputError, RefusedError
from curation.ingest.importers.corpus import import_corpus
from curation.ingest.readers.fields import CorpusFields
from curation.retrieval.engines.documents import refresh_documents
from curation.retrieval.engines.runs import EngineRunImport, EngineRunRequest, import_engine_run
from curation.retrieval.engines.stored_engines import add_engine
from curation.store import Store
from curation.store.documents import current_corpus, is_held
from tests.support.command_line import invoke
from tests.support.http_server import HttpAnswer
from tests.support.pool_project import put_queries
from tests.support.projects import documents_in_force, rows_of
from tests.support.search_server import KEY, SearchServer, engine, template_file

__all__ = ["engine"]
QUERIES = {"q1": "red shoes", "q2": "hat", "q3": "blue shoes"}


@pytest.fixture
def project(store: Store, engine: SearchServer, tmp_path: Path) -> Store:
    """Three queries, no corpus, and the engine `shop` with three documents."""
    engine.documents = {"a": {"title": "red shoes"}, "b": {"title": "blue shoes"}, "c": {"title": "a hat"}}
    add_engine(store, "shop", "http", template_file(tmp_path))
    put_queries(store, QUERIES)
    return store


def ask(store: Store, name: str = "shop@november", **more: Any) -> EngineRunImport:
    return import_engine_run(store, EngineRunRequest("shop", name, **{"rate": 1e6, **more}))


def entries(store: Store) -> list[tuple[Any, ...]]:
    return rows_of(store, "SELECT query_id, document_id, rank, score FROM run_entries ORDER BY ALL")


def test_the_lists_are_a_run_and_unknown_documents_are_brought_into_a_held_corpus(project: Store) -> None:
    said: list[str] = []
    request = EngineRunRequest("shop", "shop@november", rate=500)
    found = import_engine_run(project, request, say=said.append)
    assert said == [
        "goldgrade asks 127.0.0.1 for 3 lists, with at most 500 requests per second. Query texts are sent "
        "redacted."
    ]
    assert (found.queries, found.entries, found.brought, found.asked) == (3, 5, 3, 3)
    assert entries(project)[:2] == [("q1", "a", 1, 2.0), ("q1", "b", 2, 1.0)]
    assert [one.title for one in documents_in_force(project)] == ["red shoes", "blue shoes", "a hat"]
    with project.reading() as cursor:
        assert is_held(cursor)
    rows = rows_of(
        project,
        "SELECT engine, depth, count(*) FROM engine_runs JOIN engine_answers USING (request_id) GROUP BY ALL",
    )
    assert rows == [("shop", 100, 3)]
    assert rows_of(project, "SELECT min(seconds) > 0 FROM engine_answers") == [(True,)]


def test_the_same_call_again_asks_nothing_and_changes_nothing(project: Store, engine: SearchServer) -> None:
    first = ask(project)
    sent = len(engine.requests)
    again = ask(project)
    assert (again.run_id, again.is_new, again.asked) == (first.run_id, False, 0)
    assert len(engine.requests) == sent


def test_what_breaks_off_stores_no_run_and_goes_on_with_what_is_missing(
    project: Store, engine: SearchServer
) -> None:
    engine.faults = [None, HttpAnswer(401)]
    with pytest.raises(RefusedError, match=r"HTTP 401.* No run was stored: 1 answer is kept, of 3"):
        ask(project)
    assert rows_of(project, "SELECT count(*) FROM runs") == [(0,)]
    assert ask(project).asked == 2
    assert len(entries(project)) == 5


def test_answers_that_came_before_an_interruption_are_kept(project: Store) -> None:
    def interrupt(step: str, done: int, total: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        import_engine_run(project, EngineRunRequest("shop", "shop@november", rate=1e6), interrupt)
    assert ask(project).asked == 1


def test_queries_without_a_whole_answer_are_left_out_and_counted(
    project: Store, engine: SearchServer
) -> None:
    engine.faults = [HttpAnswer(body={"partial": True, "results": [{"id": "c", "score": 1}]})] * 4
    found = ask(project)
    assert found.left_out == {"queries without a complete response (partial is true)": 1}
    assert {entry[0] for entry in entries(project)} == {"q2", "q3"}
    assert not ask(project).is_new


def test_one_rejected_query_is_left_out_and_all_of_them_end_the_work(
    project: Store, engine: SearchServer
) -> None:
    engine.faults = [HttpAnswer(400, "syntax")]
    assert ask(project).left_out == {"queries that the engine rejected": 1}
    engine.faults = [HttpAnswer(400, "syntax")] * 3
    with pytest.raises(RefusedError, match="HTTP 400: syntax"):
        ask(project, "other")


def test_documents_gone_before_the_fetch_are_counted_and_leave_a_gap(
    project: Store, engine: SearchServer
) -> None:
    engine.search = lambda text, depth: [("ghost", 2.0), ("a", 1.0)]
    assert ask(project).left_out == {"documents that the engine no longer has": 1}
    assert entries(project)[0] == ("q1", "a", 2, 1.0)


def test_a_name_that_another_run_has_is_refused_before_anything_is_asked(
    project: Store, engine: SearchServer
) -> None:
    ask(project)
    sent = len(engine.requests)
    put_queries(project, {"q4": "new"})
    with pytest.raises(RefusedError, match="Give this run a different name"):
        ask(project)
    assert len(engine.requests) == sent


@pytest.mark.parametrize("wrong", [{"depth": 0}, {"rate": 0.0}, {"name": "a b"}])
def test_numbers_and_names_that_cannot_be_are_refused(project: Store, wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        ask(project, **wrong)


def test_texts_are_sent_redacted(project: Store, engine: SearchServer) -> None:
    put_queries(project, {"q4": "shoes of me@example.org"})
    ask(project)
    assert any("%5Bemail%5D" in request for request in engine.requests)
    assert not any("example.org" in request for request in engine.requests)


def test_a_whole_corpus_stays_whole_and_a_file_makes_a_held_one_whole(
    project: Store, engine: SearchServer, tmp_path: Path
) -> None:
    ask(project)
    file = tmp_path / "corpus.jsonl"
    lines = [f'{{"_id": "{one}", "title": "{fields["title"]}"}}' for one, fields in engine.documents.items()]
    file.write_text("\n".join(lines))
    found = import_corpus(project, file, CorpusFields(titles_only=True))
    assert not found.is_new  # the documents are the same, whichever way they came
    engine.documents["d"] = {"title": "green shoes"}
    assert ask(project, "later").brought == 1
    with project.reading() as cursor:
        assert not is_held(cursor)
        assert len(current_corpus(cursor).ids) == 4


def test_a_refresh_finds_what_changed_and_what_is_gone(project: Store, engine: SearchServer) -> None:
    ask(project)
    assert refresh_documents(project, "shop", 1e6).sentences[0] == (
        "3 documents of the engine 'shop' fetched again: 0 changed, 0 gone, 3 unchanged."
    )
    engine.documents["a"] = {"title": "dark red shoes"}
    del engine.documents["c"]
    found = refresh_documents(project, "shop", 1e6)
    assert (found.changed, found.gone, found.unchanged, found.documents) == (1, 1, 1, 2)
    titles = {one.document_id: one.title for one in documents_in_force(project)}
    assert titles == {"a": "dark red shoes", "b": "blue shoes"}
    with project.reading() as cursor:
        assert is_held(cursor)


def test_a_refresh_that_fails_changes_nothing(project: Store, engine: SearchServer) -> None:
    ask(project)
    engine.faults = [None, HttpAnswer(401)]
    with pytest.raises(RefusedError, match="HTTP 401"):
        refresh_documents(project, "shop", 1e6)
    with project.reading() as cursor:
        assert len(current_corpus(cursor).ids) == 3


def test_an_engine_that_has_none_of_its_documents_any_more_changes_nothing(
    project: Store, engine: SearchServer
) -> None:
    ask(project)
    engine.documents.clear()
    with pytest.raises(RefusedError, match="no longer has any of its 3 documents"):
        refresh_documents(project, "shop", 1e6)


def test_a_run_without_a_name_is_of_today_and_other_questions_have_a_name_of_their_own(
    project: Store, engine: SearchServer
) -> None:
    first = ask(project, "")
    assert ask(project, "").run_id == first.run_id
    put_queries(project, {"q4": "hat shoes"})
    engine.faults = [None, HttpAnswer(401)]
    with pytest.raises(RefusedError, match="1 answer is kept"):
        ask(project, "")
    again = ask(project, "")
    assert (again.name, again.asked) == (f"{first.name}.2", 3)


def test_a_query_that_is_rejected_again_does_not_keep_a_run_from_being_stored(
    project: Store, engine: SearchServer
) -> None:
    rejected = HttpAnswer(400, "syntax")
    engine.faults = [rejected, None, None, HttpAnswer(401)]
    with pytest.raises(RefusedError, match=r"HTTP 401 .* The next attempt fetches the rest"):
        ask(project)
    engine.faults = [rejected]
    assert ask(project).left_out == {"queries that the engine rejected": 1}


def test_documents_that_came_before_a_fault_are_not_fetched_again(
    project: Store, engine: SearchServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("curation.retrieval.engines.documents.MAX_AT_ONCE", 2)
    engine.faults = [None] * 4 + [HttpAnswer(401)]
    with pytest.raises(RefusedError, match="HTTP 401"):
        ask(project)
    assert rows_of(project, "SELECT count(*) FROM runs") == [(0,)]
    again = ask(project)
    assert (again.asked, again.brought) == (0, 1)


def run(store: Store, *words: str) -> Any:
    store.close()
    return invoke(["--project", str(store.path), *words])


@pytest.mark.slow
def test_the_commands_show_neither_key_nor_address(project: Store, engine: SearchServer) -> None:
    asked = ["import", "run", "--engine", "shop", "--name", "n", "--rate", "1000"]
    engine.faults = [HttpAnswer(503, f"{KEY} {engine.url}", {"Retry-After": "0"})] * 4
    outputs = [run(project, *asked), run(project, *asked, "--json"), run(project, *asked)]
    engine.documents["b"]["key"] = f"{KEY} of shoes"
    for words in (
        "import corpus --refresh shop",
        "import engine shop --try shoes --json",
        "pool --systems engine:shop --random-negatives 1 --rate 1000",
        "pool --systems engine:shop --random-negatives 1 --rate 1000 --json",
        "status",
        "status --json",
    ):
        outputs.append(run(project, *words.split()))
    assert [done.exit_code for done in outputs] == [1, *[0] * 8]
    assert "documents of engines" in outputs[-2].stdout
    for done in outputs:
        text = done.output + str(done.exception)
        assert KEY not in text
        assert engine.url not in text
    project.close()
    assert KEY.encode() not in project.path.read_bytes()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run", "--name", "n"], "name a file, or an engine with --engine"),
        (["run", "f", "--name", "n", "--depth", "3"], "--depth has no effect here: no engine is named"),
        (["run", "f", "--name", "n", "--engine", "shop"], "path has no effect here: --engine queries"),
        (["corpus", "--refresh", "shop", "--add"], "--add has no effect here"),
    ],
)
def test_a_file_and_an_engine_are_one_or_the_other(project: Store, words: list[str], said: str) -> None:
    done = run(project, "import", *words)
    assert done.exit_code
    assert said in done.output + str(done.exception)
