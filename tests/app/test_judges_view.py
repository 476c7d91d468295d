"""The page Judges: what would be sent, the job that sends it, and one sentence about each judge."""

from __future__ import annotations

import pytest

from curation.operations.jobs import jobs_of
from curation.store import Store
from tests.support.judged_pairs import build_judged_pairs, too_kind
from tests.support.language_model import ServedModel, model
from tests.support.page import LEE, button, field, html, page_at, press, words
from tests.support.projects import add_names, built_once

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("served")]

__all__ = ["model"]


@built_once
def project(store: Store) -> Store:
    add_names(build_judged_pairs(store), "lee", role="lead")
    return store


def test_a_lead_sees_what_would_be_sent_and_then_sends_it(project: Store, model: ServedModel) -> None:
    page = page_at("judges", LEE).run()
    assert "no judge yet" in words(page.info)
    model.answer = too_kind
    field(page, "Name of the judge").set_value("kind")
    field(page, "Model").set_value("kind")
    press(page, "Show what would be sent")
    assert "kind asks kind at 127.0.0.1: 48 pairs, 4 of them twice" in html(page)
    assert model.sent == 0
    press(page, "Send")
    jobs_of(project).wait()
    assert model.sent == 52
    shown = html(page_at("judges", LEE).run())
    assert "kind graded 48 pairs" in shown
    assert "kind is less reliable than human annotators" in shown
    assert "Checks on the judge" in shown


def test_a_server_without_a_model_says_what_is_missing(
    project: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GOLDGRADE_LLM_MODEL", raising=False)
    page = page_at("judges", LEE).run()
    field(page, "Name of the judge").set_value("x")
    press(page, "Show what would be sent")
    assert "GOLDGRADE_LLM_MODEL is not set" in words(page.error)
    assert not [found for found in page.button if found.label == "Send"]
    assert button(page, "Show what would be sent")
