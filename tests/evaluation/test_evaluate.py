"""From a release and run files to figures; a small project of eight queries, four in each part."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable
from pathlib import Path

import pytest

from curation.core.errors import InputError, RefusedError
from curation.evaluation.comparison.compared import ComparisonOptions
from curation.evaluation.evaluate_runs import evaluate_runs
from curation.evaluation.evaluation import Evaluation, EvaluationOptions
from curation.evaluation.scoring.inputs.run_sources import RunSource, named_runs
from curation.evaluation.scoring.inputs.system_runs import ReadingOptions
from curation.ingest.readers.formats import FileLayout
from curation.releases.verify import load_release
from curation.store import Store
from tests.support.command_line import invoke
from tests.support.gold_project import TOPICS, frozen_project

OPEN = EvaluationOptions(measures=["ndcg_exp@10", "mrr@10"], by=["part", "type"])


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return frozen_project(tmp_path)


def parts(store: Store) -> dict[str, str]:
    return {row["query_id"]: row["part"] for row in load_release(store, "v1").rows("queries")}


def trec(path: Path, rows: Iterable[tuple[str, str, int, float]]) -> Path:
    lines = "".join(f"{query} Q0 {document} {rank} {score} tag\n" for query, document, rank, score in rows)
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "wt", encoding="utf-8") as file:
        file.write(lines)
    return path


def good(topic: str) -> list[tuple[str, str, int, float]]:
    return [(f"q-{topic}", f"{topic}-1", 1, 2.0), (f"q-{topic}", f"{topic}-2", 2, 1.0)]


def bad(topic: str) -> list[tuple[str, str, int, float]]:
    return [(f"q-{topic}", f"{topic}-2", 1, 2.0), (f"q-{topic}", f"{topic}-1", 2, 1.0)]


def written(folder: Path, name: str = "good.trec.gz") -> Path:
    return trec(folder / name, [row for topic in TOPICS for row in good(topic)])


def score(
    store: Store, *paths: Path, options: EvaluationOptions = OPEN, reason: str | None = None
) -> Evaluation:
    return evaluate_runs(store, "v1", named_runs([str(path) for path in paths]), options, reason)


def test_the_part_that_is_not_sealed_is_evaluated_by_default(store: Store, tmp_path: Path) -> None:
    found = score(store, written(tmp_path))
    assert (found.parts, found.sealed, found.queries) == (("dev",), (), 4)
    [system] = found.runs
    assert system.name == "good"
    figure = system.overall["ndcg_exp@10"]
    assert (figure.value, figure.n, figure.judged, figure.low) == (1.0, 4, 1.0, None)
    assert figure.no_interval == "fewer than 5 queries"
    assert system.files[0].left_out == {"query of another part": 8}
    assert system.per_query is not None
    assert system.per_query["mrr@10"] == (1.0,) * 4


def test_a_small_stratum_has_figures_with_their_own_number_of_queries(store: Store, tmp_path: Path) -> None:
    [system] = score(store, written(tmp_path)).runs
    assert set(system.strata) == {"part", "stratum", "tag"}
    stratum = system.strata["stratum"]["imported"]
    assert (stratum.queries, stratum.left_out) == (4, None)
    figure = stratum.figures["ndcg_exp@10"]
    assert (figure.n, figure.value, figure.no_interval) == (4, 1, "fewer than 5 queries")
    assert system.others["ndcg_exp@10"].worst is None


def test_a_sealed_part_needs_a_reason_and_ten_queries(store: Store, tmp_path: Path) -> None:
    run = written(tmp_path)
    for split in ("test", "all"):
        options = OPEN._replace(split=split)
        with pytest.raises(RefusedError, match=r"is sealed.*--reason"):
            score(store, run, options=options)
        with pytest.raises(RefusedError, match="sealed and has fewer than ten queries"):
            score(store, run, options=options, reason="candidate of May")


def test_without_interval_but_with_all_counts_of_what_the_file_held(store: Store, tmp_path: Path) -> None:
    dev = [query.removeprefix("q-") for query, part in parts(store).items() if part == "dev"]
    rows = [*good(dev[0]), *bad(dev[1])]
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
    two = trec(tmp_path / "two.trec", [row for topic in TOPICS for row in bad(topic)])
    [system] = evaluate_runs(store, "v1", named_runs([f"new={one}", f"new={two}"]), OPEN).runs
    assert [facts.source for facts in system.files] == ["one.trec", "two.trec"]
    assert system.overall["mrr@10"].value == 0.8125
    assert system.seeds["mrr@10"].values == (1.0, 0.625)  # kettle-2 has grade 1, too
    assert system.seeds["mrr@10"].sd == pytest.approx(0.375 / 2**0.5)


def test_a_run_may_name_queries_by_text_and_have_ranks_alone(store: Store, tmp_path: Path) -> None:
    lines = ["query\tdocument\trank"]
    lines += [f"best {topic}\t{topic}-{n}\t{rank}" for topic in TOPICS for rank, n in ((2, 2), (1, 1))]
    path = tmp_path / "texts.tsv"
    path.write_text("\n".join(lines), encoding="utf-8")
    assert score(store, path).runs[0].overall["mrr@10"].value == 1


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ([("q-kettle", "kettle-1", 1, float("nan"))], "line 1: query 'q-kettle', .*the score is 'nan'"),
        ([("a", "b", 1, 1.0)], "has no query of dev.*1 × unknown query such as 'a', where the release has"),
        ([], "run.trec: is empty; expected one record a line"),
    ],
)
def test_a_run_that_cannot_be_taken_gets_a_sentence(
    store: Store, tmp_path: Path, rows: list[tuple[str, str, int, float]], sentence: str
) -> None:
    with pytest.raises(InputError, match=sentence):
        score(store, trec(tmp_path / "run.trec", rows))


def test_a_run_without_any_document_of_the_corpus_is_refused(store: Store, tmp_path: Path) -> None:
    """It scored 0: the column that was read held other ids."""
    query = next(query for query, part in parts(store).items() if part == "dev")
    run = trec(tmp_path / "run.trec", [(query, "17", 1, 2.0), (query, "18", 2, 1.0)])
    with pytest.raises(
        InputError, match="no document of it, such as '17', is in the release's corpus, which has"
    ):
        score(store, run)


def test_a_repeated_document_is_refused_or_keeps_its_best_place(store: Store, tmp_path: Path) -> None:
    topic = next(query for query, part in parts(store).items() if part == "dev").removeprefix("q-")
    row = (f"q-{topic}", f"{topic}-1", 3, 0.5)
    run = trec(tmp_path / "run.trec", [*good(topic), row])
    with pytest.raises(
        InputError, match=f"line 3: document '{topic}-1' again for query 'q-{topic}', also in line 1"
    ):
        score(store, run)
    options = OPEN._replace(reading=ReadingOptions(skip_repeated=True))
    facts = score(store, run, options=options).runs[0].files[0]
    assert (facts.places, facts.left_out) == (2, {"a document again for the same query": 1})


def test_runs_are_named_by_name_or_file() -> None:
    assert named_runs(["bm25=runs/a.trec", "runs/dense.v2.trec.gz"]) == [
        RunSource("bm25", Path("runs/a.trec")),
        RunSource("dense.v2", Path("runs/dense.v2.trec.gz")),
    ]
    with pytest.raises(InputError, match="2 files would all be the system 'run'"):
        named_runs(["a/run.trec", "b/run.trec"])
    with pytest.raises(InputError, match="the file is named 2 times"):
        named_runs(["x=a.trec", "y=a.trec"])
    with pytest.raises(InputError) as missing:
        named_runs(["x=", "=a.trec", ""])
    assert missing.value.problems == [
        "--run x=: the file is missing after =; expected --run x=FILE",
        "--run =a.trec: the name is missing before =; expected --run NAME=a.trec or --run a.trec",
        "--run: no file was named; expected --run FILE or --run NAME=FILE",
    ]


def test_unknown_parts_and_facets_are_refused_with_what_there_is(store: Store, tmp_path: Path) -> None:
    run = written(tmp_path)
    with pytest.raises(InputError, match=r"has no part train; expected dev, test, all"):
        score(store, run, options=OPEN._replace(split="train"))
    with pytest.raises(InputError, match=r"(?s)'colour' is no facet .*Facets: type, stratum, segment"):
        score(store, run, options=OPEN._replace(by=["colour"]))


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("\n\n", "holds nothing but blank lines; expected one record a line\nExport or fetch the file again"),
        ("# a comment\n", r"holds no place of a list: it is empty.*\nExpected one line"),
    ],
)
def test_a_file_without_a_line_is_said_to_be_empty(
    store: Store, tmp_path: Path, content: str, told: str
) -> None:
    blank = tmp_path / "blank.trec"
    blank.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=told) as found:
        score(store, blank)
    assert "--part" not in str(found.value)


def test_a_table_without_a_header_is_told_how_to_name_its_columns(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "run.tsv"
    path.write_text("".join(f"q-{topic}\t{topic}-1\t1\n" for topic in TOPICS), encoding="utf-8")
    with pytest.raises(InputError) as found:
        score(store, path)
    assert "the first line was read as a header with the columns' names" in found.value.problems
    assert "say --no-header --columns query,document,rank,score" in found.value.way_out
    layout = FileLayout("tsv", columns=("query", "document", "rank"), header=False)
    options = OPEN._replace(reading=ReadingOptions(layout=layout))
    assert score(store, path, options=options).runs[0].overall["mrr@10"].value == 1


def test_a_wanted_difference_of_nothing_is_refused(store: Store, tmp_path: Path) -> None:
    run = written(tmp_path)
    with pytest.raises(InputError, match="wanted difference of 0"):
        score(store, run, options=OPEN._replace(comparison=ComparisonOptions(wanted=0)))


def test_the_command_refuses_no_measure_and_a_page_that_cannot_be_written(
    store: Store, tmp_path: Path
) -> None:
    command = ["--project", str(store.path), "evaluate", "v1", "--run", str(written(tmp_path))]
    for empty in ("", ","):
        none = invoke([*command, "--measures", empty])
        assert isinstance(none.exception, InputError)
        assert "no measure was named" in str(none.exception)
        assert "Measures: ndcg_exp[@k], ndcg[@k]" in str(none.exception)
    page = invoke([*command, "--html", str(tmp_path / "nowhere" / "report.html")])
    assert isinstance(page.exception, InputError)
    assert "report.html: its folder does not exist; expected the name of a file" in str(page.exception)


def test_the_command_prints_one_object_with_figures_by_measure(store: Store, tmp_path: Path) -> None:
    run = written(tmp_path)
    project = ["--project", str(store.path)]
    done = invoke(
        [*project, "evaluate", "v1", "--run", f"mine={run}", "--breakdown", "type,segment", "--json"]
    )
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    figure = found["runs"][0]["overall"]["ndcg@10"]
    assert {name: figure[name] for name in ("value", "low", "high", "n", "judged")} == {
        **{"value": 1.0, "low": None, "high": None, "n": 4, "judged": 1.0}
    }
    assert found["runs"][0]["strata"]["segment"]["no segment"]["queries"] == 4
    text = invoke([*project, "evaluate", "v1", "--run", str(run)])
    assert text.exit_code == 0, text.output
    assert "ndcg_exp@10, by what counts" in text.stdout
    assert "The page of --html has also: Query by query, What was judged, Method." in text.stdout


def test_a_release_that_is_open_and_a_run_that_was_parsed_are_not_read_again(
    store: Store, tmp_path: Path
) -> None:
    run = written(tmp_path)
    sources, frozen = named_runs([str(run)]), load_release(store, "v1")
    options = OPEN._replace(reading=ReadingOptions(parsed={}))
    first = evaluate_runs(store, frozen, sources, options)
    run.unlink()
    with store.transaction() as cursor:
        cursor.execute("DELETE FROM releases")
    assert evaluate_runs(store, frozen, sources, options) == first


def test_subtopics_come_from_a_file_of_topic_subtopic_document_and_grade(
    store: Store, tmp_path: Path
) -> None:
    dev = [query.removeprefix("q-") for query, part in parts(store).items() if part == "dev"]
    lines = [f"q-{dev[0]} 1 {dev[0]}-1 2", f"q-{dev[0]} 2 {dev[0]}-2 1", f"q-{dev[1]} 1 {dev[1]}-1 0"]
    lines += [f"q-{dev[0]} 3 elsewhere 1", "q-nobody 1 x 1"]
    path = tmp_path / "subtopics.txt"
    path.write_text("\n".join(lines), encoding="utf-8")
    options = OPEN._replace(measures=["ndcg_exp@10", "alpha_ndcg@10", "num_rel_ret"], subtopics=path)
    found = score(store, written(tmp_path), options=options)
    assert found.subtopics is not None
    assert found.subtopics[1:] == (1, 2, 2, {"unknown document": 1, "unknown query": 1})
    figures = found.runs[0].overall
    assert (figures["alpha_ndcg@10"].value, figures["alpha_ndcg@10"].n) == (1.0, 1)
    total = figures["num_rel_ret"]
    assert (total.value, total.n, total.low, total.no_interval) == (5, 4, None, "a total, no mean")
    for measures, wrong in ((["alpha_ndcg@10"], None), (["map"], path)):
        with pytest.raises(InputError, match=r"--subtopics FILE|has subtopics, and no measure"):
            score(store, written(tmp_path), options=OPEN._replace(measures=measures, subtopics=wrong))
    path.write_text(f"q-{dev[0]} 1 {dev[0]}-1 high\n", encoding="utf-8")
    with pytest.raises(InputError, match="line 1: the grade is 'high'"):
        score(store, written(tmp_path), options=options)
