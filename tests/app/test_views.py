"""The pages' own logic, run by Streamlit's AppTest on a real project."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from app import ui, workplace
from app.views.adjudicate import NO_GRADE
from curation.labeling.adjudication import disputes
from curation.labeling.annotators import add_annotator
from curation.labeling.imported import ImportedJudgment, add_judgments
from curation.project import init_project
from curation.releases import freeze
from curation.sources.corpus import import_corpus
from curation.splits import make_split
from curation.store import Store
from curation.store.rows import Annotator, Query
from curation.text import normalise_query

HOSTILE = "<img src=x onerror=alert(1)> **bold** [a](javascript:alert(1))"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    store = init_project(tmp_path / "project.duckdb").store
    monkeypatch.setenv(workplace.PROJECT, str(store.path))
    yield store
    store.close()


def run(page: str, annotator: Annotator) -> AppTest:
    """The page as the annotator sees it."""

    def script(page, annotator):  # type: ignore[no-untyped-def]  # its text alone is run
        from importlib import import_module

        import_module(f"app.views.{page}").show(annotator)

    return AppTest.from_function(
        script, kwargs={"page": page, "annotator": annotator}, default_timeout=20
    ).run()


def html(page: AppTest) -> str:
    return " ".join(str(element.proto.body) for element in page.get("html"))


ROSA, LEE = Annotator("rosa", "reviewer", False), Annotator("lee", "lead", False)
EMPTY = [
    ("adjudicate", ROSA),
    ("rounds", LEE),
    ("agreement", ROSA),
    ("releases", LEE),
    ("my_consistency", ROSA),
]


@pytest.mark.parametrize(("page", "who"), EMPTY, ids=[page for page, _ in EMPTY])
def test_every_page_says_something_useful_of_an_empty_project(
    project: Store, page: str, who: Annotator
) -> None:
    shown = run(page, who)
    assert not shown.exception
    assert not shown.error
    assert shown.info or shown.markdown


@pytest.fixture
def disputed(project: Store, tmp_path: Path) -> Store:
    """One pair with the grades 0 and 3, and one on which both agree; every text is hostile."""
    documents = [{"_id": name, "title": HOSTILE, "text": f"{HOSTILE} {name}"} for name in ("d1", "d2")]
    (tmp_path / "corpus.jsonl").write_text("\n".join(map(json.dumps, documents)))
    import_corpus(project, tmp_path / "corpus.jsonl")
    add_annotator(project, "rosa", "reviewer", "correct horse battery")
    said = [("d1", "carl", 0), ("d1", "dana", 3), ("d2", "carl", 1), ("d2", "dana", 1)]
    judgments = [ImportedJudgment("q", doc, who, grade, note=f"{HOSTILE} {doc}") for doc, who, grade in said]
    query = Query("q", HOSTILE, normalise_query(HOSTILE), "imported", HOSTILE)
    add_judgments(project, judgments, "votes.csv", [query])
    return project


def test_the_reviewer_sees_what_was_said_and_not_by_whom(disputed: Store) -> None:
    shown = html(run("adjudicate", ROSA))
    assert "0 Not relevant" in shown
    assert "3 Exactly it" in shown
    assert "carl" not in shown
    assert "dana" not in shown


@pytest.mark.parametrize("page", ["adjudicate", "agreement", "rounds"])
def test_no_page_makes_html_of_what_people_wrote(disputed: Store, page: str) -> None:
    shown = run(page, LEE)
    assert not shown.exception
    assert "<img" not in html(shown)
    assert not [element for element in shown.markdown if "**bold**" in element.value]


def test_a_decision_needs_a_reason_and_settles_the_pair(disputed: Store) -> None:
    page = run("adjudicate", ROSA)
    page.radio[0].set_value(2)
    page.button[0].click().run()
    assert "needs a reason" in page.error[0].value
    assert len(disputes(disputed)) == 1
    page.text_area[0].set_value("It answers a part")
    page.button[0].click().run()
    assert not page.error
    assert disputes(disputed) == []
    decision = disputes(disputed, include_settled=True)[0].decision
    assert decision is not None
    assert (decision.grade, decision.reason, decision.reviewer) == (2, "It answers a part", "rosa")
    assert "No pair is disputed" in page.info[0].value


def test_nothing_is_decided_before_a_choice_is_made(disputed: Store) -> None:
    page = run("adjudicate", ROSA)
    page.text_area[0].set_value("The query is unclear")
    page.button[0].click().run()
    assert "Choose a grade, or “No grade can be given”" in page.error[0].value
    assert len(disputes(disputed)) == 1
    page.radio[0].set_value(NO_GRADE)
    page.button[0].click().run()
    assert not page.error
    decision = disputes(disputed, include_settled=True)[0].decision
    assert decision is not None
    assert (decision.grade, decision.reason) == (None, "The query is unclear")


def test_an_unknown_reviewer_is_told_in_a_sentence(disputed: Store) -> None:
    page = run("adjudicate", Annotator("nobody", "reviewer", False))
    page.radio[0].set_value(2)
    page.text_area[0].set_value("Because")
    page.button[0].click().run()
    assert not page.exception
    assert "nobody" in page.error[0].value
    assert len(disputes(disputed)) == 1


def test_deciding_is_the_reviewers_whatever_page_asks(disputed: Store) -> None:
    add_annotator(disputed, "anna", "annotator", "correct horse battery")
    page = run("adjudicate", Annotator("anna", "reviewer", False))  # a forged role
    page.radio[0].set_value(2)
    page.text_area[0].set_value("Because")
    page.button[0].click().run()
    assert not page.exception
    assert page.error[0].value.startswith("This is for the reviewer")
    assert len(disputes(disputed)) == 1


def test_the_lead_sees_releases_and_whether_they_were_altered(project: Store, tmp_path: Path) -> None:
    documents = [
        {"_id": name, "text": f"All about {name} and nothing else"} for name in ("zebras", "volcanoes")
    ]
    (tmp_path / "corpus.jsonl").write_text("\n".join(map(json.dumps, documents)))
    import_corpus(project, tmp_path / "corpus.jsonl")
    judgments = [ImportedJudgment(name, name, "carl", 2) for name in ("zebras", "volcanoes")]
    queries = [Query(name, name, name, "imported") for name in ("zebras", "volcanoes")]
    add_judgments(project, judgments, "votes.csv", queries)
    make_split(project, {"dev": 0.5, "test": 0.5}, seed=1)
    frozen = freeze(project, "v1")
    page = run("releases", LEE)
    assert "<td>v1</td>" in html(page)
    assert f'<td class="gs-figure">2</td><td>{frozen.release_id}</td>' in html(page)
    assert "is what was frozen" in page.button[0].click().run().success[0].value
    with project.transaction() as cursor:
        cursor.execute("UPDATE release_parts SET content = replace(content, '2', '3') WHERE part = 'qrels'")
    assert "was altered in" in page.button[0].click().run().error[0].value


def test_text_in_markdown_stands_as_it_was_written() -> None:
    assert ui.plain("a_b *c* <d> [e](f) $g$\n:h:") == (r"a\_b \*c\* \<d\> \[e\]\(f\) \$g\$ \:h\:")


def test_a_table_draws_figures_bars_and_intervals_and_escapes_the_rest(project: Store) -> None:
    def script() -> None:
        from app import ui

        rows = [
            ("<b>x</b>", 1_234, None, 0.5, ui.Bar(1, 4), ui.Span(0.5, -0.2, 1.4)),
            ("y", 2, 3, None, "", ""),
        ]
        ui.table("Caption", ["a", "b", "c", "d", "e", "f"], rows)

    shown = html(AppTest.from_function(script).run())
    for expected in (
        "&lt;b&gt;x&lt;/b&gt;",
        ">1,234<",
        ">–<",
        ">0.500<",
        "width:25.0%",
        "left:0.0%;width:100.0%",
    ):
        assert expected in shown
