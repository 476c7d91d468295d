"""Exports: other tools read the same grades, bytes depend on the release only, nothing half-written."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import pytrec_eval

from curation.core.errors import InputError
from curation.ingest.importers.corpus import import_corpus
from curation.ingest.importers.imported_judgment import ImportedJudgment
from curation.ingest.requests import CollectionRequest
from curation.labeling.imported import add_judgments
from curation.operations.import_collection import import_collection
from curation.splits.request import SplitRequest
from curation.splits.split import make_split
from curation.store import Store
from curation.store.row_types import Query
from tests.support.freezing import freeze
from tests.support.gold_project import (
    LEXICAL,
    PARTS,
    Qrels,
    awkward,
    consensus_grades,
    export,
    frozen_project,
    queries,
    write_corpus,
)
from tests.support.projects import new_project, per_module

pytestmark = pytest.mark.slow
gold = per_module(frozen_project)


def read_beir(folder: Path) -> tuple[dict[str, dict[str, str]], dict[str, str], dict[str, Qrels]]:
    """As BEIR's GenericDataLoader reads it."""
    lines = (folder / "corpus.jsonl").read_text(encoding="utf-8").splitlines()
    corpus = {row["_id"]: {"title": row["title"], "text": row["text"]} for row in map(json.loads, lines)}
    lines = (folder / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    texts = {row["_id"]: row["text"] for row in map(json.loads, lines)}
    parts: dict[str, Qrels] = {}
    for path in (folder / "qrels").glob("*.tsv"):
        with path.open(encoding="utf-8", newline="") as file:
            reader = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_MINIMAL)
            assert next(reader) == ["query-id", "corpus-id", "score"]
            qrels = parts.setdefault(path.stem, {})
            for query_id, document_id, grade in reader:
                qrels.setdefault(query_id, {})[document_id] = int(grade)
    return corpus, texts, parts


def test_the_beir_folder_reads_back_as_the_same_corpus_queries_and_grades(
    gold: Store, tmp_path: Path
) -> None:
    export(gold, "v1", "beir", tmp_path / "beir")
    corpus, texts, parts = read_beir(tmp_path / "beir")
    assert len(corpus) == 16
    assert corpus["kettle-2"] == {"title": "Kettle number 2", "text": "Nothing, “kettle” ünd so\nweiter"}
    assert texts == {query.query_id: query.text for query in queries()}
    assert set(parts) == {"dev", "test"}
    assert parts["dev"].keys().isdisjoint(parts["test"])
    assert parts["dev"] | parts["test"] == consensus_grades(gold)


def test_trec_qrels_load_in_pytrec_eval_and_hold_exactly_the_consensus(gold: Store, tmp_path: Path) -> None:
    export(gold, "v1", "trec", tmp_path / "trec")
    with (tmp_path / "trec" / "qrels.txt").open() as file:
        qrels = pytrec_eval.parse_qrel(file)
    assert qrels == consensus_grades(gold)
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut_10"})
    perfect = {q: {d: float(grade) for d, grade in documents.items()} for q, documents in qrels.items()}
    assert {scores["ndcg_cut_10"] for scores in evaluator.evaluate(perfect).values()} == {1.0}
    halves = [(tmp_path / "trec" / f"qrels.{part}.txt").read_text().splitlines() for part in ("dev", "test")]
    assert sorted(halves[0] + halves[1]) == sorted((tmp_path / "trec" / "qrels.txt").read_text().splitlines())
    topics = (tmp_path / "trec" / "topics.tsv").read_text().splitlines()
    assert "q-violin\tbest violin" in topics
    assert not (tmp_path / "trec" / "ids.tsv").exists()


def test_csv_and_parquet_are_the_same_table(gold: Store, tmp_path: Path) -> None:
    export(gold, "v1", "csv", tmp_path / "csv")
    exported = export(gold, "v1", "parquet", tmp_path / "parquet")
    with (tmp_path / "csv" / "qrels.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    table = pq.read_table(tmp_path / "parquet" / "qrels.parquet")
    assert table.column_names[:5] == ["query_id", "query_text", "doc_id", "relevance", "split"]
    found = table.select(range(5)).to_pylist()
    assert [{**row, "relevance": str(row["relevance"])} for row in found] == rows
    assert len(rows) == 16
    assert {row["split"] for row in rows} == {"dev", "test"}
    assert table.schema.metadata == {b"goldset_release_id": exported.release_id.encode()}


def test_an_export_of_the_same_release_is_replaced_and_mended(gold: Store, tmp_path: Path) -> None:
    out = tmp_path / "out"
    export(gold, "v1", "csv", out)
    whole = (out / "qrels.csv").read_bytes()
    (out / "qrels.csv").write_bytes(whole[:-3])
    export(gold, "v1", "csv", out)
    assert (out / "qrels.csv").read_bytes() == whole
    assert list(tmp_path.iterdir()) == [out]


def test_a_folder_with_anything_else_is_refused_and_left_alone(gold: Store, tmp_path: Path) -> None:
    out = tmp_path / "out"
    export(gold, "v1", "csv", out)
    with pytest.raises(InputError, match=r"has 3 other files \(README.md, manifest.json, qrels.csv\)"):
        export(gold, "v1", "trec", out)
    (out / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match=r"has 1 other files? \(notes.txt\)"):
        export(gold, "v1", "csv", out)
    assert (out / "notes.txt").read_text() == "mine"
    with pytest.raises(InputError, match="is a file; expected a folder"):
        export(gold, "v1", "csv", out / "notes.txt")
    (tmp_path / "empty").mkdir()
    assert export(gold, "v1", "csv", tmp_path / "empty").files.keys() == {"README.md", "qrels.csv"}


@pytest.mark.parametrize(
    ("format", "message"),
    [
        ("xml", "'xml': expected one of beir, leaderboard, trec, csv, parquet, hf, triplets"),
        ("beeir", "triplets.*; did you mean 'beir'?"),
    ],
)
def test_a_format_that_does_not_exist_is_answered_with_those_to_write(
    gold: Store, tmp_path: Path, format: str, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        export(gold, "v1", format, tmp_path / "out")


def test_beir_ids_get_a_prefix_where_queries_and_documents_share_one(tmp_path: Path) -> None:
    exported = export(awkward(tmp_path), "v1", "beir", tmp_path / "out")
    corpus, texts, parts = read_beir(tmp_path / "out")
    assert exported.ids == {"query_prefix": "q-", "document_prefix": "d-"}
    assert set(corpus) == {"d-1", "d-a b", "d-a%20b", 'd-say "x"'}
    assert set(texts) == {"q-1", "q-two words"}
    assert (parts["dev"] | parts["test"])["q-1"] == dict.fromkeys(corpus, 1)


def test_ids_with_quotes_come_back_from_a_beir_folder(tmp_path: Path) -> None:
    grades: Qrels = {"one": {'say "x"': 2, "it's, so": 0}, '"two"': {'"x" said': 2, '"x"': 0}}
    (tmp_path / "first").mkdir()
    first = new_project(tmp_path / "first" / "project.duckdb")
    rows = [{"id": name, "title": name, "text": f"of {query}"} for query in grades for name in grades[query]]
    import_corpus(first, write_corpus(tmp_path / "c.jsonl", rows))
    asked = [Query(query, f"about {query}", f"about {query}", "imported") for query in grades]
    given = [
        ImportedJudgment(query, name, "x", grade)
        for query, found in grades.items()
        for name, grade in found.items()
    ]
    add_judgments(first, given, "x.csv", asked)
    make_split(first, SplitRequest(tuple(PARTS.items()), rules=LEXICAL))
    freeze(first, "v1", override="one annotator is enough for ids")
    export(first, "v1", "beir", tmp_path / "out")
    second = new_project(tmp_path / "second.duckdb")
    import_collection(second, tmp_path / "out", CollectionRequest(annotator="x"))
    assert consensus_grades(second) == grades


def test_trec_ids_with_spaces_are_mapped_with_a_table_and_never_meet(tmp_path: Path) -> None:
    exported = export(awkward(tmp_path), "v1", "trec", tmp_path / "out")
    with (tmp_path / "out" / "qrels.txt").open() as file:
        qrels = pytrec_eval.parse_qrel(file)
    assert qrels["1"] == dict.fromkeys(["1", "a%20b", "a%2520b", 'say%20"x"'], 1)
    assert set(qrels) == {"1", "two%20words"}
    with (tmp_path / "out" / "ids.tsv").open(newline="") as file:
        table = {
            (row["kind"], row["exported"]): row["original"] for row in csv.DictReader(file, delimiter="\t")
        }
    assert table == {
        ("query", "two%20words"): "two words",
        ("document", "a%20b"): "a b",
        ("document", "a%2520b"): "a%20b",
        ("document", 'say%20"x"'): 'say "x"',
    }
    assert exported.ids == {"mapped": 4}
    assert "1\talpha one" in (tmp_path / "out" / "topics.tsv").read_text().splitlines()
