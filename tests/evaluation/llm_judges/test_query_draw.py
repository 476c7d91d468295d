"""A random sample of the queries that people grade to correct a judge: the draw, its round, and its use."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curation.core.digests import digest
from curation.core.errors import InputError, RefusedError
from curation.core.statistics.difference_estimator import difference_estimate
from curation.evaluation.llm_judges.estimates import estimate_with_judge
from curation.evaluation.llm_judges.judge_import import import_judge
from curation.evaluation.request import EvaluateRequest
from curation.evaluation.scoring.system_files import SystemFile
from curation.ingest.importers.imported_judgment import ImportedJudgment
from curation.labeling.imported import add_judgments
from curation.labeling.requests import RoundRequest
from curation.labeling.rounds.create_round import open_round
from curation.labeling.rounds.query_draw import draw_queries, read_draws
from curation.splits.request import SplitRequest
from curation.splits.split import make_split
from curation.store import Store
from tests.support import examples
from tests.support.freezing import freeze
from tests.support.gold_project import LEXICAL, add_pool
from tests.support.llm_judge import write_grades
from tests.support.pool_project import put_texts
from tests.support.projects import add_names, built_once, rows_of

pytestmark = pytest.mark.slow

QUERIES = [f"q{number:02}" for number in range(60)]
DOCUMENTS = 3


def document_ids(query_id: str) -> list[str]:
    return [f"{query_id}.{place}" for place in range(DOCUMENTS)]


def true_grade(document_id: str) -> int:
    return int(digest("grade", document_id), 16) % 4


def said(document_id: str) -> int:
    """The judge: a grade too high for a quarter of all."""
    return min(3, true_grade(document_id) + (int(digest("judge", document_id), 16) % 4 == 0))


@built_once
def project(store: Store) -> Store:
    """60 queries with a pool that a judge graded; a round over 24 of them, and nobody has graded yet."""
    folder = store.path.parent
    texts = {one: digest(one) for query_id in QUERIES for one in document_ids(query_id)}
    put_texts(store, folder, texts, {query_id: digest("text", query_id)[:16] for query_id in QUERIES})
    pooled = {(q, one): rank for q in QUERIES for rank, one in enumerate(document_ids(q), 1)}
    add_pool(store, pooled)
    grades = {(query_id, one): said(one) for query_id, one in pooled}
    import_judge(store, write_grades(folder / "j.csv", grades), "llm")
    add_names(store, "ada", "ben")
    open_round(store, RoundRequest("correction", ["ada", "ben"], draw=24, duplicates=0, seed=7))
    return store


def drawn_queries(store: Store) -> list[str]:
    with store.reading() as cursor:
        [draw] = read_draws(cursor)
    return sorted(draw.drawn)


def people_grade(store: Store, queries: list[str]) -> None:
    for who in ("ada", "ben"):
        given = [ImportedJudgment(q, one, who, true_grade(one)) for q in queries for one in document_ids(q)]
        add_judgments(store, given, f"{who}.csv")
    make_split(store, SplitRequest((("dev", 0.75), ("test", 0.25)), 1, LEXICAL))
    freeze(store, "v1")


def run(folder: Path) -> SystemFile:
    lines = [
        f"{query_id} Q0 {one} {rank} {9 - rank} x\n"
        for query_id in QUERIES
        for rank, one in enumerate(document_ids(query_id), 1)
    ]
    (folder / "run.trec").write_text("".join(lines))
    return SystemFile("run", folder / "run.trec")


def test_the_round_shows_the_pools_of_the_drawn_queries_and_no_others(project: Store) -> None:
    drawn = drawn_queries(project)
    assert len(drawn) == 24
    shown = rows_of(project, "SELECT DISTINCT query_id FROM presentations")
    assert sorted(row[0] for row in shown) == drawn
    assert rows_of(project, "SELECT count(*) FROM presentations") == [(24 * DOCUMENTS * 2,)]


def test_people_of_the_draw_correct_the_judge_on_everything_that_it_was_drawn_from(
    project: Store, tmp_path: Path
) -> None:
    drawn = drawn_queries(project)
    beside = next(query_id for query_id in QUERIES if query_id not in drawn)
    people_grade(project, [*drawn, beside])
    dev = {row[0] for row in rows_of(project, "SELECT query_id FROM split_assignments WHERE part = 'dev'")}
    estimates = estimate_with_judge(
        project, "v1", [run(tmp_path)], EvaluateRequest("v1", "dev", ["mrr@10"], judge="llm")
    )
    asked = np.array([query_id in dev and query_id in drawn for query_id in QUERIES])
    assert (estimates.everything, estimates.people) == (60, asked.sum())
    assert estimates.chosen_by == ("draw", "split")
    assert sum(estimates.left_out.values()) == int(beside in dev)

    def reciprocal(query_id: str, grade: object) -> float:
        relevant = [rank for rank, one in enumerate(document_ids(query_id), 1) if grade(one) > 0]  # type: ignore[operator]
        return 1 / relevant[0] if relevant else np.nan

    judge = np.array([reciprocal(query_id, said) for query_id in QUERIES])
    people = np.where(asked, [reciprocal(query_id, true_grade) for query_id in QUERIES], np.nan)
    expected = difference_estimate(judge, people, asked, np.full(60, asked.sum() / 60), ["all"] * 60)
    [system] = estimates.runs
    assert system.overall["mrr@10"].estimate.value == pytest.approx(expected.estimate.value)
    assert system.traffic == {}


def test_a_draw_that_people_graded_in_part_is_refused(project: Store, tmp_path: Path) -> None:
    people_grade(project, drawn_queries(project)[1:])
    with pytest.raises(RefusedError, match="1 of the 24 queries that a round drew for people have no grade"):
        estimate_with_judge(project, "v1", [run(tmp_path)], EvaluateRequest("v1", "dev", judge="llm"))


@settings(max_examples=examples(60))
@given(st.lists(st.sampled_from("abc"), min_size=5, max_size=40), st.integers(3, 20), st.integers(0, 5))
def test_each_stratum_has_a_drawn_query_and_the_number_is_met(
    names: list[str], queries: int, seed: int
) -> None:
    strata = {f"q{place}": name for place, name in enumerate(names)}
    if queries >= len(strata):
        with pytest.raises(InputError, match="but not all queries"):
            draw_queries(strata, queries, seed)
        return
    found = draw_queries(strata, queries, seed)
    assert len(found.drawn) == queries == pytest.approx(sum(found.probabilities.values()))
    assert Counter(strata[one] for one in found.drawn).keys() == set(names)
    assert found == draw_queries(dict(reversed(strata.items())), queries, seed)
