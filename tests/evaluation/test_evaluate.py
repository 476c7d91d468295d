"""From a release and run files to figures; a small project of eight queries, four in each part."""

from __future__ import annotations

import gzip
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from curation.core.errors import InputError, RefusedError
from curation.evaluation.evaluate_runs import evaluate_runs
from curation.evaluation.evaluation import Evaluation
from curation.evaluation.request import EvaluateRequest
from curation.evaluation.scoring.system_files import parse_run_files
from curation.evaluation.scoring.system_runs import ReadingOptions
from curation.ingest.readers.formats import FileLayout
from curation.releases.frozen_release import load_release
from curation.store import Store
from tests.support.gold_project import TOPICS, frozen_project
from tests.support.projects import per_test

OPEN = EvaluateRequest(measures=["ndcg_exp@10", "mrr@10"], by=["part", "type"])
store = per_test(frozen_project)


def trec(path: Path, rows: Iterable[tuple[str, str, int, float]]) -> Path:
    lines = "".join(f"{query} Q0 {document} {rank} {score} tag\n" for query, document, rank, score in rows)
    path.write_bytes(gzip.compress(lines.encode()) if path.suffix == ".gz" else lines.encode())
    return path


def ranked(topic: str, *numbers: int) -> list[tuple[str, str, int, float]]:
    """The documents of a topic by their numbers, best first."""
    return [(f"q-{topic}", f"{topic}-{number}", rank, 3 - rank) for rank, number in enumerate(numbers, 1)]


def written(folder: Path, name: str = "good.trec.gz") -> Path:
    return trec(folder / name, [row for topic in TOPICS for row in ranked(topic, 1, 2)])


def parts(store: Store) -> dict[str, str]:
    return {row["query_id"]: row["part"] for row in load_release(store, "v1").rows("queries")}


def score(
    store: Store,
    *paths: Path,
    options: EvaluateRequest = OPEN,
    reason: str | None = None,
    reading: ReadingOptions = ReadingOptions(),
) -> Evaluation:
    runs = parse_run_files([str(path) for path in paths])
    return evaluate_runs(store, "v1", runs, replace(options, reason=reason), reading=reading)


def test_the_part_that_is_not_sealed_is_evaluated_by_default(store: Store, tmp_path: Path) -> None:
    evaluation = score(store, written(tmp_path))
    assert (evaluation.parts, evaluation.sealed, evaluation.queries) == (("dev",), (), 4)
    [system] = evaluation.runs
    assert system.name == "good"
    figure = system.overall["ndcg_exp@10"]
    assert (figure.value, figure.n, figure.judged, figure.low) == (1.0, 4, 1.0, None)
    assert figure.no_interval == "fewer than 5 queries"
    assert system.files[0].left_out == {"query of another part": 8}
    assert system.per_query["mrr@10"] == (1.0,) * 4


def test_a_sealed_part_needs_a_reason_and_ten_queries(store: Store, tmp_path: Path) -> None:
    run = written(tmp_path)
    for split in ("test", "all"):
        options = replace(OPEN, part=split)
        with pytest.raises(RefusedError, match=r"is sealed.*--reason"):
            score(store, run, options=options)
        with pytest.raises(RefusedError, match="sealed and has fewer than ten queries"):
            score(store, run, options=options, reason="candidate of May")


def test_without_interval_but_with_all_counts_of_what_the_file_held(store: Store, tmp_path: Path) -> None:
    dev = [query.removeprefix("q-") for query, part in parts(store).items() if part == "dev"]
    rows = [*ranked(dev[0], 1, 2), *ranked(dev[1], 2, 1)]
    rows += [(f"q-{dev[2]}", f"{dev[2]}-1", 2, 7.0), (f"q-{dev[2]}", "unknown", 1, 3.0)]
    run = trec(tmp_path / "mixed.trec", [*rows, ("q-nobody", "x", 1, 1.0)])
    [system] = score(store, run).runs
    facts = system.files[0]
    assert (facts.places, facts.missing, facts.unknown_documents, facts.against_scores) == (6, 1, 1, 1)
    assert facts.left_out == {"unknown query": 1}
    assert system.overall["mrr@10"].value == (1 + 0.5 + 1 + 0) / 4
    assert system.overall["mrr@10"].judged == (1 + 1 + 0.5) / 3


def test_files_of_one_name_are_runs_of_one_system(store: Store, tmp_path: Path) -> None:
    one = written(tmp_path, "one.trec")
    two = trec(tmp_path / "two.trec", [row for topic in TOPICS for row in ranked(topic, 2, 1)])
    [system] = evaluate_runs(store, "v1", parse_run_files([f"new={one}", f"new={two}"]), OPEN).runs
    assert [facts.source for facts in system.files] == ["one.trec", "two.trec"]
    assert system.overall["mrr@10"].value == 0.8125
    assert system.seeds["mrr@10"] == (1.0, 0.625)  # kettle-2 has grade 1, too


def test_a_run_may_name_queries_by_text_and_have_ranks_alone(store: Store, tmp_path: Path) -> None:
    lines = ["query\tdocument\trank"]
    lines += [f"best {topic}\t{topic}-{n}\t{rank}" for topic in TOPICS for rank, n in ((2, 2), (1, 1))]
    path = tmp_path / "texts.tsv"
    path.write_text("\n".join(lines), encoding="utf-8")
    assert score(store, path).runs[0].overall["mrr@10"].value == 1


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("q-kettle Q0 kettle-1 1 nan t\n", "line 1: query 'q-kettle', .*the score is 'nan'"),
        ("a Q0 b 1 1 t\n", "has no query of dev.*1 × unknown query such as 'a', where the release has"),
        ("", "run.trec: is empty; expected one record on each line"),
        ("# a comment\n", r"contains no ranked document: the file is empty.*\nExpected one line"),
        # it scored 0: the column that was read held other ids
        ("".join(f"q-{topic} Q0 17 1 2 t\n" for topic in TOPICS), "no document of the run, such as '17', is"),
    ],
)
def test_a_run_that_cannot_be_taken_gets_a_sentence(
    store: Store, tmp_path: Path, content: str, sentence: str
) -> None:
    (tmp_path / "run.trec").write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=sentence):
        score(store, tmp_path / "run.trec")


def test_a_repeated_document_is_refused_or_keeps_its_best_place(store: Store, tmp_path: Path) -> None:
    topic = next(query for query, part in parts(store).items() if part == "dev").removeprefix("q-")
    row = (f"q-{topic}", f"{topic}-1", 3, 0.5)
    run = trec(tmp_path / "run.trec", [*ranked(topic, 1, 2), row])
    with pytest.raises(
        InputError, match=f"line 3: document '{topic}-1' is repeated for query 'q-{topic}', also in line 1"
    ):
        score(store, run)
    facts = score(store, run, reading=ReadingOptions(skip_repeated=True)).runs[0].files[0]
    assert (facts.places, facts.left_out) == (2, {"repeated document of a query": 1})


def test_unknown_parts_and_facets_are_refused_with_what_there_is(store: Store, tmp_path: Path) -> None:
    run = written(tmp_path)
    with pytest.raises(InputError, match=r"has no part train; expected dev, test, all"):
        score(store, run, options=replace(OPEN, part="train"))
    with pytest.raises(InputError, match=r"(?s)'colour' is not a facet .*Facets: type, stratum, segment"):
        score(store, run, options=replace(OPEN, by=["colour"]))


def test_a_table_without_a_header_is_told_how_to_name_its_columns(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "run.tsv"
    path.write_text("".join(f"q-{topic}\t{topic}-1\t1\n" for topic in TOPICS), encoding="utf-8")
    with pytest.raises(InputError) as found:
        score(store, path)
    assert "the first line was read as a header with column names" in found.value.problems
    assert "use --no-header --columns query,document,rank,score" in found.value.way_out
    layout = FileLayout("tsv", columns=("query", "document", "rank"), header=False)
    reading = ReadingOptions(layout=layout)
    assert score(store, path, reading=reading).runs[0].overall["mrr@10"].value == 1


def test_a_release_that_is_open_and_a_run_that_was_parsed_are_not_read_again(
    store: Store, tmp_path: Path
) -> None:
    run = written(tmp_path)
    sources, frozen = parse_run_files([str(run)]), load_release(store, "v1")
    reading = ReadingOptions(parsed_files={})
    first = evaluate_runs(store, frozen, sources, OPEN, reading=reading)
    run.unlink()
    with store.transaction() as cursor:
        cursor.execute("DELETE FROM releases")
    assert evaluate_runs(store, frozen, sources, OPEN, reading=reading) == first
