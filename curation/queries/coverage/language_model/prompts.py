"""Prompts: the instructions that go before each text, kept as files, and known by their hash."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from curation.core.text import canonical_json, digest


class MalformedAnswerError(ValueError):
    """An answer is not of the form that its prompt asks for; the message says what it lacks."""


class ModelPrompt(NamedTuple):
    """Instructions for a model; `prompt_hash` is that of the words."""

    name: str
    words: str

    @property
    def prompt_hash(self) -> str:
        return digest("prompt", self.words)

    def messages(self, material: Any) -> list[dict[str, str]]:
        """The chat that asks about some material, which is sent as JSON: it cannot pass for instructions."""
        return [
            {"role": "system", "content": self.words},
            {"role": "user", "content": canonical_json(material)},
        ]


@cache
def load_prompt(name: str) -> ModelPrompt:
    """The prompt of that name, from its file."""
    text = (
        files("curation.queries.coverage.language_model").joinpath("prompts", f"{name}.md").read_text("utf-8")
    )
    return ModelPrompt(name, text)


def read_object(answer: str) -> dict[str, Any]:
    """The one JSON object in an answer, which may have words or a fence around it.

    Raises
    ------
    MalformedAnswerError: there is none.
    """
    start, end = answer.find("{"), answer.rfind("}")
    try:
        found = json.loads(answer[start : end + 1]) if start >= 0 else None
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise MalformedAnswerError("an answer that is no JSON object")
    return found


def read_list(answer: str, name: str, of: type) -> list[Any]:
    """The list of that name in the one JSON object of an answer, all of one type.

    Raises
    ------
    MalformedAnswerError: there is none.
    """
    listed = read_object(answer).get(name)
    if not isinstance(listed, list) or not all(isinstance(one, of) for one in listed):
        raise MalformedAnswerError(f"an answer without a list of {name}")
    return listed
