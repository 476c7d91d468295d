"""Evaluation with a judge: people's grades of some queries correct the judge's of all."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from curation.core.digests import digest
from curation.core.errors import RefusedError
from curation.core.statistics.difference_estimator import difference_estimate
from curation.evaluation.llm_judges.estimates import JudgedEvaluation, estimate_with_judge
from curation.evaluation.llm_judges.human_sample import find_human_sample
from curation.evaluation.llm_judges.judge_import import import_judge
from curation.evaluation.request import EvaluateRequest
from curation.evaluation.scoring.system_files import SystemFile
from curation.ingest.importers.corpus import import_corpus
from curation.ingest.importers.imported_judgment import ImportedJudgment
from curation.labeling.imported import add_judgments
from curation.queries.sampling.draw import draw_sample
from curation.queries.sampling.requests import DrawRequest, TopUpRequest
from curation.queries.sampling.top_up import top_up
from curation.releases.frozen_release import load_release
from curation.splits.request import SplitRequest
from curation.splits.split import make_split
from curation.store import Store, append
from curation.store.release_parts import PartText
from tests.support.command_line import invoke
from tests.support.freezing import freeze
from tests.support.gold_project import LEXICAL, add_pool, frozen_project, write_corpus
from tests.support.llm_judge import write_grades
from tests.support.projects import built_once, rows_of

DOCUMENTS = 4
QUERIES = [f"{digest(n)[:9]} {digest(n, 'more')[:9]}" for n in range(90)]


def true_grade(query: str, number: int) -> int:
    return int(digest("grade", query, number), 16) % 4


def said(query: str, number: int) -> int:
    """The judge: right on three of four pairs, else a grade too high."""
    right = int(digest("judge", query, number), 16) % 4 > 0
    return min(3, true_grade(query, number) + (not right))


def ranked(query: str) -> list[int]:
    return sorted(range(DOCUMENTS), key=lambda number: digest("run", query, number))


def log(store: Store) -> None:
    with store.transaction() as cursor:
        cursor.execute("INSERT INTO traffic_imports VALUES ('log', 'log', 90, '{}', now()::TIMESTAMP)")
        columns = {"import_id": ["log"] * 90, "line": list(range(90)), "text": QUERIES, "normalised": QUERIES}
        append(cursor, "traffic", {**columns, "count": [1 + 200 // (n + 1) for n in range(90)]})


def ids(store: Store) -> dict[str, str]:
    """Query id → text, of the current sample."""
    return dict(
        rows_of(
            store,
            """SELECT query_id, text FROM sample_queries JOIN queries USING (query_id)
            WHERE sample_id = (SELECT value FROM settings WHERE name = 'sample')""",
        )
    )


def document(query: str, number: int) -> str:
    return f"{digest(query)[:8]}-{number}"


@built_once
def project(store: Store) -> Store:
    """Thirty queries drawn, graded by two people, split and frozen; topped up to seventy, all pooled."""
    texts = [
        {"id": document(query, n), "title": digest(query, n), "text": digest(n, query)}
        for query in QUERIES
        for n in range(DOCUMENTS)
    ]
    import_corpus(store, write_corpus(store.path.parent / "corpus.jsonl", texts))
    log(store)
    draw_sample(store, DrawRequest(30, seed=2))
    for who in ("ada", "ben"):
        given = [
            ImportedJudgment(query_id, document(text, n), who, true_grade(text, n))
            for query_id, text, n in sampled_pairs(store)
        ]
        add_judgments(store, given, f"{who}.csv")
    make_split(store, SplitRequest((("dev", 0.6), ("test", 0.4)), 1, LEXICAL))
    freeze(store, "v1")
    top_up(store, TopUpRequest(size=70))
    add_pool(store, {(query_id, document(text, n)): n + 1 for query_id, text, n in sampled_pairs(store)})
    return store


def sampled_pairs(store: Store) -> list[tuple[str, str, int]]:
    """Query id, its text and the number of a document, of the current sample."""
    return [(query_id, text, n) for query_id, text in ids(store).items() for n in range(DOCUMENTS)]


def bring(store: Store, folder: Path, lacking: int = 0) -> None:
    pairs = sampled_pairs(store)[lacking:]
    grades = {(query_id, document(text, n)): said(text, n) for query_id, text, n in pairs}
    import_judge(store, write_grades(folder / "j.csv", grades), "llm")


def run(store: Store, folder: Path) -> SystemFile:
    lines = [
        f"{query_id} Q0 {document(text, number)} {rank} {10 - rank} x\n"
        for query_id, text in ids(store).items()
        for rank, number in enumerate(ranked(text), 1)
    ]
    (folder / "run.trec").write_text("".join(lines), encoding="utf-8")
    return SystemFile("run", folder / "run.trec")


def estimated(store: Store, folder: Path, split: str | None = None) -> JudgedEvaluation:
    return estimate_with_judge(
        store, "v1", [run(store, folder)], EvaluateRequest("v1", split, ["mrr@10", "judged@10"], judge="llm")
    )


def reciprocal(text: str, grade: object) -> float:
    """1 / rank of the first document above grade 0; NaN without one."""
    found = [rank for rank, number in enumerate(ranked(text), 1) if grade(text, number) > 0]  # type: ignore[operator]
    return 1 / found[0] if found else np.nan


@pytest.mark.slow
def test_people_of_the_open_part_correct_the_judge_on_the_whole_sample(
    project: Store, tmp_path: Path
) -> None:
    bring(project, tmp_path)
    estimates = estimated(project, tmp_path)
    texts = dict(sorted(ids(project).items()))
    dev = {row[0] for row in rows_of(project, "SELECT query_id FROM split_assignments WHERE part = 'dev'")}
    strata = dict(rows_of(project, "SELECT query_id, stratum FROM sample_queries"))
    assert (estimates.everything, estimates.people) == (70, len(dev))
    assert estimates.chosen_by == ("split", "top-up")
    assert estimates.grades == 70 * DOCUMENTS
    asked = np.array([query_id in dev for query_id in texts])
    shares = {
        name: sum(strata[q] == name for q in dev) / sum(strata[q] == name for q in texts)
        for name in set(strata.values())
    }
    expected = difference_estimate(
        np.array([reciprocal(text, said) for text in texts.values()]),
        np.where(asked, [reciprocal(text, true_grade) for text in texts.values()], np.nan),
        asked,
        np.array([shares[strata[query_id]] for query_id in texts]),
        [strata[query_id] for query_id in texts],
    )
    [system] = estimates.runs
    assert list(system.overall) == ["mrr@10"]
    ours = system.overall["mrr@10"]
    assert ours.estimate.value == pytest.approx(expected.estimate.value)
    assert ours.estimate.low == pytest.approx(expected.estimate.low)
    assert ours.saved == pytest.approx(expected.saved)
    truth = np.nanmean([reciprocal(text, true_grade) for text in texts.values()])
    assert ours.estimate.low <= truth <= ours.estimate.high
    assert system.traffic["mrr@10"].estimate.value != ours.estimate.value


def test_a_sealed_part_is_refused_and_its_queries_still_count_by_the_judge(
    project: Store, tmp_path: Path
) -> None:
    bring(project, tmp_path)
    for split in ("test", "all"):
        with pytest.raises(RefusedError, match="test of the release 'v1' is sealed"):
            estimated(project, tmp_path, split)


def test_a_judge_that_lacks_a_pair_of_the_pools_is_refused_by_name(project: Store, tmp_path: Path) -> None:
    bring(project, tmp_path, lacking=5)
    with pytest.raises(RefusedError, match=r"did not grade 5 of the 280 pairs .* belong to 2 queries"):
        estimated(project, tmp_path)


def test_queries_that_nobody_pooled_are_refused(project: Store, tmp_path: Path) -> None:
    bring(project, tmp_path)
    top_up(project, TopUpRequest(size=72))
    with pytest.raises(RefusedError, match="2 of the 72 queries have no pool"):
        estimated(project, tmp_path)


def test_queries_that_people_were_to_grade_and_did_not_make_no_probability_sample(
    project: Store, tmp_path: Path
) -> None:
    """Had the release been frozen with some of the drawn queries ungraded, nobody knows why these."""
    bring(project, tmp_path)
    with project.transaction() as cursor:
        first = cursor.execute("SELECT sample_id FROM samples ORDER BY rowid LIMIT 1").fetchall()[0][0]
        cursor.execute(
            """INSERT INTO sample_queries SELECT $first, query_id, 'tail', 1, 0.5 FROM sample_queries
            WHERE query_id NOT IN (SELECT query_id FROM sample_queries WHERE sample_id = $first) LIMIT 3""",
            {"first": first},
        )
    with pytest.raises(RefusedError, match="3 of the 33 queries that were drawn for people have no grade"):
        estimated(project, tmp_path)


def test_a_part_of_a_split_by_time_is_no_random_sample(project: Store, tmp_path: Path) -> None:
    bring(project, tmp_path)
    release = load_release(project, "v1")
    split = next(iter(release.texts["split"]))
    split["parameters"]["by_time"] = True
    by_time = replace(release, texts={**release.texts, "split": PartText.of_rows([split])})
    dev = [row["query_id"] for row in release.rows("queries") if row["part"] == "dev"]
    every = [row["query_id"] for row in release.rows("queries")]
    with project.reading() as cursor:
        with pytest.raises(RefusedError, match="is by time"):
            find_human_sample(cursor, by_time, dev)
        assert find_human_sample(cursor, by_time, every).chosen_by == ("top-up",)


def test_another_draw_is_no_top_up(project: Store, tmp_path: Path) -> None:
    bring(project, tmp_path)
    made = run(project, tmp_path)
    draw_sample(project, DrawRequest(60, seed=9))
    with pytest.raises(RefusedError, match="the release has a different draw"):
        estimate_with_judge(project, "v1", [made], EvaluateRequest("v1", None, ["mrr@10"], judge="llm"))


def test_imported_queries_are_everything_where_none_was_drawn(tmp_path: Path) -> None:
    store = frozen_project(tmp_path)
    rows = rows_of(store, "SELECT query_id, document_id FROM candidates ORDER BY ALL")
    import_judge(store, write_grades(tmp_path / "j.csv", dict.fromkeys(rows, 1)), "llm")
    (tmp_path / "run.trec").write_text("".join(f"{q} Q0 {d} 1 1 x\n" for q, d in rows), encoding="utf-8")
    runs = [SystemFile("run", tmp_path / "run.trec")]
    estimates = estimate_with_judge(store, "v1", runs, EvaluateRequest("v1", None, ["mrr@10"], judge="llm"))
    dev = rows_of(store, "SELECT count(*) FROM split_assignments WHERE part = 'dev'")[0][0]
    assert (estimates.everything, estimates.people, estimates.chosen_by) == (8, dev, ("split",))
    assert estimates.strata == {"imported": (dev, 8)}
    assert estimates.runs[0].traffic == {}
    assert estimates.runs[0].overall["mrr@10"].no_interval is not None


def test_the_command_shows_estimates_beside_the_evaluation(project: Store, tmp_path: Path) -> None:
    bring(project, tmp_path)
    made = run(project, tmp_path)
    path = ["--project", str(project.path)]
    project.close()
    asked = [*path, "evaluate", "v1", "--run", str(made.path), "--judge", "llm", "--measures", "ndcg_exp@10"]
    shown = invoke(asked, catch_exceptions=False).stdout
    assert "The judge llm graded the pools of 70 queries" in shown
    assert "saved" in shown
    answer = json.loads(invoke([*asked, "--json"]).stdout)
    figure = answer["judge"]["runs"][0]["overall"]["ndcg_exp@10"]
    assert figure["estimate"]["low"] is not None
    assert answer["runs"][0]["overall"]["ndcg_exp@10"]["n"] == answer["judge"]["people"]
