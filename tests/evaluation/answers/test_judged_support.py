"""Support of nuggets graded by a judge for all queries, and by people for whole queries that a round drew."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from curation.core.digests import digest
from curation.core.errors import NotFoundError, RefusedError
from curation.core.statistics.difference_estimator import difference_estimate
from curation.evaluation.answers.answers_to_grade import write_answers_to_grade
from curation.evaluation.answers.evaluate_answers import evaluate_answers
from curation.evaluation.answers.graded_answers import read_answer_grades
from curation.evaluation.llm_judges.estimates import JudgedEvaluation
from curation.evaluation.llm_judges.judge_import import import_judge
from curation.evaluation.request import EvaluateRequest
from curation.evaluation.scoring.system_files import SystemFile
from curation.guides.guide import store_guide
from curation.guides.guide_text import read_guide
from curation.ingest.importers.corpus import import_corpus
from curation.ingest.importers.imported_judgment import ImportedJudgment
from curation.ingest.importers.nuggets import import_nuggets
from curation.labeling.imported import add_judgments
from curation.labeling.requests import RoundRequest
from curation.labeling.rounds.create_round import open_round
from curation.labeling.rounds.query_draw import read_draws
from curation.splits.request import SplitRequest
from curation.splits.split import make_split
from curation.store import Store
from curation.store.row_types import Query
from tests.evaluation.answers.test_evaluate_answers import jsonl, pooled
from tests.support import ROOT
from tests.support.freezing import freeze
from tests.support.gold_project import LEXICAL
from tests.support.llm_judge import write_grades
from tests.support.projects import add_names, built_once, copied, new_project

QUERIES = [f"q{number:02}" for number in range(40)]
SILENT = QUERIES[:4]
"""The system does not answer these."""
DRAWN = 16


def facts(query: str) -> list[tuple[str, bool]]:
    """Two or three nuggets: vital, okay, and of every other query vital again."""
    kinds = [True, False, True][: 2 + QUERIES.index(query) % 2]
    return [(f"fact {digest(query, place)[:8]}", vital) for place, vital in enumerate(kinds)]


def true_grade(fact: str) -> int:
    return int(digest("grade", fact), 16) % 3


def said(fact: str) -> int:
    """The judge: a grade too high for a third of all."""
    return min(2, true_grade(fact) + (int(digest("judge", fact), 16) % 3 == 0))


@copied
def gold_with_nuggets(folder: Path) -> Store:
    store = new_project(folder / "project.duckdb")
    words = {query: digest("words", query)[:12] for query in QUERIES}
    documents = [{"id": one, "title": one, "text": one} for one in words.values()]
    import_corpus(store, jsonl(folder / "c.jsonl", documents))
    asked = [Query(query, word, word, "imported") for query, word in words.items()]
    for who in ("ada", "ben"):
        given = [
            ImportedJudgment(query, word, who, number % 2)
            for number, (query, word) in enumerate(words.items())
        ]
        add_judgments(store, given, f"{who}.csv", asked)
    rows = [
        {"qid": query, "nugget": text, "importance": "vital" if vital else "okay"}
        for query in QUERIES
        for text, vital in facts(query)
    ]
    import_nuggets(store, jsonl(folder / "n.jsonl", rows))
    make_split(store, SplitRequest((("dev", 1.0),), 1, LEXICAL))
    freeze(store, "v1")
    return store


@built_once
def support(store: Store) -> Store:
    """What was written to grade, pooled, graded by a judge, and a round over some whole queries."""
    folder = store.path.parent
    kit = folder / "kit"
    gold = gold_with_nuggets(folder / "gold")
    write_answers_to_grade(gold, "v1", [answers(folder)], "support", kit)
    gold.close()
    with store.transaction() as cursor:
        store_guide(cursor, read_guide(ROOT / "labeling_guides" / "answer-support.md"))
    pool = pooled(store, kit)
    pairs = written(kit)
    assert pairs.keys() - set(pool), "equal answers are pooled under one id"
    grades = {pair: said(fact) for pair, fact in pairs.items()}
    import_judge(store, write_grades(folder / "j.csv", grades), "llm")
    add_names(store, "ada", "ben")
    open_round(store, RoundRequest("correction", ["ada", "ben"], draw=DRAWN, duplicates=0, seed=3))
    return store


def written(kit: Path) -> dict[tuple[str, str], str]:
    """The pairs of nugget and answer, with the text of the nugget."""
    lines = [line.split() for line in (kit / "answers.trec").read_text().splitlines()]
    asked = [json.loads(line) for line in (kit / "queries.jsonl").read_text().splitlines()]
    texts = {row["id"]: row["text"].rpartition(" (")[0] for row in asked}
    return {(line[0], line[2]): texts[line[0]] for line in lines}


def answers(folder: Path, silent: list[str] = SILENT) -> SystemFile:
    """Every other answer is word for word the same."""
    rows = [
        {"query_id": query, "answer": f"answer {digest(query)[:10]}" if place % 2 else "I do not know"}
        for place, query in enumerate(QUERIES)
        if query not in silent
    ]
    return SystemFile("new", jsonl(folder / "new.jsonl", rows))


@pytest.fixture
def gold(tmp_path: Path) -> Store:
    return gold_with_nuggets(tmp_path / "gold")


def drawn_queries(store: Store) -> set[str]:
    """The queries with a drawn nugget."""
    return {
        query for query in QUERIES for nugget in nuggets_of(store, query) if nugget in drawn_nuggets(store)
    }


def nuggets_of(store: Store, query: str) -> dict[str, str]:
    """Id → fact, of the nuggets of one query."""
    with store.reading() as cursor:
        rows = cursor.execute("SELECT query_id, text FROM queries").fetchall()
    ids = {text.rpartition(" (")[0]: nugget for nugget, text in rows}
    return {ids[fact]: fact for fact, _ in facts(query) if fact in ids}


def drawn_nuggets(store: Store) -> frozenset[str]:
    with store.reading() as cursor:
        [draw] = read_draws(cursor)
    return draw.drawn


def people_grade(store: Store) -> None:
    """Two people grade the nuggets that were drawn, and the release is frozen."""
    with store.reading() as cursor:
        rows = cursor.execute(
            "SELECT query_id, document_id, text FROM candidates JOIN queries USING (query_id) ORDER BY ALL"
        ).fetchall()
    drawn = [row for row in rows if row[0] in drawn_nuggets(store)]
    for who in ("ada", "ben"):
        given = [
            ImportedJudgment(nugget, one, who, true_grade(text.rpartition(" (")[0]))
            for nugget, one, text in drawn
        ]
        add_judgments(store, given, f"{who}.csv")
    make_split(store, SplitRequest((("graded", 1.0),), 0, LEXICAL))
    freeze(store, "graded", override="a test")
    store.close()


def judged(gold: Store, support: Store, judge: str = "llm", silent: list[str] = SILENT) -> JudgedEvaluation:
    grades = read_answer_grades("--support", f"{support.path}=graded")
    estimates = evaluate_answers(
        *(gold, "v1", [answers(gold.path.parent, silent)], EvaluateRequest(judge=judge)),
        grades={"support": grades},
    ).judged
    assert estimates is not None
    return estimates


def weighted(query: str, grade: Callable[[str], int]) -> float:
    """By hand: vital nuggets count 1, okay ones half; supported is 1, in part 0.5."""
    shares = {fact: grade(fact) / 2 for fact, _ in facts(query)}
    weights = {fact: 1 if vital else 0.5 for fact, vital in facts(query)}
    return sum(weights[fact] * share for fact, share in shares.items()) / sum(weights.values())


def test_a_draw_takes_all_nuggets_of_a_query_or_none(support: Store) -> None:
    drawn = drawn_nuggets(support)
    whole = [
        query for query in QUERIES if drawn.issuperset(nuggets_of(support, query)) and query not in SILENT
    ]
    assert len(whole) == DRAWN
    assert len(drawn) == sum(len(facts(query)) for query in whole)
    with support.reading() as cursor:
        [draw] = read_draws(cursor)
    assert [*draw.counts.values()] == [(36, DRAWN)], "queries, not nuggets"
    assert set(draw.probabilities.values()) == {DRAWN / 36}


def test_people_of_whole_queries_correct_the_judge_and_unanswered_ones_count_0(
    gold: Store, support: Store
) -> None:
    drawn = drawn_queries(support)
    people_grade(support)
    grades = {"support": read_answer_grades("--support", f"{support.path}=graded")}
    (graded,) = evaluate_answers(gold, "v1", [answers(gold.path.parent)], grades=grades).systems
    estimates = judged(gold, support)
    assert (estimates.everything, estimates.people, estimates.chosen_by) == (36, DRAWN, ("draw",))
    assert (estimates.strata, estimates.left_out) == ({"not drawn from traffic": (DRAWN, 36)}, {})
    asked = np.array([query in drawn or query in SILENT for query in QUERIES])
    judge, people = (
        np.array([0 if query in SILENT else weighted(query, grade) for query in QUERIES])
        for grade in (said, true_grade)
    )
    chances = np.array([1 if query in SILENT else DRAWN / 36 for query in QUERIES])
    strata = ["silent" if query in SILENT else "all" for query in QUERIES]
    expected = difference_estimate(judge, np.where(asked, people, np.nan), asked, chances, strata)
    [system] = estimates.runs
    ours = system.overall["nuggets_weighted"]
    assert ours.estimate.value == pytest.approx(expected.estimate.value)
    assert ours.estimate[1:3] == pytest.approx(expected.estimate[1:3])
    assert (ours.sampled, ours.everything) == (DRAWN, 36)
    known = people[[QUERIES.index(query) for query in drawn]]
    assert graded.ungraded == {"support": 36 - DRAWN}
    assert graded.overall["nuggets_weighted"].value == pytest.approx(known.sum() / (DRAWN + len(SILENT)))
    assert ours.people_alone.value == pytest.approx(known.mean() * 36 / 40), (
        "the plain mean, with 0 for silence"
    )
    assert ours.judge_alone == pytest.approx(judge.mean())
    assert set(system.overall) == {
        f"nuggets_{which}{strict}" for which in ("all", "vital", "weighted") for strict in ("", "_strict")
    }


def test_answers_that_are_not_graded_are_refused_and_so_is_an_unknown_judge(
    gold: Store, support: Store
) -> None:
    people_grade(support)
    with pytest.raises(
        RefusedError, match=r"4 queries with an answer, such as 'q00'.*could not be drawn completely"
    ):
        judged(gold, support, silent=[])
    with pytest.raises(NotFoundError, match=r"project\.duckdb: The project has no judge 'other'"):
        judged(gold, support, judge="other")


def test_figures_of_few_of_peoples_queries_are_not_shown(gold: Store, support: Store) -> None:
    """A system that answers half of the queries: people drew fewer than ten of these."""
    drawn = sorted(drawn_queries(support))
    people_grade(support)
    estimates = judged(gold, support, silent=[*SILENT, *drawn[9:]])
    [system] = estimates.runs
    assert system.overall == {}
    assert system.too_few["nuggets_all"] == 9
