"""Write, Questions: nothing is sent before a person has seen what would be sent, and a job sends it."""

from __future__ import annotations

import pytest

from app.components.links import SYNTHETIC_MARK
from curation.operations.jobs import jobs_of
from curation.queries.coverage.writing.checks import NO_SENSE
from curation.store import Store
from tests.queries.test_questions import answers, model, project
from tests.support.language_model import MODEL, ServedModel
from tests.support.page import LEE, field, html, page_at, press
from tests.support.projects import add_names

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("served")]

__all__ = ["model", "project"]


def test_without_an_endpoint_the_page_says_how_to_set_one_up(project: Store) -> None:
    page = page_at("write", LEE, part="Questions").run()
    assert "is not set; expected the address of a language model" in page.info[0].value
    assert "GOLDGRADE_LLM_KEY" in html(page)
    assert not page.button, "no form without an endpoint"


def test_a_person_sees_what_would_be_sent_and_a_job_sends_it(project: Store, model: ServedModel) -> None:
    add_names(project, "lee", role="lead")
    model.answer = answers()
    page = page_at("write", LEE, part="Questions").run()
    field(page, "Documents").set_value(2).run()
    press(page, "Show what would be sent")
    assert model.sent == 0
    assert "6 questions for 2 documents: 8 calls to send" in html(page)
    assert f"{MODEL} at 127.0.0.1 both writes and checks" in html(page)
    press(page, "Send and write the questions")
    jobs_of(project).wait()
    page = page_at("write", LEE, part="Questions").run()
    assert model.sent == 2 + 5  # a question without sense needs no check
    assert "5 questions stored" in html(page)
    assert html(page).count('class="gs-page"') == html(page).count(SYNTHETIC_MARK) == 5
    assert NO_SENSE in html(page)
