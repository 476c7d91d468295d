"""Policies in three versions: what is outside a query's filter is not relevant, whatever its text."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from curation.core.errors import InputError
from curation.evaluation.evaluate_runs import evaluate_runs
from curation.evaluation.request import EvaluateRequest
from curation.evaluation.scoring.system_files import SystemFile
from curation.ingest.filters import OUTDATED, describe_filter, explain_exclusion, read_filters
from curation.ingest.importers.corpus import import_corpus
from curation.ingest.importers.imported_judgment import ImportedJudgment
from curation.ingest.importers.queries import read_active_queries
from curation.ingest.importers.query_import import import_queries
from curation.ingest.importers.run_import import import_run
from curation.ingest.requests import make_request
from curation.labeling.consensus.consensus import read_relevance
from curation.labeling.consensus.disputes import find_disputes
from curation.labeling.imported import add_judgments
from curation.labeling.pairs_file import export_pairs
from curation.labeling.requests import RoundRequest
from curation.labeling.rounds.candidates import OUTSIDE_FILTER
from curation.labeling.rounds.create_round import open_round
from curation.labeling.rounds.status import read_round_status
from curation.labeling.rounds.upcoming import read_items, read_open_rounds
from curation.labeling.session.queue import read_queue
from curation.negatives.hard_negatives import find_hard_negatives
from curation.operations.import_jobs import import_for_page
from curation.people.accounts import add_annotator
from curation.people.seal_access import unseal
from curation.pooling.contributions import compute_contributions
from curation.pooling.pool import OUTSIDE as OUTSIDE_POOL
from curation.pooling.pool import build_pool
from curation.pooling.request import PoolRequest
from curation.releases.frozen_release import load_release
from curation.releases.verify import verify
from curation.splits.graded_queries import find_graded_queries, read_labels
from curation.splits.request import SplitRequest
from curation.splits.split import make_split
from curation.store import COMMAND_LINE, Store
from tests.support.freezing import freeze
from tests.support.gold_project import LEXICAL, PARTS, export, write_corpus
from tests.support.projects import PASSWORD, built_once

TOPICS = ("holidays", "laptops", "parking", "travel")
YEARS = (2023, 2024, 2025)
SECTION = (
    "The {topic} of our staff follow one rule in all offices of the company. Ask your manager two weeks "
    "ahead, fill in the form on the intranet, and keep every receipt until the end of the year. Who has "
    "worked here for a year gets {year} points for {topic}, and everybody else gets half."
)


def sections() -> list[dict[str, str]]:
    """A section for each topic and year; parking's is the same text in all years."""
    return [
        {
            "id": f"{topic}-{year}",
            "text": SECTION.format(topic=topic, year=2000 if topic == "parking" else year),
            "valid_from": f"{year}-01-01",
            **({"valid_to": f"{year}-12-31"} if year < YEARS[-1] else {}),
        }
        for topic in TOPICS
        for year in YEARS
    ]


def write_run(path: Path, year: int) -> Path:
    path.write_text("".join(f"q-{topic} Q0 {topic}-{year} 1 1.0 y{year}\n" for topic in TOPICS))
    return path


@built_once
def project(store: Store) -> Store:
    """Queries about the policies of March 2025, and a pool of this year's and last year's sections."""
    folder = store.path.parent
    add_annotator(store, "ann", "annotator", PASSWORD)
    import_corpus(store, write_corpus(folder / "policies.jsonl", sections()))
    asked = [
        {"id": f"q-{topic}", "text": f"points for {topic}", "filter": {"at": "2025-03-01"}}
        for topic in TOPICS
    ]
    import_queries(store, write_corpus(folder / "queries.jsonl", asked))
    for year in (2024, 2025):
        import_run(store, write_run(folder / f"{year}.trec", year), f"y{year}")
    return store


@pytest.mark.slow
def test_last_years_section_is_wrong_from_the_pool_to_the_evaluation(project: Store) -> None:
    folder = project.path.parent
    pool = build_pool(project, PoolRequest(["run:y2024", "run:y2025"], depth=5, random_negatives=0, seed=1))
    assert (pool.candidates, pool.left_out[OUTSIDE_POOL]) == (4, 4)

    export_pairs(project, folder / "elsewhere.csv")
    assert (folder / "elsewhere.csv").read_text().count(
        "The query is only about documents valid at 2025-03-01."
    ) == 4
    open_round(project, RoundRequest("first", ["ann"], overlap=1, duplicates=0))
    shown = read_queue(project, "ann").showings
    assert {item.information_need for item in shown} == {
        "The query is only about documents valid at 2025-03-01."
    }
    assert len(shown) == 4

    grades = [ImportedJudgment(f"q-{topic}", f"{topic}-2025", "ben", 3) for topic in TOPICS]
    misled = ImportedJudgment("q-travel", "travel-2024", "ben", 3)
    add_judgments(project, [*grades, misled], "ben.csv")
    make_split(project, SplitRequest(tuple(PARTS.items()), 1, LEXICAL))
    freeze(project, "v1", override="one person judged")
    release = load_release(project, "v1")
    assert verify(project, "v1").problems == ()
    assert [row["filter"] for row in release.rows("queries")] == [{"at": "2025-03-01"}] * 4
    wrong = [row for row in release.rows("qrels") if row["grade"] == 0]
    assert {row["document_id"]: row["how"] for row in wrong} == {
        f"{topic}-2024": OUTDATED for topic in TOPICS
    }
    assert wrong[0]["reason"] == "valid to 2024-12-31, which is before 2025-03-01"

    found = find_hard_negatives(project, access=unseal(project, "list them", "to test it")).queries
    assert {(one.document_id, one.kind) for query in found for one in query.negatives} == {
        (f"{topic}-2024", OUTDATED) for topic in TOPICS
    }
    assert all(query.positives == 1 and not query.suspects for query in found)

    runs = [SystemFile(f"y{year}", write_run(folder / f"{year}.trec", year)) for year in (2024, 2025)]
    figures = evaluate_runs(project, "v1", runs, EvaluateRequest(measures=["ndcg@10"]))
    assert [run.overall["ndcg@10"].value for run in figures.runs] == [0.0, 1.0]
    assert figures.pool_unjudged == 0  # last year's are judged by their filter

    export(project, "v1", "triplets", folder / "out")
    ids = [json.loads(line) for line in (folder / "out/ids/dev.jsonl").read_text().splitlines()]
    assert ids[0]["negative_kinds"] == [OUTDATED]
    export(project, "v1", "beir", folder / "beir")
    query = json.loads((folder / "beir/queries.jsonl").read_text().splitlines()[0])
    assert query["metadata"]["filter"] == {"at": "2025-03-01"}


def test_a_document_is_outside_by_what_it_says_and_never_by_what_it_leaves_unsaid() -> None:
    wanted = {"product": ["a", "b"], "version": 2, "at": "2025-03-01T12:00"}
    assert explain_exclusion(wanted, {}) is None
    assert explain_exclusion(wanted, {"product": "b", "version": "2", "valid_from": "2025-03-01"}) is None
    assert explain_exclusion(wanted, {"product": ["c", "a"], "valid_to": "2025-03-01"}) is None
    assert explain_exclusion(wanted, {"product": "c"}) == "product is c, not a or b"
    assert explain_exclusion(wanted, {"valid_from": "2025-03-01T12:01"}) == (
        "valid from 2025-03-01T12:01, which is after 2025-03-01T12:00"
    )
    assert describe_filter(wanted) == (
        "The query is only about documents with product a or b, with version 2, valid at 2025-03-01T12:00."
    )


def test_bad_filters_are_named_with_their_lines_and_nothing_is_imported(
    store: Store, write: Callable[..., Path]
) -> None:
    import_corpus(store, write("c.jsonl", [{"id": "d", "text": "a", "product": "x", "version": "1"}]))
    filters = ("x", {"product": {"$gte": 3}}, {"at": "yesterday"}, {"colour": "red"}, {"at": "2025-03-01"})
    rows = [{"text": f"query {place}", "filter": one} for place, one in enumerate(filters)]
    with pytest.raises(InputError) as error:
        import_queries(store, write("q.jsonl", rows))
    assert error.value.problems == [
        "line 1: the filter 'x' is not an object",
        "line 2: the filter has the operator '$gte'; expected values and lists of values",
        "line 3: the filter has 'yesterday' for at, not a date or a time",
        "line 4: no document has the field colour; documents have product, version",
        "line 5: no document has the field valid_from or valid_to; documents have product, version",
    ]
    with store.reading() as cursor:
        assert read_active_queries(cursor) == []


def test_a_filter_is_json_in_a_table_and_an_empty_one_takes_it_away(
    store: Store, write: Callable[..., Path]
) -> None:
    import_corpus(store, write("c.csv", "id,text,product\nd,a,x\n"))
    for cell, held in (('"{""product"": ""x""}"', {"product": "x"}), ("", {"product": "x"}), ("{}", None)):
        import_queries(store, write("q.csv", f"id,text,filter\n1,kettle,{cell}\n"))
        assert read_filters(store).queries.get("1") == held


def test_a_validity_that_is_no_date_is_refused_where_a_filter_needs_it(
    store: Store, write: Callable[..., Path]
) -> None:
    import_corpus(store, write("c.csv", "id,text,valid_to\nd,a,soon\n"))
    import_queries(store, write("q.jsonl", [{"text": "kettle", "filter": {"at": "2025-03-01"}}]))
    with pytest.raises(InputError, match="The document 'd' has 'soon' for valid_to, not a date"):
        read_filters(store)


WORDS = ("red", "green", "blue")


@built_once
def judged_before(store: Store) -> Store:
    """Queries, and documents of all products and validities, most of them found relevant by two people."""
    folder = store.path.parent
    for name in ("ann", "eve"):
        add_annotator(store, name, "annotator", PASSWORD)
    dates: list[dict[str, Any]] = [{}, {"Valid from": "2025-06-01"}, {"valid_to": "2024-12-31"}]
    products: list[dict[str, Any]] = [{}, {"product": "x"}, {"product": ["y", "z"]}]
    rows = [
        {"id": f"{word}-{number}", "text": f"{word} kettles of number {number}", **date, **product}
        for word in WORDS
        for number, (date, product) in enumerate(itertools.product(dates, products))
    ]
    import_corpus(store, write_corpus(folder / "c.jsonl", rows))
    import_queries(store, write_corpus(folder / "q.jsonl", [{"id": one, "text": one} for one in WORDS]))
    build_pool(store, PoolRequest(["bm25"], depth=20, random_negatives=0, seed=1))
    open_round(store, RoundRequest("open", ["ann", "eve"], overlap=1, duplicates=0.2))
    grades = [
        ImportedJudgment(one["id"].split("-")[0], one["id"], who, grade)
        for one in rows
        for who, grade in (("ben", 3), ("cy", 1 if one["id"].endswith("0") else 3))
    ]
    add_judgments(store, [one for one in grades if not one.document_id.endswith(("1", "5"))], "b.csv")
    return store


@pytest.mark.slow
def test_no_output_counts_a_document_outside_the_filter_as_relevant(judged_before: Store) -> None:
    store, folder = judged_before, judged_before.path.parent
    before = sum(one.presentations for one in read_round_status(store, "open").annotators)
    wanted: dict[str, Any] = {
        "red": {"at": "2025-03-01"},
        "green": {"product": ["x", "y"]},
        "blue": {"product": "q"},
    }
    file = write_corpus(
        folder / "filters.jsonl", [{"id": one, "text": one, "filter": wanted[one]} for one in WORDS]
    )
    imported = import_for_page(store, make_request("queries", file), COMMAND_LINE)
    everything = {(word, f"{word}-{number}") for word in WORDS for number in range(9)}
    outside_all = set(read_filters(store).find_excluded_pairs(everything))
    assert {len([pair for pair in outside_all if pair[0] == word]) for word in WORDS} == {6, 0}

    status = read_round_status(store, "open")
    assert status.left_out[OUTSIDE_FILTER] + sum(one.presentations for one in status.annotators) == before
    assert f"{status.left_out[OUTSIDE_FILTER]} items of rounds are now outside" in " ".join(imported.remarks)
    with store.reading() as cursor:
        items = [one for who in ("ann", "eve") for one in read_items(cursor, who, read_open_rounds(cursor))]
    shown = {(one.query_id, one.document_id) for one in items}
    assert (len(items), shown & outside_all) == (sum(one.presentations for one in status.annotators), set())
    again = open_round(store, RoundRequest("again", ["ann"], overlap=1, duplicates=0, again=True))
    assert (again.candidates, again.left_out[OUTSIDE_FILTER]) == (27 - len(outside_all), len(outside_all))
    assert not {(one.query_id, one.document_id) for one in find_disputes(store)} & outside_all

    relevance = read_relevance(store)
    assert not any(map(relevance.is_relevant, outside_all))
    assert any(map(relevance.is_relevant, everything - outside_all))
    assert compute_contributions(store, relevance).relevant == sum(map(relevance.is_relevant, everything))
    with store.reading() as cursor:
        inputs = find_graded_queries(read_labels(cursor)).inputs
    assert not {(one, name) for one, names in inputs.relevant.items() for name in names} & outside_all
    make_split(store, SplitRequest(tuple(PARTS.items()), 1, LEXICAL))
    freeze(store, "v1", override="to test it", allow_disputed=True)
    relevant = {
        (row["query_id"], row["document_id"])
        for row in load_release(store, "v1").rows("qrels")
        if row["grade"]
    }
    assert relevant
    assert not relevant & outside_all
