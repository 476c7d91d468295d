"""The page Guide, run by Streamlit's AppTest on a real project."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from app.views.settings import guide_publishing
from curation.guides.drafts import find_draft, save_draft
from curation.guides.guide import PresentationTemplate, TemplateField, current_guide
from curation.guides.guide_text import read_guide
from curation.guides.questions import ask_about_item, list_readable_questions
from curation.ingest.importers.corpus import import_corpus
from curation.labeling.requests import RoundRequest
from curation.labeling.rounds.create_round import open_round
from curation.labeling.session.queue import read_queue
from curation.store import Store
from tests.support.page import LEE, field, html, page_at, press, run, words
from tests.support.projects import add_names, add_pairs, built_once, grade_next, grid, rows_of

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("served")]

BASE = read_guide()


@built_once
def project(store: Store) -> Store:
    """Two rounds under way, one of them with an answer."""
    add_names(store, "lee", "mia", role="lead")
    add_names(store, "ada", "ben")
    add_pairs(store, grid(2, 2))
    open_round(store, RoundRequest("first", ["ada"], overlap=1, duplicates=0))
    add_pairs(store, {"more": ["more.0", "more.1"]})
    open_round(store, RoundRequest("second", ["ben"], overlap=1, duplicates=0))
    grade_next(store, "ada")
    return store


def page(part: str) -> AppTest:
    shown = page_at("settings", LEE, part="Guide")
    shown.session_state["show"] = part
    return run(shown)


def choose(shown: AppTest, label: str, value: Any) -> AppTest:
    chosen = next(one for one in shown.get("button_group") if one.label == label).set_value(value).run()
    assert not chosen.exception
    return chosen


def draft(store: Store) -> str:
    with store.reading() as cursor:
        held = find_draft(cursor, "lee")
    return held.source if held else ""


def test_what_is_written_into_fields_is_saved_and_there_again_in_another_session(project: Store) -> None:
    shown = press(page("Edit"), "Write the next guide")
    assert draft(project) == BASE.source
    field(shown, "Title").set_value("Shop relevance").run()
    assert draft(project) == BASE.source.replace("title: Graded relevance", "title: Shop relevance")
    shown = choose(page("Edit"), "Part of the guide", 2)
    assert field(shown, "Name").value == "Useful"
    field(shown, "Name").set_value("In part").run()
    assert "name: In part" in draft(project)
    assert "title: Shop relevance" in draft(project)


def test_what_is_wrong_is_said_at_its_field_and_with_its_line(project: Store) -> None:
    save_draft(project, BASE.source, "lee", None)
    shown = choose(page("Edit"), "Part of the guide", 0)
    shown = field(shown, "Key").set_value("u").run()
    assert "1st grade, key: the app itself uses the key u; choose another key, such as a digit." in html(
        shown
    )
    assert "Line 6, key: u" in words(shown.error)
    shown = page("Publish")
    assert "is not complete" in words(shown.info)


def test_a_text_with_broken_yaml_is_kept_and_edited_whole(project: Store) -> None:
    save_draft(project, "---\ntitle: [x\n---\nbody", "lee", None)
    shown = page("Edit")
    assert "Line 3: The front matter is not YAML" in words(shown.error)
    field(shown, "Markdown with YAML front matter").set_value(BASE.source).run()
    assert draft(project) == BASE.source


def test_a_draft_of_another_window_is_loaded_and_never_overwritten(project: Store) -> None:
    save_draft(project, BASE.source, "lee", None)
    shown = page("Edit")
    save_draft(project, BASE.source + "More.\n", "lee", 0)
    shown = field(shown, "Title").set_value("Mine").run()
    assert "in another window" in words(shown.warning)
    assert "title: Mine" in shown.code[0].value
    press(shown, "Load the saved text")
    assert draft(project) == BASE.source + "More.\n"


def test_before_a_guide_is_put_in_force_its_effects_are_said_and_a_reason_asked_for(project: Store) -> None:
    save_draft(project, BASE.source.replace("name: Useful", "name: In part"), "lee", None)
    shown = page("Publish")
    said = html(shown)
    assert "Grade 2, “Useful”, is “In part” now." in said
    assert "Open rounds" in said
    assert "Replace them with your own queries and documents" in words(shown.warning)
    assert "1 judgment was given under the current guide" in said
    assert shown.radio[0].options == list(guide_publishing.CHOICES.values())
    assert "Give a reason" in words(press(shown, "Publish").error)
    shown.radio[0].set_value("switch")
    field(shown, "Why").set_value("Clearer.")
    shown = press(shown, "Publish")
    assert "first, second: annotators see the guide with their next item." in words(shown.success)
    with project.reading() as cursor:
        guide = current_guide(cursor)
    assert guide.scale[2].name == "In part"
    assert "| In part |" in guide.body
    assert "Useful" not in guide.body
    told = rows_of(project, "SELECT actor, detail->>'reason' FROM events WHERE action = 'use guide'")
    assert told == [("lee", "Clearer.")]
    assert draft(project) == ""


def test_an_answer_reaches_who_asked_and_everyone_only_where_the_lead_says_so(project: Store) -> None:
    item = read_queue(project, "ben").showings[0].presentation_id
    ask_about_item(project, "ben", "Do parts count?", item)
    shown = page("Questions")
    assert "ben, " in html(shown)
    assert not field(shown, "Show question and answer to everyone").value
    field(shown, "Answer").set_value("Yes, if they fit.")
    shown = press(shown, "Answer")
    assert "The person who asked can now read the answer to “\u2068Do parts count?\u2069”." in words(
        shown.success
    )
    assert [one.answer for one in list_readable_questions(project, "ben")] == ["Yes, if they fit."]
    assert list_readable_questions(project, "ada") == []
    field(shown, "Show question and answer to everyone").check()
    press(shown, "Change")
    assert [one.answer for one in list_readable_questions(project, "ada")] == ["Yes, if they fit."]


@pytest.fixture
def documents(project: Store, tmp_path: Path) -> Store:
    path = tmp_path / "pages.csv"
    long = "<p>Green tea leaves.</p>" * 99
    path.write_text(f"id,headline,authors,source,text\nd1,Tea,Lee,A,<b>Leaves</b>\nd2,Milk,Mia,B,{long}\n")
    import_corpus(project, path)
    return project


def test_how_documents_are_shown_is_chosen_next_to_real_ones_without_yaml(documents: Store) -> None:
    shown = page("Document")
    assert "&lt;b&gt;Leaves" in html(shown)
    assert not [one for one in shown.button if one.label == "Publish"]
    shown = choose(shown, "Text format", "html")
    fields = field(shown, "Fields below the title, in this order")
    shown = fields.set_value(["source", "authors"]).run()
    shown = field(shown, "Label for authors").set_value("By").run()
    next(one for one in shown.button if one.proto.help == "Move authors up").click().run()
    assert "<strong>Leaves</strong>" in html(shown)
    assert "labels under the current guide stay valid" in html(shown)
    assert "Replace them with your own queries and documents" in words(shown.warning)
    shown.radio[0].set_value("switch")
    shown = press(shown, "Publish")
    assert "first, second: annotators see the guide with their next item." in words(shown.success)
    with documents.reading() as cursor:
        template = current_guide(cursor).presentation
    by, source = TemplateField(field="authors", label="By"), TemplateField(field="source")
    assert template == PresentationTemplate(body="html", fields=(by, source))
    found = field(page("Document"), "Find a document by its id or words").set_value("LEAVES.").run()
    assert "<mark>leaves</mark>" in html(found)


def test_with_a_draft_the_presentation_is_kept_in_it(documents: Store) -> None:
    save_draft(documents, BASE.source + "More.\n", "lee", None)
    shown = choose(page("Document"), "Text format", "markdown")
    press(shown, "Save in my draft")
    assert "body: markdown" in draft(documents)
    assert "More." in draft(documents)
