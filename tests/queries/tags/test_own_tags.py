"""Tags of a team's own: declared by a lead or by an import, and known wherever a tag is."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from curation.core.errors import InputError, RefusedError
from curation.ingest.importers.query_tags import (
    MAX_OWN,
    declare_tags,
    is_tag_name,
    parse_tag_names,
    read_known_tags,
    read_own_tags,
)
from curation.labeling.requests import AnswerTaskRequest
from curation.labeling.written_answers.create_task import open_answer_task
from curation.people.accounts import add_annotator
from curation.queries.new_query import write_query
from curation.queries.stored_tags import read_tagged_queries, set_tags
from curation.store import Store
from tests.support.projects import rows_of


def known(store: Store) -> list[str]:
    with store.reading() as cursor:
        return read_known_tags(cursor)


def tags_of(store: Store) -> dict[str, list[str]]:
    return {query.text: list(query.tags) for query in read_tagged_queries(store)}


def test_a_typo_is_refused_with_the_tag_that_it_may_mean_wherever_a_tag_is_named(store: Store) -> None:
    declare_tags(store, ["error-code"])
    write_query(store, "e42 blinking", "1", tags=["error-code"])
    add_annotator(store, "ann", "annotator", "correct horse battery")
    deeds: list[Callable[[], object]] = [
        lambda: set_tags(store, "1", ["eror-code"], []),
        lambda: set_tags(store, "1", [], ["Error_Code"]),
        lambda: write_query(store, "e43", tags=["error-codes"]),
        lambda: read_tagged_queries(store, "errorcode"),
        lambda: open_answer_task(store, AnswerTaskRequest("faq", ["ann"], 1, tag="error-cod")),
    ]
    for deed in deeds:
        with pytest.raises(InputError, match=r"there is no tag .*; did you mean 'error-code'"):
            deed()
    assert tags_of(store) == {"e42 blinking": ["error-code"]}


def test_a_lead_declares_tags_once_and_it_is_in_the_audit_trail(store: Store) -> None:
    add_annotator(store, "ann", "annotator", "correct horse battery")
    with pytest.raises(RefusedError, match="This action needs the role lead; ann is annotator"):
        declare_tags(store, ["device"], "ann", "ann")
    assert declare_tags(store, ["störung", "device", "device"], "ada") == ["device", "störung"]
    assert declare_tags(store, ["device", "question", "ambiguous"]) == []
    assert known(store)[-2:] == ["device", "störung"]
    events = rows_of(store, "SELECT actor, detail FROM events WHERE action = 'tags declare'")
    assert [(actor, json.loads(detail)) for actor, detail in events] == [
        ("ada", {"tags": ["device", "störung"]})
    ]


@pytest.mark.parametrize(
    "name",
    ["", "Error", "error code", "error_code", "-error", "not device", "a,b", "x" * 41, "no/slash", "é"[:0]],
)
def test_a_name_that_a_file_or_a_stratum_could_not_write_is_refused(store: Store, name: str) -> None:
    assert not is_tag_name(name)
    with pytest.raises(InputError, match=r"a tag cannot be called .*\nA tag consists of lower-case letters"):
        declare_tags(store, ["device", name])
    with store.reading() as cursor:
        assert read_own_tags(cursor) == []


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
    assert parse_tag_names(cell) == names


SUPPORT = (
    "id,text,category,device\n1,e42 blinking,Error Code,TV\n2,no picture,symptom,TV|Wall mount\n3,hello,,\n"
)


def test_an_import_takes_fields_as_tags_and_the_same_again_changes_nothing(
    store: Store, write: Any, goldgrade: Any
) -> None:
    imported = ("import", "queries", write("q.csv", SUPPORT))
    fields = ["--map", "tag=category", "--map", "tag=device"]
    goldgrade(*imported)
    with_tags = " ".join(goldgrade(*imported, *fields).split())
    assert (
        "Tags of the queries: error-code 1, symptom 1, tv 2, wall-mount 1. 5 of these tags are new."
        in with_tags
    )
    assert "own tags now include error-code, symptom, tv, wall-mount." in with_tags
    assert tags_of(store) == {
        "e42 blinking": ["error-code", "tv"],
        "no picture": ["symptom", "tv", "wall-mount"],
        "hello": [],
    }
    again = json.loads(goldgrade(*imported, *fields, "--json"))
    assert (again["tags"]["tv"], again["tags_added"], again["declared"]) == (2, 0, [])
    [(metadata,)] = rows_of(store, "SELECT metadata FROM queries WHERE query_id = '1'")
    assert json.loads(metadata)["category"] == "Error Code", "the field stays for groups of a split"


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ("1,a,what/ever\n", "line 2: a tag cannot be called 'what/ever'"),
        ("1,a,ok\n2,b,ada@example.org\n", r"line 3: a tag cannot be called '.email.'"),
        (
            "".join(f"{n},query {n},free text {n}\n" for n in range(MAX_OWN + 1)),
            "Name a field with few values",
        ),
    ],
)
def test_a_field_that_is_no_category_is_refused_and_nothing_is_written(
    store: Store, write: Any, goldgrade: Any, rows: str, told: str
) -> None:
    path = write("q.csv", f"id,text,note\n{rows}")
    with pytest.raises(InputError, match=told):
        goldgrade("import", "queries", path, "--map", "tag=note")
    assert tags_of(store) == {}
    with store.reading() as cursor:
        assert read_own_tags(cursor) == []
