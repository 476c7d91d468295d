"""Requests of steps: written for a job, read again, and what people see of their fields."""

from __future__ import annotations

from dataclasses import is_dataclass, replace
from datetime import datetime
from typing import Any

import pytest

from curation.core.errors import InputError
from curation.core.request import build_request, dump_request, flatten_request, list_options, read_request
from curation.operations.registry import OPERATIONS
from curation.queries.sampling.requests import DrawRequest
from curation.splits.request import SplitRequest
from curation.splits.rules import Rules
from tests.support.command_line import invoke

REQUESTS = [step.request for step in OPERATIONS.values() if is_dataclass(step.request)]


@pytest.mark.parametrize("request_type", REQUESTS, ids=lambda found: found.__name__)
def test_a_request_is_the_same_after_it_was_written_and_filled(request_type: Any) -> None:
    usual = request_type()
    assert read_request(request_type, dump_request(usual)) == usual
    assert build_request(request_type, flatten_request(usual)) == usual
    names = [found.name for found in list_options(request_type)]
    assert len(set(names)) == len(names), "a name is an option once"


def test_what_people_chose_comes_back_with_its_type() -> None:
    asked = DrawRequest(9, since=datetime(2026, 3, 1, 8, 15))
    back = read_request(DrawRequest, dump_request(asked))
    assert (back.size, back.since) == (9, asked.since)
    split = SplitRequest(rules=Rules(query=None, keys=("session",), cut=(("a", "b"),)))
    assert read_request(SplitRequest, dump_request(split)) == split
    assert build_request(SplitRequest, flatten_request(split) | {"seed": 3}) == replace(split, seed=3)


WITHOUT: dict[str, Any] = {
    "budget": {},
    "depth": {},
    "model": {"systems": ["bm25"], "strata": ["segment"], "dense": False, "paraphrase": None},
    "rate": {"systems": ["bm25"]},
}
"""Fields that need something → values of others without which they change nothing."""


@pytest.mark.parametrize("request_type", REQUESTS, ids=lambda found: found.__name__)
def test_a_field_without_what_it_needs_is_refused_in_a_job(request_type: Any) -> None:
    for option in list_options(request_type):
        if option.needs is not None:
            other = {str: "other", int: 3, float: 0.4}[option.kind]
            asked = build_request(
                request_type, flatten_request(request_type()) | WITHOUT[option.name] | {option.name: other}
            )
            with pytest.raises(InputError, match=f"“{option.label}” has no effect here: "):
                read_request(request_type, dump_request(asked))


def test_a_job_of_before_an_option_has_its_default_and_another_type_is_refused() -> None:
    before = {"size": 4, "since": None}
    assert read_request(DrawRequest, before) == DrawRequest(4)
    with pytest.raises(InputError, match="size"):
        read_request(DrawRequest, {"size": "many"})


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("pool --depth 0 --budget -2", "--depth: 0 is out of range; expected 1 or more\n--budget: -2"),
        ("split --query-threshold nan", "--query-threshold: nan is out of range; expected 0.1 to 1"),
        ("export v1 --out out --negatives 1001", "--negatives: 1001 is out of range; expected 1 to 1,000"),
    ],
)
def test_numbers_out_of_bounds_are_refused_by_the_command_and_of_a_job(command: str, said: str) -> None:
    refused = invoke(command.split())
    assert isinstance(refused.exception, InputError)
    assert str(refused.exception).startswith(said)
    with pytest.raises(
        InputError, match=r"“Asked at least this often”: 0 is out of range; expected 1 or more"
    ):
        read_request(DrawRequest, {"min_count": 0})
