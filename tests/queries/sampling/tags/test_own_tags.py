"""Tags of a team's own: declared by a lead or by an import, and known wherever a tag is."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from curation.agreement.report.report import agreement_report
from curation.core.errors import InputError, RefusedError
from curation.ingest.importers.query_tags import (
    MOST_OWN,
    declare_tags,
    is_tag_name,
    known_tags,
    own_tags,
    tag_names,
)
from curation.labeling.written_answers.create_task import AnswerTaskPlan, open_answer_task
from curation.people.annotators import add_annotator
from curation.queries.sampling.tags.import_tags import import_tags
from curation.queries.sampling.tags.stored_tags import set_tags, tagged_queries, write_query
from curation.releases.freeze.freeze import freeze
from curation.splits.split import make_split
from curation.store import Store
from tests.support import ROOT
from tests.support.command_line import invoke
from tests.support.gold_project import LEXICAL, PARTS, labelled

CASE = ROOT.parent / "shared" / "cases" / "figures" / "own_tags.sh"


def known(store: Store) -> list[str]:
    with store.reading() as cursor:
        return known_tags(cursor)


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def tags_of(store: Store) -> dict[str, list[str]]:
    return {query.text: list(query.tags) for query in tagged_queries(store)}


def command(store: Store, *words: str | Path) -> str:
    done = invoke(["--project", str(store.path), *map(str, words)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_the_case_of_the_support_team(store: Store, tmp_path: Path) -> None:
    if not CASE.is_file():
        pytest.skip("the cases are not shared here")
    assert "printf 'query,tag\\ne42 blinking,error-code\\n'" in CASE.read_text(encoding="utf-8")
    command(store, "import", "queries", written(tmp_path, "q.csv", "text\ne42 blinking\n"))
    tags = written(tmp_path, "t.csv", "query,tag\ne42 blinking,error-code\n")
    with pytest.raises(InputError, match=r"(?s)there is no tag 'error-code'.*`goldgrade tags declare NAME`"):
        command(store, "tags", "import", tags)
    assert "2 tags added, 0 known before" in command(store, "tags", "declare", "error-code", "device")
    assert "1 added" in command(store, "tags", "import", tags)
    assert "error-code*" in command(store, "tags", "list", "--tag", "error-code")


def test_a_typo_is_refused_with_the_tag_that_it_may_mean_wherever_a_tag_is_named(
    store: Store, tmp_path: Path
) -> None:
    declare_tags(store, ["error-code"])
    write_query(store, "e42 blinking", "1", tags=["error-code"])
    tags = written(tmp_path, "t.csv", "query,tag\n1,eror-code\n")
    add_annotator(store, "ann", "annotator", "correct horse battery")
    deeds: list[Callable[[], object]] = [
        lambda: set_tags(store, "1", ["eror-code"], []),
        lambda: set_tags(store, "1", [], ["Error_Code"]),
        lambda: import_tags(store, tags),
        lambda: write_query(store, "e43", tags=["error-codes"]),
        lambda: tagged_queries(store, "errorcode"),
        lambda: open_answer_task(store, AnswerTaskPlan("faq", ["ann"], 1, tag="error-cod")),
    ]
    for deed in deeds:
        with pytest.raises(InputError, match=r"there is no tag .*; did you mean 'error-code'"):
            deed()
    assert tags_of(store) == {"e42 blinking": ["error-code"]}


def test_a_lead_declares_tags_once_and_it_is_in_the_audit_trail(store: Store) -> None:
    add_annotator(store, "ann", "annotator", "correct horse battery")
    with pytest.raises(RefusedError, match="This is for the lead; ann is annotator"):
        declare_tags(store, ["device"], "ann", "ann")
    assert declare_tags(store, ["störung", "device", "device"], "ada") == ["device", "störung"]
    assert declare_tags(store, ["device", "question", "ambiguous"]) == []
    assert known(store)[-2:] == ["device", "störung"]
    with store.reading() as cursor:
        events = cursor.execute("SELECT actor, detail FROM events WHERE action = 'tags declare'").fetchall()
    assert [(actor, json.loads(detail)) for actor, detail in events] == [
        ("ada", {"tags": ["device", "störung"]})
    ]


@pytest.mark.parametrize(
    "name",
    ["", "Error", "error code", "error_code", "-error", "not device", "a,b", "x" * 41, "no/slash", "é"[:0]],
)
def test_a_name_that_a_file_or_a_stratum_could_not_write_is_refused(store: Store, name: str) -> None:
    assert not is_tag_name(name)
    with pytest.raises(InputError, match=r"a tag cannot be called .*\nA tag has lower-case letters"):
        declare_tags(store, ["device", name])
    with store.reading() as cursor:
        assert own_tags(cursor) == []


@pytest.mark.parametrize(
    ("cell", "names"),
    [
        ("Error Code", ["error-code"]),
        ("Wi-Fi_router | TV,  tv ", ["wi-fi-router", "tv", "tv"]),
        (["No Power", "E42"], ["no-power", "e42"]),
        (42, ["42"]),
        (None, []),
        (float("nan"), []),
    ],
)
def test_what_a_cell_names(cell: Any, names: list[str]) -> None:
    assert tag_names(cell) == names


SUPPORT = (
    "id,text,category,device\n1,e42 blinking,Error Code,TV\n2,no picture,symptom,TV|Wall mount\n3,hello,,\n"
)


def test_an_import_takes_fields_as_tags_and_the_same_again_changes_nothing(
    store: Store, tmp_path: Path
) -> None:
    path = written(tmp_path, "q.csv", SUPPORT)
    fields = ["--tag-field", "category", "--tag-field", "device"]
    command(store, "import", "queries", path)
    with_tags = " ".join(command(store, "import", "queries", path, *fields).split())
    assert "Tags of the queries: error-code 1, symptom 1, tv 2, wall-mount 1. 5 of them are new." in with_tags
    assert "own tags now include error-code, symptom, tv, wall-mount." in with_tags
    assert tags_of(store) == {
        "e42 blinking": ["error-code", "tv"],
        "no picture": ["symptom", "tv", "wall-mount"],
        "hello": [],
    }
    again = json.loads(command(store, "import", "queries", path, *fields, "--json"))
    assert (again["tags"]["tv"], again["tags_added"], again["declared"]) == (2, 0, [])
    assert "Nothing changed" in command(store, "import", "queries", path, *fields)
    with store.reading() as cursor:
        [(metadata,)] = cursor.execute("SELECT metadata FROM queries WHERE query_id = '1'").fetchall()
    assert json.loads(metadata)["category"] == "Error Code", "the field stays for groups of a split"


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ("1,a,what/ever\n", "line 2: a tag cannot be called 'what/ever'"),
        ("1,a,ok\n2,b,ada@example.org\n", r"line 3: a tag cannot be called '.email.'"),
        (
            "".join(f"{n},query {n},free text {n}\n" for n in range(MOST_OWN + 1)),
            "Name a field with few values",
        ),
    ],
)
def test_a_field_that_is_no_category_is_refused_and_nothing_is_written(
    store: Store, tmp_path: Path, rows: str, told: str
) -> None:
    path = written(tmp_path, "q.csv", f"id,text,note\n{rows}")
    with pytest.raises(InputError, match=told):
        command(store, "import", "queries", path, "--tag-field", "note")
    assert tags_of(store) == {}
    with store.reading() as cursor:
        assert own_tags(cursor) == []


def test_splits_releases_evaluation_and_agreement_break_down_by_it(tmp_path: Path) -> None:
    store = labelled(tmp_path / "project")
    declare_tags(store, ["device"])
    some = [query.query_id for query in tagged_queries(store)][:2]
    set_tags(store, some, ["device"], [])
    make_split(store, PARTS, 1, LEXICAL)
    freeze(store, "v1", override="a draft")
    run = written(tmp_path, "run.trec", "".join(f"{name} Q0 {name[2:]}-1 1 1 mine\n" for name in some))
    found = json.loads(command(store, "evaluate", "v1", "--run", run, "--breakdown", "tag", "--json"))
    parts = found["runs"][0]["strata"]["tag"]
    assert (parts["device"]["queries"], parts["no tag"]["queries"] > 0) == (1, True), (
        "the other one is sealed"
    )
    details = agreement_report(store, details=True).details
    assert details is not None
    assert [row.name for row in details.by.type if row.kind == "tag"] == ["device", "no tag"]
    store.close()
