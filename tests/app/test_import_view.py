"""The page Import, run by Streamlit's AppTest on a real project."""

from __future__ import annotations

import gzip
import json
import stat
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from shutil import make_archive
from threading import Event

import pytest
from streamlit.testing.v1 import AppTest

from app import uploads
from app.acts import Acts
from app.page_context import PageContext
from app.views.importing import OTHER_KINDS
from app.views.importing import dry_run as dry_run_view
from curation.core.errors import RefusedError
from curation.ingest.readers.problems import Problems
from curation.ingest.requests import REQUESTS, make_request
from curation.operations.import_wording import DryRun
from curation.operations.jobs import jobs_of, worker
from curation.operations.jobs.files import discard_upload, remove_abandoned_uploads, uploads_root
from curation.store import Annotator, Store
from tests.support.document_folder import write_documents
from tests.support.page import LEE, button, field, html, page_at, press, words
from tests.support.projects import add_names, add_pairs, newest_job, rows_of
from tests.support.second_click import twice

MIA = Annotator("mia", "lead", False)
PAGES = b"sku_no,title,words\nd1,Green tea,leaves\nd2,Black tea,leaves too\n"


@pytest.fixture
def project(served: Store) -> Iterator[Store]:
    add_names(served, "lee", "mia", role="lead")
    yield served
    jobs_of(served).wait()
    for person in ("lee", "mia"):
        uploads.remove_stored_upload(served.path, person)
    left = [path for path in uploads_root(served.path).rglob("*") if path.is_file()]
    assert left == [], "an upload was left"


def page(annotator: Annotator = LEE, kind: str | None = None) -> AppTest:
    shown = page_at("import", annotator)
    if kind:
        shown.query_params["kind"] = kind
    return shown.run()


def sent(shown: AppTest, name: str, content: bytes) -> AppTest:
    shown = shown.file_uploader[0].set_value([(name, content, "text/plain")]).run()
    assert not shown.exception
    return shown


def onward(shown: AppTest) -> tuple[str, str, str]:
    link = shown.get("page_link")[0].proto
    return link.label, link.page, link.query_string


def offers_import(shown: AppTest) -> bool:
    return any(one.label == "Import" for one in shown.button)


def imported(store: Store, shown: AppTest, label: str = "Import") -> AppTest:
    press(shown, label)
    jobs_of(store).wait(30)
    return shown.run()


def test_fields_of_queries_become_tags_by_picking(project: Store) -> None:
    shown = sent(page(kind="queries"), "q.csv", b"id,query,category\n1,e42 blinking,Error Code\n")
    shown = press(field(shown, "Fields whose values are tags").select("category").run(), "Check the file")
    assert "Tags of the queries: error-code 1." in html(shown)
    assert rows_of(project, "SELECT count(*) FROM query_tags") == [(0,)]
    shown = imported(project, shown)
    assert rows_of(project, "SELECT query_id, tag, author FROM query_tags") == [("1", "error-code", "lee")]


def test_the_import_waits_for_a_dry_run_of_this_file_and_mapping(project: Store) -> None:
    shown = press(sent(page(kind="traffic"), "log.csv", b"query,words\ntea,green tea\n"), "Check the file")
    assert not button(shown, "Import").disabled
    shown = field(shown, "Query").select("words").run()
    assert not offers_import(shown)
    shown = field(shown, "Query").select("query").run()
    assert not button(shown, "Import").disabled
    path = uploads.find_stored_upload(project.path, "lee").path  # type: ignore[union-attr]
    path.write_bytes(b"query,words\ntea,x\ntea,y\n")
    assert not offers_import(shown.run())


def test_problems_are_a_table_by_line_and_a_download(project: Store) -> None:
    lines = "".join(f"tea {number},none\n" for number in range(Problems.LIMIT + 7))
    shown = press(sent(page(kind="traffic"), "log.csv", b"query,count\n" + lines.encode()), "Check the file")
    text = html(shown)
    assert f"<b>{Problems.LIMIT}</b>" in text
    assert "line 2" in text
    assert f"Reading stopped after {Problems.LIMIT} problems" in text
    assert not offers_import(shown)
    assert [one.label for one in shown.get("download_button")] == ["Download the problems"]
    shown = press(shown, "Another file")
    assert shown.file_uploader


def test_words_of_a_file_stay_words(project: Store) -> None:
    hostile = "<script>alert(1)</script>![x](http://a.example)`goldgrade`"
    rows = json.dumps({"query": hostile, hostile: hostile, "count": hostile})
    shown = press(sent(page(kind="traffic"), f"{hostile}.jsonl", rows.encode()), "Check the file")
    assert "<script>" not in html(shown)
    assert "line 1" in html(shown)


def test_a_file_that_shows_nothing_says_why_in_place_of_its_rows(project: Store) -> None:
    shown = sent(page(), "empty.csv", b"")
    assert "empty.csv is empty" in html(shown)
    assert not offers_import(shown)
    shown = sent(press(shown, "Another file"), "run.txt", b"q1 Q0 d1 1 9.5 x\n")
    assert "choose Something else › Run above" in words(shown.info)


def test_uploads_are_private_and_one_a_person(project: Store) -> None:
    shown = sent(page(), "a.csv", PAGES)
    first = uploads.find_stored_upload(project.path, "lee")
    assert first
    for folder in (first.folder, first.folder.parent, uploads_root(project.path)):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    shown = sent(press(shown, "Another file"), "b.csv", PAGES)
    assert not first.folder.exists()
    assert "b.csv" in html(page())  # a reload keeps it
    assert "b.csv" not in html(page(MIA))


@pytest.mark.slow
def test_of_two_leads_the_second_gets_a_sentence_and_keeps_the_file(
    project: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused, work = Event(), worker.main
    monkeypatch.setattr(worker, "main", lambda *given: refused.wait(30) and work(*given))
    mine = press(sent(page(), "a.csv", b"id,text\n1,x\n"), "Check the file")
    theirs = press(sent(page(MIA), "b.csv", b"id,text\n2,y\n"), "Check the file")
    waiting = PageContext(project, MIA, Acts(MIA), {}, "", None)  # as it was before the first click
    press(mine, "Import")
    assert "Your file b.csv is uploaded" in html(theirs.run())
    file = uploads.find_stored_upload(project.path, "mia")
    assert file
    asked = make_request("corpus", file.path, {"id": "id", "body": ["text"]})
    dry_run_view.write_dry_run(file.folder / f"{asked.key}.json", DryRun(None, []))
    with pytest.raises(RefusedError, match="started by lee"):
        dry_run_view._start_import(waiting, file, asked)
    refused.set()
    jobs_of(project).wait(30)
    kept = uploads.find_stored_upload(project.path, "mia")
    assert kept
    assert kept.path.read_bytes() == b"id,text\n2,y\n"
    assert uploads.find_stored_upload(project.path, "lee") is None


def test_a_corpus_without_text_is_imported_only_where_the_lead_says_so(project: Store) -> None:
    shown = sent(page(), "titles.csv", b"id,headline\n1,Tea\n2,Milk\n")
    assert "judge documents by the title alone" in words(shown.warning)
    shown = press(shown, "Check the file")
    assert "Choose a column as Text" in words(shown.warning)
    assert "or use “Judge documents by their title alone”" in html(shown)
    assert not offers_import(shown)
    shown = press(
        field(shown, "Judge documents by their title alone").set_value(True).run(), "Check the file"
    )
    assert "2 documents have no text, so people judge by title alone." in html(shown)
    assert not button(shown, "Import").disabled


def test_a_file_in_another_encoding_is_read_with_one_click(project: Store) -> None:
    shown = sent(page(), "pages.csv", "id,text\n1,Gr\xfcner Tee\n".encode("latin-1"))
    shown = press(shown, "Check the file")
    assert "choose the encoding latin-1" in html(shown)
    shown = press(press(shown, "Read it as latin-1"), "Check the file")
    assert not button(shown, "Import").disabled


@pytest.mark.slow
def test_a_double_click_imports_once(project: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = press(sent(page(), "a.csv", b"id,text\n1,x\n"), "Check the file")
    button(shown, "Import").click()
    twice(shown, dry_run_view, "dump_job", monkeypatch)
    jobs_of(project).wait(30)
    assert rows_of(project, "SELECT count(*) FROM jobs WHERE kind = 'import'") == [(1,)]


@pytest.mark.slow
def test_a_packed_file_is_checked_by_a_job_however_small(
    project: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dry_run_view, "dry_run", None)  # the server itself reads nothing of a packed file
    shown = press(sent(page(), "a.csv.gz", gzip.compress(b"id,text\n1,x\n")), "Check the file")
    jobs_of(project).wait(30)
    shown = shown.run()
    assert "<b>1</b>" in html(shown)
    assert not button(shown, "Import").disabled


@pytest.mark.slow
def test_an_upload_goes_with_its_job_however_that_ends(project: Store) -> None:
    shown = press(sent(page(), "a.csv", b"id,text\n1,x\n"), "Check the file")
    held = uploads.find_stored_upload(project.path, "lee")
    assert held
    press(shown, "Import")
    jobs_of(project).stop(newest_job(project).job_id, "lee")
    jobs_of(project).wait(30)
    assert not held.folder.exists()


@pytest.mark.slow
def test_judgments_of_a_wide_table_are_mapped_by_picking(project: Store) -> None:
    add_pairs(project, {"tea": ["d1", "d2"]})
    text = b"query,docid,rater_1,rater_2\ntea,d1,3,0\ntea,d2,1,\n"
    shown = sent(page(kind="judgments"), "ratings.csv", text)
    assert field(shown, "Columns with grades").value == ["rater_1", "rater_2"]
    assert "Choose the column" not in html(shown), "grades are in the columns of the people"
    shown = field(shown, "Name of a second pass by the same people").set_value("second").run()
    shown = press(shown, "Check the file")
    assert "<b>3</b>" in html(shown)
    assert "1 judgments" not in html(shown)
    assert "in the round “second”" in html(imported(project, shown))


@pytest.mark.slow
def test_every_kind_of_file_has_fields_of_its_own_and_can_be_checked(project: Store) -> None:
    """Whatever a kind asks besides its columns, no two fields of the page are the same."""
    rows = b"query,document,grade,annotator,reason,answer,id\ntea,d1,2,ada,It names it,leaves,q1\n"
    for kind in REQUESTS:
        assert button(sent(page(kind=kind), "rows.csv", rows), "Check the file")
        uploads.remove_stored_upload(project.path, "lee")


def test_a_zip_of_documents_is_checked_by_itself_and_needs_no_columns(project: Store, tmp_path: Path) -> None:
    folder = write_documents(tmp_path / "site")
    packed = make_archive(str(tmp_path / "site"), "zip", folder)
    shown = sent(page(), "site.zip", Path(packed).read_bytes())
    jobs_of(project).wait(30)
    shown = shown.run()
    assert "<b>9</b>" in html(shown)
    for reason in ("hidden files", "pictures, videos and fonts", "empty files"):
        assert reason in html(shown)
    assert [one.label for one in shown.selectbox] == []
    imported(project, shown)
    assert rows_of(project, "SELECT count(*) FROM documents") == [(9,)]


def test_pasted_queries_are_imported_with_their_source_and_lead_to_the_first_round(project: Store) -> None:
    shown = press(page(kind="queries"), "Import these queries")
    assert "Paste at least one query" in words(shown.error)
    field(shown, "Or paste queries").set_value("send a parcel\n\n send a parcel\nask ann@shop.example\n")
    shown = imported(project, shown.run(), "Import these queries")
    assert rows_of(project, "SELECT text, source FROM queries ORDER BY ALL") == [
        ("ask [email]", "imported"),
        ("send a parcel", "imported"),
    ]
    source = "SELECT detail->>'source' FROM events WHERE action = 'import queries'"
    assert rows_of(project, source) == [("pasted queries",)]
    assert onward(shown)[:2] == ("Continue on Home", "home"), "there is no corpus yet"
    shown = imported(project, press(sent(page(), "a.csv", b"id,text\n1,send\n"), "Check the file"))
    assert onward(shown)[:2] == ("Open the first round", "home")


def test_a_required_field_without_a_column_says_so_at_the_field(project: Store) -> None:
    shown = sent(page(), "pages.csv", b"number,text\n1,leaves\n")
    missing = "Choose the column that holds the documents' ids."
    assert missing in unescape(html(shown))
    assert "The check shows what an import would do, and changes nothing." in html(shown)
    assert missing not in unescape(html(field(shown, "Id").select("number").run()))


def test_seldom_kinds_are_behind_something_else(project: Store) -> None:
    shown = page()
    kinds = [list(one.options) for one in shown.get("button_group")]
    assert kinds == [["Corpus", "Traffic", "Queries", "Something else"]]
    assert "gs-holdings" not in html(shown), "an empty project has nothing to list"
    shown.session_state["kind"] = OTHER_KINDS
    assert shown.run().query_params["kind"] == "runs"
    shown.session_state["other kind"] = "judgments"
    assert shown.run().file_uploader[0].label.startswith("Judgments")


def test_a_link_chooses_the_kind_of_file(project: Store) -> None:
    shown = page(kind="judgments")
    assert shown.file_uploader[0].label.startswith("Judgments")
    shown.query_params["kind"] = "corpus"
    assert shown.run().file_uploader[0].label.startswith("Corpus")
    shown.session_state["kind"] = "queries"  # picked
    assert shown.run().query_params["kind"] == "queries"
    shown = page(kind="nonsense")
    assert shown.file_uploader[0].label.startswith("Corpus")
    assert "The address names “nonsense”" in words(shown.info)


@pytest.mark.slow
def test_uploads_of_a_server_that_was_killed_go_and_those_of_a_living_one_stay(
    project: Store, tmp_path: Path
) -> None:
    sent(page(), "a.csv", PAGES)
    own = uploads.find_stored_upload(project.path, "lee")
    assert own
    dead = uploads_root(project.path) / "dead"
    (dead / "x").mkdir(parents=True)
    remove_abandoned_uploads(project.path)
    assert not dead.exists()
    assert own.path.exists()
    discard_upload(project.path, str(tmp_path))  # no folder of uploads
    assert own.path.exists()
