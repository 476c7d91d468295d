"""C(q) filtered by a language model: what it keeps counts, is stored, and is asked for once."""

from __future__ import annotations

import json
from typing import Any

import pytest

from curation.queries.coverage.language_model.filtering import PROMPT, read_kept
from curation.queries.coverage.language_model.prompts import MalformedAnswerError, load_prompt
from curation.queries.coverage.report import BY_RULE
from curation.queries.coverage.state import state_fingerprint
from curation.queries.coverage.stored_map import map_in_force, read_map, read_texts
from curation.store import Store
from tests.support.command_line import invoke
from tests.support.coverage_project import fill
from tests.support.language_model import MODEL, Fault, ServedModel, model
from tests.support.projects import built_once, rows_of

__all__ = ["model"]

project = built_once(fill)


def keeps_none_of_drinks(_prompt: str, material: Any) -> str:
    """Of 'green tea' its name alone and one that was not asked about; of 'a hot drink' nothing."""
    return json.dumps({"kept": ["green tea", "coffee"] if material["query"] == "green tea" else []})


@pytest.fixture(autouse=True)
def keeps_entities(model: ServedModel) -> None:
    model.answer = keeps_none_of_drinks


def command(store: Store, *options: str) -> list[str]:
    return [*("--project", str(store.path), "coverage", "--seed", "3", "--resolution", "1"), *options]


LLM = ("--matching", "llm")


def test_without_the_option_nothing_is_sent_and_the_map_in_force_stays(
    project: Store, model: ServedModel
) -> None:
    invoke(command(project))
    in_force = rows_of(project, "SELECT value FROM settings WHERE name = 'coverage'")
    shown = json.loads(invoke(command(project, *LLM, "--json")).stdout)
    assert (shown["would_send"]["calls"], model.sent) == (2, 0)  # 'sonnets' is matched to nothing
    assert rows_of(project, "SELECT value FROM settings WHERE name = 'coverage'") == in_force


def test_what_the_model_keeps_counts_and_is_not_asked_for_again(project: Store, model: ServedModel) -> None:
    by_rule = json.loads(invoke(command(project, "--json")).stdout)
    done = json.loads(invoke(command(project, *LLM, "--send", "--json")).stdout)
    assert (done["sent"]["requests"], model.sent) == (2, 2)
    assert (by_rule["regions"]["queries"], done["regions"]["queries"]) == (2, 1)
    names = [[one["rule"] for one in report["rules"]] for report in (by_rule, done)]
    assert names[1] == [*names[0][:-1], done["rule"], "any of these"]
    with project.reading() as cursor:
        found = read_map(cursor, map_in_force(cursor))
        kept = read_texts(cursor, found.map_id)["green tea"].kept
    assert [found.entities[place].name for place in kept or ()] == ["green tea"]
    assert found.parameters["matching"]["model"] == MODEL
    assert found.parameters["matching"]["prompt"] == load_prompt(PROMPT).prompt_hash
    assert json.loads(invoke(command(project, *LLM, "--json")).stdout) == {
        key: value for key, value in done.items() if key != "sent"
    }
    assert model.sent == 2


def test_queries_without_an_answer_follow_the_rule_and_are_counted(
    project: Store, model: ServedModel
) -> None:
    model.faults = [Fault(400)]
    done = json.loads(invoke(command(project, *LLM, "--send", "--calls", "1", "--json")).stdout)
    assert model.sent == 1
    assert done["left_out"][BY_RULE] == 2
    assert done["regions"]["queries"] == 2
    with project.reading() as cursor:
        before = state_fingerprint(cursor)
    invoke(command(project, *LLM, "--send", "--json"))
    with project.reading() as cursor:
        assert state_fingerprint(cursor) != before, "a page shows what the model has said since"


@pytest.mark.parametrize("answer", ["none", '{"kept": "tea"}', '{"kept": [1]}', '{"entities": []}'])
def test_an_answer_without_a_list_of_names_is_malformed(answer: str) -> None:
    with pytest.raises(MalformedAnswerError):
        read_kept(answer)
