"""Runs of chunks as files have them, read for a release of documents `all of ` and 32 letters each."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from curation.core.errors import InputError
from curation.evaluation.scored_system import ScoredSystem, add_whole_documents, score_system
from curation.evaluation.scoring.chunk_map import SplitterFields, map_chunks, read_chunk_map
from curation.evaluation.scoring.chunk_measures import UNKNOWN
from curation.evaluation.scoring.evidence import make_evidence_ranges
from curation.evaluation.scoring.measure_names import parse_measures
from curation.evaluation.scoring.release import EvaluatedRelease, read_release
from curation.evaluation.scoring.run_chunks import ChunkCounts
from curation.evaluation.scoring.system_files import SystemFile
from curation.evaluation.scoring.system_runs import ReadingOptions, SystemRun, read_run
from curation.ingest.readers.fields import ChunkFields
from curation.store import Store
from tests.support.evaluated_project import document_ids, evaluated_project, sealed_queries
from tests.support.projects import per_test

Row = dict[str, object]
Lists = dict[tuple[str, str], list[list[int]]]
OF_EVIDENCE = tuple(f"evidence_{kind}" for kind in ("recall", "precision", "iou", "hit", "mrr", "ndcg"))
CHUNK: Row = {"start": 0, "end": 9, "rank": 1}
store = per_test(evaluated_project)


@pytest.fixture
def release(store: Store) -> EvaluatedRelease:
    return read_release(store, "v1")


@pytest.fixture
def query(release: EvaluatedRelease) -> str:
    return release.qrels.query_ids[0]


def names(query: str) -> list[str]:
    return document_ids(int(query[1:]))


def read(release: EvaluatedRelease, path: Path, *rows: Row, **options: object) -> SystemRun:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return read_run(SystemFile("run", path), release, ReadingOptions(**options))  # type: ignore[arg-type]


def found(run: SystemRun) -> list[tuple[str, int, int, int]]:
    """Document, start, end and words of each chunk, by rank."""
    chunks = run.rows.chunks
    numbers = (column.tolist() for column in (chunks.start, chunks.end, chunks.words))
    return list(zip(chunks.documents.to_pylist(), *numbers, strict=True))


def body(release: EvaluatedRelease, name: str) -> str:
    return next(text or "" for _, text in release.bodies.walk([name]))


def test_a_document_has_the_score_of_its_best_chunk_and_the_run_keeps_its_chunks(
    release: EvaluatedRelease, query: str, tmp_path: Path
) -> None:
    one, other, *_ = names(query)
    places = [(one, 0, 6, 1.0), (other, 4, 39, 2.0), (one, 7, 39, 3.0)]
    rows = [
        {"query": query, "doc_id": name, "start": start, "end": end, "score": score}
        for name, start, end, score in places
    ]
    run = read(release, tmp_path / "run.jsonl", *rows)
    scores = dict(zip(run.rows.documents.to_pylist(), run.rows.scores.tolist(), strict=True))
    assert scores == {one: 3, other: 2}
    assert found(run) == [(one, 7, 39, 1), (other, 4, 39, 2), (one, 0, 6, 2)]
    assert run.chunks == ChunkCounts(3)
    lines = "".join(f"{query},{name},{start},{end},{score}\n" for name, start, end, score in places)
    (tmp_path / "run.csv").write_text(f"query,doc_id,start,end,score\n{lines}")
    assert found(read_run(SystemFile("run", tmp_path / "run.csv"), release)) == found(run)  # by columns
    trec = "".join(f"{query} Q0 {name}#{start}-{end} 0 {score} x\n" for name, start, end, score in places)
    (tmp_path / "run.trec").write_text(trec)
    assert found(read_run(SystemFile("run", tmp_path / "run.trec"), release)) == found(run)  # by ids


def test_a_text_is_found_as_it_is_or_with_other_white_space_and_case(
    release: EvaluatedRelease, query: str, tmp_path: Path
) -> None:
    one, other, *_ = names(query)
    texts = [
        (one, "all of"),
        (one, "ALL\n OF " + body(release, one)[7:12]),
        (other, "not there"),
        (other, "l"),
    ]
    rows = [
        {"query": query, "document": name, "rank": rank, "chunk_text": text}
        for rank, (name, text) in enumerate(texts, 1)
    ]
    run = read(release, tmp_path / "run.jsonl", *rows)
    assert [place[:3] for place in found(run)][:2] == [(one, 0, 6), (one, 0, 12)]
    lacking, twice = found(run)[2:]
    assert (lacking[2] - lacking[1], lacking[3]) == (9, 2)
    assert lacking[1] >= 39  # behind the end of its document: it holds no evidence
    assert twice[1:3] == (1, 2)  # of equal places the first
    assert run.chunks == ChunkCounts(4, 1, 3, 1, 4)


def test_copies_of_a_text_take_its_places_in_order_and_one_more_is_the_chunk_again(
    release: EvaluatedRelease, query: str, tmp_path: Path
) -> None:
    name = names(query)[0]
    rows = [
        {"query": query, "document": name, "score": score, "chunk_text": text}
        for score, text in ((1, "l"), (3, "all of"), (2, "l"))
    ]
    run = read(release, tmp_path / "run.jsonl", *rows)
    assert [place[1:3] for place in found(run)] == [(0, 6), (1, 2), (2, 3)]
    for text, first in (("l\n", [(1, 2), (2, 3)]), ("l ", [(2, 4), (1, 2)])):  # "l " is there once
        run = read(release, tmp_path / "run.jsonl", rows[0], rows[2] | {"chunk_text": text})
        assert [place[1:3] for place in found(run)] == first
    more = body(release, name).count("l") - 1
    with pytest.raises(InputError, match=r"the chunk .* is repeated"):
        read(release, tmp_path / "run.jsonl", *rows, *[rows[0]] * more)


@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32))
def test_a_run_of_texts_is_one_of_offsets_and_a_map_is_right_where_it_is_sure(
    store: Store, release: EvaluatedRelease, tmp_path: Path, seed: int
) -> None:
    random = np.random.default_rng(seed)

    def spans(most: int) -> list[tuple[int, int]]:
        starts, sizes = random.integers(0, 36, most), random.integers(1, 4, most)
        return sorted(set(zip(starts.tolist(), (starts + sizes).tolist(), strict=True)))

    pairs = [(query, names(query)[0]) for query in release.qrels.query_ids]
    bodies = dict(release.bodies.walk([name for _, name in pairs])) if release.bodies else {}
    marks = {pair: spans(4) for pair in pairs}
    evidence = make_evidence_ranges(marks, dict.fromkeys(pairs, 3), release.qrels.query_ids)
    marked = replace(release, qrels=replace(release.qrels, evidence=evidence))
    measures = parse_measures([f"{kind}@5" for kind in OF_EVIDENCE])
    index = {pair: list(dict(spans(12)).items()) for pair in pairs}  # in order, each with a start of its own
    sent = {pair: random.permutation(own).tolist() for pair, own in index.items()}
    path = tmp_path / "run.jsonl"

    def scored(chunk: Callable[[str, int, int], Row], lists: Lists) -> ScoredSystem:
        rows = [
            {"query": query, "document": name, "rank": rank} | chunk(bodies[name] or "", start, end)
            for (query, name), own in lists.items()
            for rank, (start, end) in enumerate(own, 1)
        ]
        return score_system("x", [read(marked, path, *rows)], marked, measures)

    by_text = scored(lambda body, start, end: {"chunk_text": body[start:end]}, sent)
    places = iter(found(by_text.runs[0]))
    taken = {pair: [list(next(places)[1:3]) for _ in own] for pair, own in sent.items()}
    for pair in pairs:
        body = bodies[pair[1]] or ""
        for one, at in zip(sent[pair], taken[pair], strict=True):
            assert body[slice(*one)] == body[slice(*at)]
    same = scored(lambda _, start, end: {"start": start, "end": end}, taken)
    np.testing.assert_array_equal(same.scores[0].values, by_text.scores[0].values)
    split, mapped = tmp_path / "split.jsonl", tmp_path / "map.csv"
    chunks = [
        {"id": f"{name}/{start}", "document": name, "chunk_text": (bodies[name] or "")[start:end]}
        for (_, name), own in index.items()
        for start, end in own
    ]
    split.write_text("".join(f"{json.dumps(chunk)}\n" for chunk in chunks))
    map_chunks(store, "v1", split, mapped)
    sure = {place[:3] for place in read_chunk_map(mapped).values() if place.places == 1}
    assert sure <= {(name, *span) for (_, name), own in index.items() for span in own}


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"end": 40}, "line 1: the chunk 0-40 of document {name!r} is outside its text, which has 39 char"),
        (
            {"content_hash": "0123456789abcdef"},
            "belongs to the version 0123456789ab; the release has a different version",
        ),
        ({"start": "x"}, "line 1: the start of the chunk is 'x'"),
        ({}, "line 2: the chunk 0-9 of document {name!r} is repeated for query {query!r}"),
    ],
)
def test_chunks_that_cannot_be_are_named(
    release: EvaluatedRelease, query: str, tmp_path: Path, wrong: Row, sentence: str
) -> None:
    name = names(query)[0]
    rows = [CHUNK | {"query": query, "document": name, "rank": rank} | wrong for rank in (1, 2)]
    with pytest.raises(InputError, match=r"run\.jsonl") as error:
        read(release, tmp_path / "run.jsonl", *rows)
    assert sentence.format(name=name, query=query) in str(error.value)


def test_a_run_of_documents_is_one_of_whole_documents(
    release: EvaluatedRelease, query: str, tmp_path: Path
) -> None:
    one, other, *_ = names(query)
    rows = [
        {"query": query, "document": name, "rank": rank} for rank, name in enumerate((other, one, "x"), 1)
    ]
    run = read(release, tmp_path / "run.jsonl", *rows)
    assert run.chunks is None
    assert run.rows.chunks is None
    chunks = add_whole_documents(run.rows, release, parse_measures(["context_words@5"])).chunks
    assert chunks.documents.to_pylist() == [other, one, "x"]
    assert chunks.end.tolist()[:2] == [39, 39]
    assert chunks.words.tolist() == [3, 3, -1]


def test_the_chunks_of_an_index_are_mapped_once(
    store: Store, release: EvaluatedRelease, query: str, tmp_path: Path
) -> None:
    one, other, *_ = names(query)
    split = tmp_path / "split.jsonl"
    texts = {"c1": (one, "all of"), "c2": (one, body(release, one)[3:]), "c3": (other, "nowhere")}
    rows = [{"chunk_id": chunk, "document_id": name, "text": text} for chunk, (name, text) in texts.items()]
    split.write_text("".join(f"{json.dumps(row)}\n" for row in rows).replace('"text"', '"chunk_text"'))
    sentences = map_chunks(store, "v1", split, tmp_path / "map.csv")
    assert sentences == ["2 chunks of 1 document of v1 were found.", *ChunkCounts(3, 1, 3).sentences()]
    ranked = [{"query": query, "document": chunk, "rank": rank} for rank, chunk in enumerate(("c2", "c1"), 1)]
    run = read(release, tmp_path / "run.jsonl", *ranked, chunk_map=tmp_path / "map.csv")
    assert [place[:3] for place in found(run)] == [(one, 3, 39), (one, 0, 6)]
    lacking = {"query": query, "document": "c3", "rank": 3}  # it was split, and has no place
    run = read(release, tmp_path / "run.jsonl", *ranked, lacking, chunk_map=tmp_path / "map.csv")
    assert found(run)[2] == (other, 41, 42, UNKNOWN)
    assert run.chunks == ChunkCounts(3, 1, 3)
    unknown = lacking | {"document": "c9"}
    with pytest.raises(InputError, match=r"run\.jsonl: line 3: the map has no chunk 'c9' of a document"):
        read(release, tmp_path / "run.jsonl", *ranked, unknown, chunk_map=tmp_path / "map.csv")
    split.write_text(split.read_text().splitlines()[2])
    with pytest.raises(InputError, match="line 1: no chunk's text is in its document"):
        map_chunks(store, "v1", split, tmp_path / "map.csv")


def test_a_chunk_follows_the_one_before_where_its_text_is_also_inside_that(
    store: Store, release: EvaluatedRelease, query: str, tmp_path: Path
) -> None:
    name, split, made = names(query)[0], tmp_path / "split.jsonl", tmp_path / "map.csv"
    texts = {"c1": "al", "c2": "l", "c3": body(release, name)[4:]}  # "al", "l" and " of …", trimmed
    rows = [{"id": chunk, "document": name, "chunk_text": text} for chunk, text in texts.items()]
    split.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    map_chunks(store, "v1", split, made)
    places = read_chunk_map(made)
    assert [place.start for place in places.values()] == [0, 2, 4]
    assert places["c2"].places > 1  # of splitters that overlap it is inside


def test_a_map_says_which_places_its_order_leaves_open_and_a_run_by_it_says_so(
    store: Store, release: EvaluatedRelease, query: str, tmp_path: Path
) -> None:
    name, split, made = names(query)[0], tmp_path / "split.jsonl", tmp_path / "map.csv"

    def mapped(*texts: str) -> list[int]:
        rows = [{"id": f"c{at}", "document": name, "chunk_text": text} for at, text in enumerate(texts)]
        split.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        map_chunks(store, "v1", split, made)
        return [place.places for place in read_chunk_map(made).values()]

    rest = body(release, name)[6:]  # behind "all of"
    assert mapped("ll of", "l", " of", rest) == [1, 1, 1, 1]  # one "l" is between its neighbours
    several = rest.count("l") + 2
    assert mapped("all", "l", rest[1:]) == [1, several, 1]
    assert mapped(rest[1:], "all", "l")[2] == several  # a file that is not in order tells nothing
    ranked = [{"query": query, "document": f"c{at}", "rank": at + 1} for at in range(3)]
    run = read(release, tmp_path / "run.jsonl", *ranked, chunk_map=made)
    assert run.chunks == ChunkCounts(3, twice=1, first_twice=3)
    older = [line.rsplit(",", 1)[0] for line in made.read_text().splitlines()]
    made.write_text("\n".join(older))
    assert read(release, tmp_path / "run.jsonl", *ranked, chunk_map=made).chunks == ChunkCounts(3)


def test_all_faults_of_a_splitters_file_are_named_with_what_to_do(
    store: Store, query: str, tmp_path: Path
) -> None:
    name, split = names(query)[0], tmp_path / "split.csv"
    rows = [
        *(f"a,{name},0,9", f"a,{name},9,12", "b,x,0,1", f"c,{name},5,2", f"d,{name},,9", f",{name},0,3"),
        f"e,{name},x,3",
    ]
    split.write_text("\n".join(["node,doc,from,to", *rows]))
    fields = SplitterFields(chunk="node", document="doc", start="from", end="to")
    with pytest.raises(InputError) as error:
        map_chunks(store, "v1", split, tmp_path / "map.csv", fields)
    said = str(error.value)
    assert sorted(map(int, re.findall(r": line (\d):", said))) == [3, 4, 5, 6, 7, 8]
    for sentence in (
        "line 3: the chunk 'a' again, also in line 2: give the chunk a different id",
        "line 4: the chunk 'b' is of 'x', which is not a document of the release: leave this chunk out",
        "line 5: the chunk 5-2 of document",
        "line 6: the start of the chunk is ''; expected a whole number",
        "line 7: the chunk has no id; give each chunk an id",
    ):
        assert sentence in said
    with pytest.raises(
        InputError, match="--map start=COLUMN and --map end=COLUMN, or with --map text=COLUMN"
    ):
        map_chunks(store, "v1", split, tmp_path / "map.csv", SplitterFields(chunk="node", document="doc"))


def test_sealed_queries_are_passed_over(
    release: EvaluatedRelease, store: Store, query: str, tmp_path: Path
) -> None:
    sealed = sealed_queries(store)[0]
    rows = [CHUNK | {"query": one, "document": names(one)[0]} for one in (query, sealed)]
    assert len(found(read(release, tmp_path / "run.jsonl", *rows))) == 1


def test_columns_that_are_not_read_are_named_and_two_of_whole_numbers_may_be_places_of_chunks(
    release: EvaluatedRelease, query: str, tmp_path: Path
) -> None:
    row = {"query": query, "document": names(query)[0], "rank": 1, "begin": 1, "finish": 9}
    run = read(release, tmp_path / "run.jsonl", row)
    assert run.unread == (
        "columns that are not used: begin, finish. "
        "If columns contain chunk offsets, name the columns with --map start=COLUMN and --map end=COLUMN."
    )
    fields = ChunkFields(start="begin", end="finish")
    assert read(release, tmp_path / "run.jsonl", row, fields=fields).unread == ""
    with pytest.raises(InputError, match="name the columns with --map start=COLUMN and --map end=COLUMN"):
        read(release, tmp_path / "run.jsonl", row, row | {"rank": 2})
