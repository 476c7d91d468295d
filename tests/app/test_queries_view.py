"""The pages Queries and Pool, and opening a round, run by AppTest on a real project with real jobs."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from app import context
from curation.core.errors import RefusedError
from curation.core.progress import silent
from curation.ingest.importers.corpus import import_corpus
from curation.ingest.importers.imported_judgment import ImportedJudgment
from curation.ingest.importers.traffic.traffic_import import import_traffic
from curation.ingest.readers.fields import TrafficFields
from curation.labeling.judgments.imported import add_judgments
from curation.labeling.rounds.create_round import open_round
from curation.operations.jobs import Job, jobs_of, last_job
from curation.operations.jobs.stored import begin, end
from curation.operations.registry import OPERATIONS
from curation.people.annotators import add_annotator
from curation.pooling.pool import build_pool
from curation.pooling.pool_report import last_pool
from curation.queries.sampling.sample import draw_sample
from curation.queries.sampling.stored_sample import current_sample
from curation.queries.sampling.tags.stored_tags import set_tags, tagged_queries, write_query
from curation.store import Store, open_store
from curation.store.rows import Annotator
from tests.support.page import html, page_at

PARTS = {
    "Sample": ("queries", "Sample"),
    "Queries": ("queries", "All queries"),
    "Pool": ("pool", ""),
    "Round": ("rounds", "Open a round"),
}
"""The steps from a log to a round: the page of each, and its part."""
LEE, ANN = Annotator("lee", "lead", False), Annotator("ann", "annotator", False)
HOSTILE = "<img src=x onerror=alert(1)> **bold** zebras"
QUERIES = ["how do zebras sleep", "volcano", "tea from assam in march", HOSTILE]


@pytest.fixture(scope="session")
def peopled(empty_project: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with two leads and two annotators; tests copy it, as hashing passwords takes long."""
    store = open_store(
        Path(shutil.copy(empty_project, tmp_path_factory.mktemp("peopled") / "project.duckdb"))
    )
    for name, role in (("lee", "lead"), ("mia", "lead"), ("ann", "annotator"), ("bob", "annotator")):
        add_annotator(store, name, role, "correct horse battery")
    store.close()
    return store.path


@pytest.fixture
def project(peopled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    store = open_store(Path(shutil.copy(peopled, tmp_path / "project.duckdb")))
    monkeypatch.setenv(context.PROJECT, str(store.path))
    yield store
    jobs_of(store).wait()
    store.close()


@pytest.fixture
def filled(project: Store, tmp_path: Path) -> Store:
    """A corpus and a log of four queries."""
    topics = ["zebras", "volcano", "tea", "lakes", "rivers", "trains"]
    documents = [
        {"_id": f"d{number}", "title": HOSTILE[:28], "text": f"{topics[number % 6]} and item{number}"}
        for number in range(30)
    ]
    (tmp_path / "corpus.jsonl").write_text("\n".join(map(json.dumps, documents)))
    rows = [{"query": text, "count": number + 1} for number, text in enumerate(QUERIES)]
    (tmp_path / "log.jsonl").write_text("\n".join(map(json.dumps, rows)))
    import_corpus(project, tmp_path / "corpus.jsonl")
    import_traffic(project, tmp_path / "log.jsonl", TrafficFields(query="query", count="count"))
    return project


def run(step: str, annotator: Annotator = LEE) -> AppTest:
    """The page at a step, as the annotator sees it."""

    address, part = PARTS[step]
    page = page_at(address, annotator)
    if part:
        page.query_params["part"] = part
    page.run()
    assert not page.exception, page.exception
    return page


def labelled(elements: Any, label: str) -> Any:
    """The widget of that label."""
    found = [element for element in elements if element.label == label]
    assert len(found) == 1, [element.label for element in elements]
    return found[0]


def last(store: Store) -> Job:
    with store.reading() as cursor:
        job = last_job(cursor)
    assert job is not None
    return job


def count(store: Store, table: str) -> int:
    with store.reading() as cursor:
        return int(cursor.execute(f"SELECT count(*) FROM {table}").fetchall()[0][0])


@pytest.mark.parametrize("step", PARTS)
def test_every_step_says_what_there_is_not_yet(project: Store, step: str) -> None:
    page = run(step)
    assert not page.error
    assert len(page.info) == 1


@pytest.mark.slow
def test_a_sample_is_drawn_once_as_the_command_would_and_shown_beside_the_traffic(filled: Store) -> None:
    page = run("Sample")
    labelled(page.number_input, "Queries to draw").set_value(3)
    button = labelled(page.button, "Draw the sample")
    button.click().run()
    button.click().run()
    assert not page.warning, "a second click comes from no older page"
    jobs_of(filled).wait()
    job = last(filled)
    assert (job.outcome, job.started_by, count(filled, "jobs")) == ("done", "lee", 1)
    page = run("Sample")
    assert "Drew 3 queries; 3 new to the project." in html(page)
    assert "<td>tail</td>" in html(page)
    assert "Fewer than 10 queries were drawn" in html(page)
    with filled.reading() as cursor:
        by_page = cursor.execute("SELECT sample_id FROM samples").fetchall()[0][0]
        by = cursor.execute("SELECT actor FROM events WHERE action = 'sample'").fetchall()
    assert draw_sample(filled, 3, 0).sample_id == by_page, "the form's defaults are the command's"
    assert by == [("lee",)], "the audit trail names the lead"


def test_what_the_draw_refuses_stands_beside_its_form(filled: Store) -> None:
    end(
        filled,
        begin(filled, "sample", {}, "lee", None)[0].job_id,
        "refused",
        "4 queries and 5 were asked for.",
    )
    assert "5 were asked for" in run("Sample").error[0].value
    assert not run("Pool").error


def test_all_that_the_command_takes_the_form_takes(filled: Store) -> None:
    page = run("Sample")
    labelled(page.number_input, "Queries to draw").set_value(3)
    labelled(page.text_area, "Quotas: an exact number from a stratum").set_value("head=1\n\ntail=1\n")
    labelled(page.number_input, "Head up to").set_value(0.5)
    labelled(page.number_input, "Torso up to").set_value(0.75)
    labelled(page.datetime_input, "Asked before this time (UTC)").set_value(datetime(2030, 1, 31, 8, 15))
    labelled(page.checkbox, "Leave out queries that any release holds").check()
    labelled(page.button, "Draw the sample").click().run()
    job = last(filled)
    jobs_of(filled).stop(job.job_id, "lee")
    asked = job.parameters
    assert asked["plan"]["quotas"] == {"head": 1, "tail": 1}
    assert (asked["plan"]["head"], asked["plan"]["torso"]) == (0.5, 0.75)
    assert asked["limits"]["until"] == "2030-01-31T08:15:00"
    assert asked["limits"]["exclude_released"]
    with pytest.raises(RefusedError, match="no known time"):  # the log has none, and `until` needs them
        OPERATIONS["sample"].work(filled, job.parameters, silent, "lee")


def test_quotas_that_are_none_are_told_beside_the_form_and_start_nothing(filled: Store) -> None:
    page = run("Sample")
    labelled(page.text_area, "Quotas: an exact number from a stratum").set_value("head=many")
    labelled(page.button, "Draw the sample").click().run()
    assert "The quota 'head" in page.error[0].value
    assert count(filled, "jobs") == 0


@pytest.mark.slow
def test_a_sample_is_topped_up_by_quota_and_by_whom_is_kept(filled: Store) -> None:
    draw_sample(filled, 2, 0)
    page = run("Sample")
    labelled(page.number_input, "Queries in the whole sample").set_value(4)
    labelled(page.button, "Top up").click().run()
    jobs_of(filled).wait()
    assert (last(filled).kind, last(filled).outcome) == ("top up", "done"), last(filled).message
    with filled.reading() as cursor:
        by = cursor.execute(
            "SELECT actor FROM events WHERE action = 'sample' ORDER BY happened_at"
        ).fetchall()
    assert by == [("command line",), ("lee",)]
    assert "Drew 4 queries" in html(run("Sample"))


@pytest.mark.parametrize(
    ("step", "label", "reason"),
    [
        ("Sample", "Draw the sample", "There is no traffic to sample from. Import a log"),
        ("Queries", "Look for tags", "There are no queries to tag yet. Draw a sample, import queries, or"),
        ("Pool", "Build the pool", "There are no queries to find documents for. Draw a sample, or import"),
        ("Round", "Open the round", "There are no candidates to judge yet. Build a pool."),
    ],
)
def test_what_must_fail_is_not_offered_and_its_reason_is_beside_it(
    project: Store, step: str, label: str, reason: str
) -> None:
    page = run(step)
    assert labelled(page.button, label).disabled
    assert reason in html(page)


def test_a_draw_of_more_than_there_is_is_refused_before_anything_starts(filled: Store) -> None:
    page = run("Sample")
    labelled(page.number_input, "Queries to draw").set_value(5)
    labelled(page.button, "Draw the sample").click().run()
    assert "holds 4 distinct queries and 5 were asked for" in page.error[0].value
    assert count(filled, "jobs") == 0


@pytest.mark.slow
def test_another_sample_is_drawn_only_after_a_yes_to_what_it_replaces(filled: Store) -> None:
    sample = draw_sample(filled, 3, 0)
    with filled.reading() as cursor:
        drawn = [row[0] for row in cursor.execute("SELECT query_id FROM sample_queries").fetchall()]
    add_judgments(filled, [ImportedJudgment(drawn[0], "d1", "ann", 2)], "votes.csv")
    page = run("Sample")
    labelled(page.number_input, "Queries to draw").set_value(2)
    labelled(page.button, "Draw the sample").click().run()
    assert "It has 3 queries, and people have judged 1 of them." in html(page)
    labelled(page.button, "Keep the current sample").click().run()
    assert "Replace the current sample?" not in html(page)
    assert count(filled, "jobs") == 0
    labelled(page.button, "Draw the sample").click().run()
    labelled(page.button, "Replace the sample").click().run()
    assert "Replace the current sample?" not in html(page)
    jobs_of(filled).wait()
    current = current_sample(filled)
    assert current is not None
    assert (current.size, current.sample_id != sample.sample_id) == (2, True)


def test_a_query_of_an_earlier_sample_is_called_that(filled: Store) -> None:
    draw_sample(filled, 4, 0)
    build_pool(filled, ["bm25"], 5, 0, 0)
    open_round(filled, "first", ["ann", "bob"])  # so that all queries stay in force
    draw_sample(filled, 2, 0)
    write_query(filled, "why do zebras have stripes")
    page = run("Queries")
    strata = labelled(page.selectbox, "Stratum").options
    assert {"earlier sample", "not drawn from traffic"} <= set(strata)
    labelled(page.selectbox, "Stratum").set_value("earlier sample").run()
    assert "2 of 5 queries" in html(page)


@pytest.mark.slow
def test_a_pool_is_built_and_each_systems_part_is_shown(filled: Store) -> None:
    draw_sample(filled, 4, 0)
    page = run("Pool")
    assert labelled(page.multiselect, "Systems").value == ["bm25"], "what takes seconds is the default"
    assert "embed the corpus: about 1 minute, by what other machines took" in html(page)
    labelled(page.number_input, "Depth").set_value(3)
    labelled(page.number_input, "Random negatives for each query").set_value(0)
    labelled(page.button, "Build the pool").click().run()
    jobs_of(filled).wait()
    assert last(filled).outcome == "done"
    page = run("Pool")
    assert "12 candidates for 4 queries, 0 of them random negatives." in html(page)
    assert "<td>bm25</td>" in html(page)
    assert not labelled(page.button, "Add dense and hybrid").disabled


@pytest.mark.slow
def test_a_sample_of_the_pool_is_drawn_by_bands_and_shown(filled: Store) -> None:
    draw_sample(filled, 4, 0)
    page = run("Pool")
    labelled(page.multiselect, "Systems").set_value(["bm25"])
    labelled(page.number_input, "Depth").set_value(6)
    labelled(page.number_input, "Random negatives for each query").set_value(0)
    labelled(page.text_input, "Bands of ranks").set_value("2, 6")
    labelled(page.number_input, "Pairs in the sample").set_value(12)
    labelled(page.button, "Build the pool").click().run()
    jobs_of(filled).wait()
    assert last(filled).outcome == "done", last(filled).message
    report = last_pool(filled)
    assert report is not None
    assert (count(filled, "candidates"), sum(band.drawn for band in report.sample)) == (12, 12)
    shown = html(run("Pool"))
    assert "A random sample of the pool is judged" in shown
    assert "<td>3 to 6</td>" in shown


def test_the_pool_tells_what_it_lacks_whoever_built_it(filled: Store) -> None:
    draw_sample(filled, 4, 0)
    report = build_pool(filled, ["bm25"], 20, 0, 0)
    assert report.left_out
    shown = html(run("Pool"))
    for why, number in report.left_out.items():
        assert f"{number:,} {why}." in shown


def test_a_round_is_opened_once_and_told(filled: Store) -> None:
    draw_sample(filled, 4, 0)
    build_pool(filled, ["bm25"], 5, 0, 0)
    page = run("Round")
    assert labelled(page.multiselect, "Annotators").value == ["ann", "bob"]
    labelled(page.text_input, "Name of the round").set_value("first")
    labelled(page.button, "Open the round").click().run()
    assert not page.error
    assert "Round first" in html(page)
    assert "<td>ann</td>" in html(page)
    assert "Annotators find them under Label" in html(page)
    labelled(page.button, "Open the round").click().run()
    assert not page.error, "the same request again is shown its result again"
    assert "Annotators find them under Label" in html(page)
    labelled(page.number_input, "Seed").set_value(1)
    labelled(page.button, "Open the round").click().run()
    assert "exists already" in page.error[0].value
    assert count(filled, "rounds") == 1


def test_a_page_that_shows_an_older_state_opens_no_second_round(filled: Store) -> None:
    draw_sample(filled, 4, 0)
    build_pool(filled, ["bm25"], 5, 0, 0)
    page = run("Round")
    labelled(page.text_input, "Name of the round").set_value("second")
    open_round(filled, "first", ["ann", "bob"])
    labelled(page.button, "Open the round").click().run()
    assert not page.exception
    assert count(filled, "rounds") == 1, "the button belonged to the state before"
    assert page.warning[0].value.startswith("This click did nothing")


def test_what_does_not_fit_is_told_beside_the_rounds_form(filled: Store) -> None:
    draw_sample(filled, 4, 0)
    build_pool(filled, ["bm25"], 5, 0, 0)
    page = run("Round")
    labelled(page.number_input, "Annotators for each candidate").set_value(3)
    labelled(page.button, "Open the round").click().run()
    assert "The round needs a name" in page.error[0].value
    assert count(filled, "rounds") == 0


def test_a_click_on_a_page_from_before_a_job_starts_nothing(filled: Store) -> None:
    page = run("Sample")
    end(filled, begin(filled, "pool", {}, "mia", None)[0].job_id, "done", "Mia was quicker.")
    labelled(page.button, "Draw the sample").click().run()
    assert not page.exception
    assert count(filled, "jobs") == 1
    assert page.warning[0].value.startswith("This click did nothing: the project has changed")
    assert not run("Sample").warning


def test_a_job_whose_server_was_stopped_is_told_so(filled: Store) -> None:
    draw_sample(filled, 4, 0)
    begin(filled, "pool", {"systems": ["dense"]}, "lee", None)
    page = run("Pool")
    assert "The server was stopped while a pool was being built" in page.warning[0].value
    assert "what was embedded or counted is kept" in page.warning[0].value
    assert not labelled(page.button, "Build the pool").disabled


def test_whoever_is_no_lead_starts_nothing_whatever_page_asks(filled: Store) -> None:
    page = run("Sample", Annotator("ann", "lead", False))  # a forged role
    labelled(page.number_input, "Queries to draw").set_value(3)
    labelled(page.button, "Draw the sample").click().run()
    assert page.error[0].value.startswith("This is for the lead")
    assert count(filled, "jobs") == 0


def test_queries_are_filtered_by_text_tag_and_stratum(filled: Store) -> None:
    draw_sample(filled, 4, 0)
    set_tags(filled, "volcano", ["ambiguous"], [])
    page = run("Queries")
    assert "4 of 4 queries" in html(page)
    labelled(page.text_input, "Text contains").set_value("ZEBRAS").run()
    assert "2 of 4 queries" in html(page)
    labelled(page.text_input, "Text contains").set_value("").run()
    labelled(page.selectbox, "Tag").set_value("ambiguous").run()
    assert "1 of 4 queries" in html(page)
    labelled(page.selectbox, "Tag").set_value("no tag").run()
    assert "3 of 4 queries" in html(page)
    labelled(page.selectbox, "Tag").set_value("any tag").run()
    labelled(page.selectbox, "Stratum").set_value("head").run()
    assert "4 of 4" not in html(page)


def test_a_tag_of_ones_own_is_declared_set_filtered_by_and_offered_to_a_sample(filled: Store) -> None:
    write_query(filled, "e42 blinking", tags=["ambiguous"])
    page = run("Queries")
    labelled(page.text_input, "Name of the tag").set_value("Error Code!")
    labelled(page.button, "Add the tag").click().run()
    assert "A tag cannot be called" in page.error[0].value
    labelled(page.text_input, "Name of the tag").set_value("Error Code")
    labelled(page.button, "Add the tag").click().run()
    assert not page.error
    assert "error-code" in labelled(page.selectbox, "Tag").options
    labelled(page.multiselect, "Tags").set_value(["error-code"])
    labelled(page.text_input, "Query").set_value("e43 blinking")
    labelled(page.button, "Add the query").click().run()
    labelled(page.selectbox, "Tag").set_value("error-code").run()
    assert "1 of 2 queries" in html(page)
    assert labelled(page.multiselect, "Tags to add").options[0] == "error-code", "a team's own come first"
    assert "tag:error-code" in labelled(run("Sample").multiselect, "Kinds of queries").options


@pytest.mark.slow
def test_tags_are_found_by_rule_in_the_background(filled: Store) -> None:
    draw_sample(filled, 4, 0)
    page = run("Queries")
    labelled(page.button, "Look for tags").click().run()
    jobs_of(filled).wait()
    assert last(filled).outcome == "done", last(filled).message
    tags = {query.text: query.tags for query in tagged_queries(filled)}
    assert tags["how do zebras sleep"]["question"] is False, "by rule, not by a person"
    assert "tags changed" in html(run("Queries"))


@pytest.mark.parametrize("step", PARTS)
def test_no_step_makes_html_or_markdown_of_what_people_wrote(filled: Store, step: str) -> None:
    draw_sample(filled, 4, 0)
    build_pool(filled, ["bm25"], 5, 0, 0)
    add_annotator(filled, "_under_score_", "annotator", "correct horse battery")
    end(filled, begin(filled, "pool", {}, "lee", None)[0].job_id, "failed", HOSTILE)
    page = run(step)
    assert "<img" not in html(page)
    assert not [text for text in (*page.markdown, *page.error) if "**bold**" in text.value]


def test_a_written_query_comes_with_its_tags_and_only_once(filled: Store) -> None:
    page = run("Queries")
    assert "There are no queries yet" in page.info[0].value
    labelled(page.text_input, "Query").set_value("why do zebras have stripes")
    labelled(page.multiselect, "Tags").set_value(["unanswerable"])
    labelled(page.button, "Add the query").click().run()
    assert not page.error
    assert "Added: why do zebras have stripes." in html(page)
    assert [(query.text, query.tags) for query in tagged_queries(filled)] == [
        ("why do zebras have stripes", {"unanswerable": True})
    ]
    labelled(page.text_input, "Query").set_value("Why do zebras have stripes")
    labelled(page.button, "Add the query").click().run()
    assert "holds this text already" in page.error[0].value
    assert count(filled, "queries") == 1


def test_hard_negatives_are_shown_once_something_is_graded(filled: Store) -> None:
    draw_sample(filled, 4, 0)
    build_pool(filled, ["bm25"], 5, 0, 0)
    assert not run("Pool").toggle
    volcano = next(query for query in tagged_queries(filled) if query.text == "volcano")
    said = [
        ImportedJudgment(volcano.query_id, f"d{number}", "ann", grade) for number, grade in ((1, 2), (7, 0))
    ]
    add_judgments(filled, said, "votes.csv")
    page = run("Pool")
    labelled(page.toggle, "Hard negatives").set_value(True).run()
    assert not page.exception
    assert "hard negatives: high in" in html(page)
    assert ">volcano</a></td>" in html(page)
