"""Prompts for a language model, which are files, and the JSON answers that the prompts ask for.

Each prompt is identified by the hash of its text.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

from curation.core.digests import digest


class MalformedAnswerError(ValueError):
    """Error: a model's answer is not in the form that the prompt asks for; the message says why."""


@cache
def load_prompt(name: str) -> str:
    """Read a prompt from its file."""
    folder = files("curation.queries.coverage.language_model")
    return folder.joinpath("prompts", f"{name}.md").read_text("utf-8")


def hash_prompt(prompt: str) -> str:
    """Compute the hash that identifies a prompt."""
    return digest("prompt", prompt)


def read_object(answer: str) -> dict[str, Any]:
    """Read the JSON object in an answer, which may have text or a code fence around it.

    Raises
    ------
    MalformedAnswerError: the answer has no JSON object, several objects, or an object with a repeated name.
    """
    start, end = answer.find("{"), answer.rfind("}")
    try:
        text = answer[start : end + 1]
        parsed = json.loads(text, object_pairs_hook=_read_unique) if start >= 0 else None
    except (ValueError, RecursionError):
        parsed = None
    if not isinstance(parsed, dict):
        raise MalformedAnswerError("an answer that is not a JSON object")
    return parsed


def _read_unique(members: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make a JSON object from its members, and reject repeated names, so that no later value replaces an
    earlier one."""
    if len(dict(members)) < len(members):
        raise ValueError("a key occurs twice")
    return dict(members)


def read_list(answer: str, name: str, item_type: type) -> list[Any]:
    """Read a named list of items of one type from the JSON object of an answer.

    Raises
    ------
    MalformedAnswerError: the object has no such list.
    """
    items = read_object(answer).get(name)
    if not isinstance(items, list) or not all(isinstance(item, item_type) for item in items):
        raise MalformedAnswerError(f"an answer without a list of {name}")
    return items
