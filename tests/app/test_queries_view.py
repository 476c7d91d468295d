"""The pages Queries and Pool, and opening a round, run by AppTest on a real project with real jobs."""

from __future__ import annotations

import json
from datetime import datetime

import pytest
from streamlit.testing.v1 import AppTest

from curation.core.errors import RefusedError
from curation.core.progress import silent
from curation.ingest.importers.imported_judgment import ImportedJudgment
from curation.ingest.importers.queries import read_active_queries
from curation.ingest.importers.traffic.traffic_import import import_traffic
from curation.ingest.readers.fields import TrafficFields
from curation.labeling.imported import add_judgments
from curation.labeling.requests import RoundRequest
from curation.labeling.rounds.create_round import open_round
from curation.operations.jobs import jobs_of
from curation.operations.jobs.stored import store_ending, store_job
from curation.operations.registry import OPERATIONS
from curation.pooling.pool import build_pool
from curation.pooling.request import PoolRequest
from curation.queries.new_query import write_query
from curation.queries.sampling.draw import draw_sample
from curation.queries.sampling.requests import DrawRequest
from curation.queries.sampling.stored_sample import find_current_sample, list_drawn_queries
from curation.store import Store
from curation.store.row_types import Annotator
from tests.support.page import LEE, button, field, html, page_at, press
from tests.support.projects import add_names, built_once, count_rows, import_rows, newest_job, rows_of

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("served")]

STEPS = {
    "Sample": ("queries", "Sample"),
    "Queries": ("queries", "All queries"),
    "Pool": ("queries", "Pool"),
    "Round": ("rounds", "Open a round"),
}
"""The steps from a log to a round: the page of each, and its part."""
HOSTILE = "<img src=x onerror=alert(1)> **bold** zebras"
QUERIES = ["how do zebras sleep", "volcano", "tea from assam in march", HOSTILE]


def add_people(store: Store) -> Store:
    """Two leads and two annotators."""
    add_names(store, "lee", "mia", role="lead")
    add_names(store, "ann", "bob")
    return store


def import_files(store: Store) -> Store:
    """People, a corpus, and a log of four queries."""
    add_people(store)
    topics = ["zebras", "volcano", "tea", "lakes", "rivers", "trains"]
    documents = [
        {"_id": f"d{number}", "title": HOSTILE[:28], "text": f"{topics[number % 6]} and item{number}"}
        for number in range(30)
    ]
    import_rows(store, documents)
    log = store.path.with_name("log.jsonl")
    rows = [{"query": text, "count": number + 1} for number, text in enumerate(QUERIES)]
    log.write_text("\n".join(map(json.dumps, rows)))
    import_traffic(store, log, TrafficFields(query="query", count="count"))
    return store


def draw_and_pool(store: Store) -> Store:
    """A sample of all four queries, and their pool."""
    draw_sample(import_files(store), DrawRequest(4, 0))
    build_pool(store, PoolRequest(["bm25"], 5, 0, 0))
    return store


peopled, filled, pooled = map(built_once, (add_people, import_files, draw_and_pool))


def run(step: str, annotator: Annotator = LEE) -> AppTest:
    """The page at a step, as the annotator sees it."""
    address, part = STEPS[step]
    page = page_at(address, annotator)
    page.query_params["part"] = part
    page.run()
    assert not page.exception, page.exception
    return page


@pytest.mark.slow
def test_a_sample_is_drawn_once_as_the_command_would_and_shown_beside_the_traffic(filled: Store) -> None:
    page = run("Sample")
    field(page, "Queries to draw").set_value(3)
    draw = button(page, "Draw the sample")
    draw.click().run()
    draw.click().run()
    assert not page.warning, "a second click comes from no older page"
    jobs_of(filled).wait()
    job = newest_job(filled)
    assert (job.outcome, job.started_by, count_rows(filled, "jobs")) == ("done", "lee", 1)
    page = run("Sample")
    assert "Drew 3 queries; 3 are new to the project." in html(page)
    assert "<td>tail</td>" in html(page)
    assert "Fewer than 10 queries were drawn" in html(page)
    by = rows_of(filled, "SELECT actor FROM events WHERE action = 'sample'")
    by_command = draw_sample(filled, DrawRequest(3, 0)).sample_id
    assert rows_of(filled, "SELECT sample_id FROM samples") == [(by_command,)], "with the form's defaults"
    assert by == [("lee",)], "the audit trail names the lead"


def custom_draw() -> AppTest:
    """The page Sample with all options of a draw."""
    page = run("Sample")
    assert not [one for one in page.multiselect if one.label == "Dimensions of the strata"]
    page.radio(key="plan").set_value("Custom").run()
    return page


@pytest.mark.slow
def test_queries_are_drawn_as_searched_by_one_choice_and_listed_with_their_searches(filled: Store) -> None:
    page = run("Sample")
    assert "15 s for each grade" in html(page)
    field(page, "Queries to draw").set_value(2).run()
    assert "2 queries × about 15 documents × 2 people = about 60 grades, about 8 min each" in html(page)
    page.radio(key="plan").set_value("As searched").run()
    press(page, "Draw the sample")
    jobs_of(filled).wait()
    assert newest_job(filled).parameters["design"] == "pps"
    page = run("Sample")
    assert "2 queries to judge" in html(page)
    assert "The seed is 0." in html(page)
    assert button(page, "Next: build a pool")
    sample = find_current_sample(filled)
    assert sample
    with filled.reading() as cursor:
        asked = [row[2] for row in list_drawn_queries(cursor, sample.sample_id)]
    assert asked == sorted(asked, reverse=True)


def test_a_query_is_left_out_with_a_reason_and_the_sample_stays(pooled: Store) -> None:
    sample = find_current_sample(pooled)
    assert sample
    with pooled.reading() as cursor:
        ((first, *_), *_) = list_drawn_queries(cursor, sample.sample_id)
    page = run("Sample")
    page.session_state["drawn queries"] = {"chosen": {"cleared": 0, "ids": [first]}}
    press(page.run(), "Leave out")
    assert "Give a reason" in page.error[0].value
    field(page, "Reason for leaving").set_value("no question")
    press(page, "Leave out")
    assert find_current_sample(pooled) == sample
    with pooled.reading() as cursor:
        assert first not in {query.query_id for query in read_active_queries(cursor)}
        assert list_drawn_queries(cursor, sample.sample_id)[0][-1] == "no question"


def test_what_the_draw_refuses_stands_beside_its_form(filled: Store) -> None:
    store_ending(
        filled,
        store_job(filled, "sample", {}, "lee", None)[0].job_id,
        "refused",
        "4 queries and 5 were asked for.",
    )
    assert "5 were asked for" in run("Sample").error[0].value


def test_all_that_the_command_takes_the_form_takes(filled: Store) -> None:
    page = custom_draw()
    field(page, "Queries to draw").set_value(3)
    field(page, "Quotas: number of queries from a stratum").set_value("head=1\n\ntail=1\n")
    field(page, "Asked before this time (UTC)").set_value(datetime(2030, 1, 31, 8, 15))
    field(page, "Leave out queries that are in any release").check()
    press(page, "Draw the sample")
    job = newest_job(filled)
    jobs_of(filled).stop(job.job_id, "lee")
    asked = job.parameters
    assert asked["quotas"] == {"head": 1, "tail": 1}
    assert asked["until"] == "2030-01-31T08:15:00"
    assert asked["exclude_released"]
    with pytest.raises(RefusedError, match="no known time"):  # the log has none, and `until` needs them
        OPERATIONS["sample"].work(filled, job.parameters, silent, "lee")


@pytest.mark.slow
def test_a_sample_is_topped_up_by_quota_and_by_whom_is_kept(filled: Store) -> None:
    draw_sample(filled, DrawRequest(2, 0))
    page = run("Sample")
    field(page, "Queries in the whole sample").set_value(4)
    press(page, "Top up")
    jobs_of(filled).wait()
    job = newest_job(filled)
    assert (job.kind, job.outcome) == ("top up", "done"), job.message
    by = rows_of(filled, "SELECT actor FROM events WHERE action = 'sample' ORDER BY happened_at")
    assert by == [("command line",), ("lee",)]


@pytest.mark.parametrize(
    ("step", "label", "reason"),
    [
        ("Sample", "Draw the sample", "There is no traffic to sample from. Import a log"),
        ("Queries", "Look for tags", "There are no queries yet"),
        ("Pool", "Build the pool", "There are no queries yet."),
        ("Round", "Open the round", "There are no candidates to judge yet"),
    ],
)
def test_an_empty_step_says_what_is_missing_and_offers_nothing_that_must_fail(
    peopled: Store, step: str, label: str, reason: str
) -> None:
    page = run(step)
    assert not page.error
    assert len(page.info) == 1
    assert all(one.disabled for one in page.button if one.label == label)
    assert reason in html(page) + page.info[0].value


@pytest.mark.slow
def test_another_sample_is_drawn_only_after_a_yes_to_what_it_replaces(filled: Store) -> None:
    sample = draw_sample(filled, DrawRequest(3, 0))
    ((drawn,), *_) = rows_of(filled, "SELECT query_id FROM sample_queries")
    add_judgments(filled, [ImportedJudgment(drawn, "d1", "ann", 2)], "votes.csv")
    page = run("Sample")
    field(page, "Queries to draw").set_value(2)
    press(page, "Draw the sample")
    assert "The sample has 3 queries, and people have judged 1 of them." in html(page)
    press(page, "Keep the current sample")
    assert "Replace the current sample?" not in html(page)
    assert count_rows(filled, "jobs") == 0
    press(page, "Draw the sample")
    press(page, "Replace the sample")
    assert "Replace the current sample?" not in html(page)
    jobs_of(filled).wait()
    current = find_current_sample(filled)
    assert current is not None
    assert (current.size, current.sample_id != sample.sample_id) == (2, True)


def test_a_query_of_an_earlier_sample_is_called_that(pooled: Store) -> None:
    open_round(pooled, RoundRequest("first", ["ann", "bob"]))  # so that all queries stay in force
    draw_sample(pooled, DrawRequest(2, 0))
    write_query(pooled, "why do zebras have stripes")
    page = run("Queries")
    strata = field(page, "Stratum").options
    assert {"earlier sample", "not drawn from traffic"} <= set(strata)
    field(page, "Stratum").set_value("earlier sample").run()
    assert "2 of 5 queries" in html(page)


@pytest.mark.slow
def test_a_pool_is_built_and_each_systems_part_is_shown(filled: Store) -> None:
    draw_sample(filled, DrawRequest(4, 0))
    page = run("Pool")
    assert field(page, "Systems").value == ["bm25"], "what takes seconds is the default"
    field(page, "Systems").set_value(["bm25", "dense"]).run()
    assert "embed the corpus: about 1 minute, by the speed of other machines" in html(page)
    field(page, "Systems").set_value(["bm25"])
    field(page, "Documents from each system").set_value(3)
    field(page, "Random negatives for each query").set_value(0)
    press(page, "Build the pool")
    jobs_of(filled).wait()
    assert newest_job(filled).outcome == "done"
    page = run("Pool")
    assert "12 candidates for 4 queries" in html(page)
    assert "The seed is 0." in html(page)
    assert "<td>bm25</td>" in html(page)
    assert (
        field(page, "Documents from each system").value,
        field(page, "Random negatives for each query").value,
    ) == (3, 0)
    assert "The options are the same as for the current pool." in html(page)
    field(page, "Documents from each system").set_value(5).run()
    assert "Differences from the current pool: documents from each system: 5 instead of 3." in html(page)
    assert "4 queries × at most 5 documents × 2 people = at most 40 grades" in html(page)
    field(page, "Stop words that bm25 keeps").set_value(["where"]).run()
    assert "stop words that bm25 keeps from now on: where instead of none" in html(page)
    field(page, "Systems").set_value([]).run()
    assert button(page, "Build the pool").disabled


def test_the_pool_tells_what_it_lacks_whoever_built_it(filled: Store) -> None:
    draw_sample(filled, DrawRequest(4, 0))
    report = build_pool(filled, PoolRequest(["bm25"], 20, 0, 0))
    assert report.left_out
    shown = html(run("Pool"))
    for why, number in report.left_out.items():
        assert f"{why[1:]} ({number:,})." in shown


def test_a_round_is_opened_once_and_told(pooled: Store) -> None:
    page = run("Round")
    assert field(page, "Annotators").value == ["ann", "bob"]
    assert "4 queries × " in html(page)
    assert "<td>bob</td>" in html(page), "the items of each person before anything is opened"
    assert field(page, "Round name").value == "round 1"
    field(page, "Round name").set_value("").run()
    assert "The round needs a name" in page.warning[0].value
    assert button(page, "Open the round").disabled
    assert count_rows(pooled, "rounds") == 0
    field(page, "Round name").set_value("first").run()
    press(page, "Open the round")
    assert not page.error
    told = page.success[0].value
    assert "Round first" in told
    assert "Annotators find their items under Label" in told
    assert field(page, "Round name").value == "round 2"
    assert button(page, "Open the round").disabled
    said = page.warning[0].value.replace("\\", "")
    assert said.startswith("No candidates are left to judge (the pair is already in a round or judged: ")
    field(page, "Show candidates again").check().run()
    field(page, "Round name").set_value("first").run()
    assert "already exists" in page.warning[0].value
    assert count_rows(pooled, "rounds") == 1


def test_a_page_that_shows_an_older_state_opens_no_second_round(pooled: Store) -> None:
    page = run("Round")
    field(page, "Round name").set_value("second")
    open_round(pooled, RoundRequest("first", ["ann", "bob"]))
    press(page, "Open the round")
    assert not page.exception
    assert count_rows(pooled, "rounds") == 1, "the button belonged to the state before"
    assert page.warning[-1].value.startswith("Nothing was saved")


def test_a_click_on_a_page_from_before_a_job_starts_nothing(filled: Store) -> None:
    page = run("Sample")
    store_ending(filled, store_job(filled, "pool", {}, "mia", None)[0].job_id, "done", "Mia was quicker.")
    press(page, "Draw the sample")
    assert not page.exception
    assert count_rows(filled, "jobs") == 1
    assert page.warning[0].value.startswith("Nothing was saved, because the project has changed")


def test_a_tag_of_ones_own_is_declared_set_filtered_by_and_offered_to_a_sample(filled: Store) -> None:
    write_query(filled, "e42 blinking", tags=["ambiguous"])
    page = run("Queries")
    field(page, "Tag name").set_value("Error Code!")
    press(page, "Add the tag")
    assert "A tag cannot be called" in page.error[0].value
    field(page, "Tag name").set_value("Error Code")
    press(page, "Add the tag")
    assert not page.error
    assert "error-code" in field(page, "Tag").options
    field(page, "Tags").set_value(["error-code"])
    field(page, "Query").set_value("e43 blinking")
    press(page, "Add the query")
    field(page, "Tag").set_value("error-code").run()
    assert "1 of 2 queries" in html(page)
    assert field(page, "Tags").options[0] == "error-code", "a team's own come first"
    assert "tag:error-code" in field(custom_draw(), "Dimensions of the strata").options


@pytest.mark.parametrize("step", STEPS)
def test_no_step_makes_html_or_markdown_of_what_people_wrote(pooled: Store, step: str) -> None:
    add_names(pooled, "_under_score_")
    store_ending(pooled, store_job(pooled, "pool", {}, "lee", None)[0].job_id, "failed", HOSTILE)
    page = run(step)
    assert "<img" not in html(page)
    assert not [text for text in (*page.markdown, *page.error) if "**bold**" in text.value]
