"""Systems of baselines: splitters cut where they say, and an engine gets a release's queries."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curation.core.errors import InputError, RefusedError
from curation.core.words import find_word_starts
from curation.evaluation.scoring.baselines import BaselineRequest, write_baselines
from curation.evaluation.scoring.splitters import parse_splitters
from curation.retrieval.engines.client import EngineClient
from curation.retrieval.engines.stored_engines import add_engine, find_engine
from curation.store import Store, get_setting, put_setting
from curation.store.documents import HELD, current_corpus
from tests.support import examples
from tests.support.command_line import invoke
from tests.support.freezing import freeze
from tests.support.gold_project import TOPICS, frozen_project
from tests.support.http_server import HttpAnswer
from tests.support.projects import discard
from tests.support.search_server import KEY, SearchServer, engine, template_file

TEXTS = st.text(st.sampled_from("ab .\n#`水"), max_size=60)
__all__ = ["engine"]


def cut(name: str, body: str) -> list[str]:
    return [body[start:end] for start, end in parse_splitters([name])[name](body)]


def test_windows_overlap_by_words_and_end_with_the_text() -> None:
    body = " one two, three four five. "
    assert cut("2", body) == ["one two,", "three four", "five."]
    assert cut("3/1", body) == ["one two, three", "three four five."]
    assert cut("9", body) == ["one two, three four five."]
    assert cut("2", "水火風土") == ["水火", "風土"]


def test_sentences_are_those_of_the_script() -> None:
    assert cut("sentence", "One is 1.5 m. Two!\nThree") == ["One is 1.5 m.", "Two!", "Three"]
    assert cut("sentence", "水。火。") == ["水。", "火。"]


def test_headings_begin_chunks_but_not_in_code() -> None:
    body = "before\n# One\ntext\n```\n# no heading\n```\n## Two\n#tag"
    assert cut("heading", body) == ["before", "# One\ntext\n```\n# no heading\n```", "## Two\n#tag"]
    assert cut("heading", "plain") == ["plain"]


@settings(max_examples=examples(40))
@given(TEXTS, st.sampled_from(["3", "4/3", "sentence", "heading"]))
def test_every_word_is_in_a_chunk(body: str, name: str) -> None:
    spans = parse_splitters([name])[name](body)
    assert all(
        0 <= start < end <= len(body) and body[start:end].strip() == body[start:end] for start, end in spans
    )
    assert spans == sorted(spans)
    for place in find_word_starts(body):
        assert any(start <= place < end for start, end in spans)


@pytest.mark.parametrize("name", ["0", "50/50", "50/60", "words", "-1"])
def test_a_name_that_is_no_splitter_is_refused(name: str) -> None:
    with pytest.raises(InputError, match=f"--chunks {name}: this is not a splitter"):
        parse_splitters(["200/50", name])


@pytest.fixture
def gold(tmp_path: Path, engine: SearchServer) -> Iterator[Store]:
    store = frozen_project(tmp_path)
    with store.reading() as cursor:
        ids = current_corpus(cursor).ids
    engine.documents = {one: {"title": one.replace("-", " ")} for one in ids}
    engine.documents["new 1"] = {"title": "best violin"}
    add_engine(store, "shop", "http", template_file(tmp_path))
    yield store
    discard(store)


@pytest.mark.slow
def test_an_engine_is_asked_for_the_releases_queries_and_its_seconds_are_written(
    gold: Store, engine: SearchServer, tmp_path: Path
) -> None:
    gold.close()
    out = tmp_path / "runs"
    command = ["--project", str(gold.path), "baseline", "v1", "--engine", "shop", "--rate", "1000"]
    done = invoke([*command, "--depth", "9", "--out", str(out), "--json"])
    assert done.exit_code == 0, done.output
    assert "goldgrade asks 127.0.0.1 for 8 lists, with at most 1000 requests per second" in done.stderr
    assert KEY not in done.output + (out / "shop.json").read_text()
    assert engine.url not in done.output + (out / "shop.json").read_text()
    lines = (out / "shop.trec").read_text().splitlines()
    assert "q-violin Q0 new%201 1 2.0 shop" in lines  # the release lacks it
    described = json.loads((out / "shop.json").read_text())
    assert described["seconds"]["queries"].keys() == {f"q-{topic}" for topic in TOPICS}
    run = ["evaluate", "v1", "--run", str(out / "shop.trec"), "--part", "dev"]
    evaluated = invoke(["--project", str(gold.path), *run])
    assert evaluated.exit_code == 0, evaluated.output


def test_lists_that_are_not_whole_are_left_out_and_no_answer_leaves_no_file(
    gold: Store, engine: SearchServer, tmp_path: Path
) -> None:
    with gold.reading() as cursor:
        client = EngineClient(find_engine(cursor, "shop"), 1e6)
    engine.faults = [HttpAnswer(400), *[HttpAnswer(body={"partial": True, "results": []})] * 4]
    [run] = write_baselines(gold, BaselineRequest("v1", [], tmp_path / "runs", engine=client)).runs
    assert run.empty["queries that the engine rejected"] == 1
    assert run.empty["queries without a complete response (partial is true)"] == 1
    engine.faults = [None, HttpAnswer(401)]
    with pytest.raises(RefusedError, match="HTTP 401"):
        write_baselines(gold, BaselineRequest("v1", [], tmp_path / "others", engine=client))
    assert not (tmp_path / "others").exists()


def test_a_release_of_engines_documents_is_not_searched_as_if_it_were_the_whole_corpus(
    gold: Store, tmp_path: Path
) -> None:
    with gold.transaction() as cursor:
        put_setting(cursor, HELD, get_setting(cursor, "corpus") or "")
    freeze(gold, "held")
    with pytest.raises(RefusedError, match="bm25 would treat these documents as the whole corpus"):
        write_baselines(gold, BaselineRequest("held", ["bm25"], tmp_path / "runs"))
    assert write_baselines(gold, BaselineRequest("v1", ["bm25"], tmp_path / "runs")).runs
