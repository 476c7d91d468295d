"""What a corpus is written in, and that the guide shows it so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from curation.core.errors import InputError
from curation.guides.drafts import find_draft, save_draft
from curation.guides.guide import PresentationTemplate, TemplateField, current_guide
from curation.guides.guide_editing import replace_presentation
from curation.ingest.requests import ImportRequest
from curation.labeling.presentation.guess_markup import guess_markup
from curation.labeling.rounds.use_guide import use_guide
from curation.operations.import_jobs import dry_run, import_for_page
from curation.store import Store
from tests.support.projects import rows_of

HTML = "id,title,published,body_html\nd9,Tea,2026-01-02,<p>Green <b>leaves</b></p>\n"


@pytest.mark.parametrize(
    ("texts", "kind"),
    [
        (["<p>Tea</p>", "<div>Milk</div>"], "html"),
        (["Tea<br>Milk", "", "plain words", "more"], "html"),
        (["a < b and b > c", "<tea> & <milk>", "List<String> x"], "plain"),
        (["# Tea\n\n- green\n- black", "## Milk\n\n[cow](https://a.example) **white**"], "markdown"),
        (["# a comment\nx = 1", "- one item", "2 * 3 * 4"], "plain"),
        (["<p>one of many</p>", *["plain"] * 9], "plain"),
        ([], "plain"),
    ],
)
def test_markup_is_known_by_the_signs_of_many_texts(texts: list[str], kind: str) -> None:
    assert guess_markup(texts) == kind


def template(store: Store) -> PresentationTemplate | None:
    with store.reading() as cursor:
        return current_guide(cursor).presentation


@pytest.mark.slow
def test_a_corpus_in_html_is_shown_as_html_and_keeps_its_date_on_screen(
    project: Store, request_for: Callable[..., ImportRequest]
) -> None:
    asked = request_for("corpus", "pages.csv", HTML)
    rehearsed = dry_run(project, asked, "lee").outcome
    assert template(project) is None
    done = import_for_page(project, asked, "lee")
    assert done == rehearsed
    assert any(remark.startswith("The guide now shows documents as HTML") for remark in done.remarks)
    date = TemplateField(field="date", label="")
    assert template(project) == PresentationTemplate(body="html", fields=(date,))
    assert import_for_page(project, asked, "lee").changes is False
    used = "SELECT count(*) FROM events WHERE action = 'use guide'"
    assert rows_of(project, used) == [(1,)]


def test_what_a_lead_says_of_the_text_counts_and_what_the_guide_says_stays(
    project: Store, request_for: Callable[..., ImportRequest]
) -> None:
    def remarks(**options: Any) -> str:
        asked = request_for("corpus", "pages.csv", HTML, options)
        return " ".join(import_for_page(project, asked, "lee").remarks)

    assert "shows documents as" not in remarks(markup="plain")
    with pytest.raises(InputError, match="expected one of plain, html, markdown, code"):
        remarks(markup="rtf")
    with project.reading() as cursor:
        guide = current_guide(cursor)
    use_guide(project, replace_presentation(guide, PresentationTemplate(body="code")))
    assert (
        "looks like HTML, but the guide shows it as code. If the guide is wrong, use “Text format”"
        in remarks()
    )
    remarks(markup="html")
    assert template(project) == PresentationTemplate(body="html")


def test_an_import_leaves_the_draft_of_its_lead_alone(
    project: Store, request_for: Callable[..., ImportRequest]
) -> None:
    with project.reading() as cursor:
        source = current_guide(cursor).source
    save_draft(project, source + "More.\n", "lee", None)
    import_for_page(project, request_for("corpus", "pages.csv", HTML), "lee")
    with project.reading() as cursor:
        assert find_draft(cursor, "lee")
