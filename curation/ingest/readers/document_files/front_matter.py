"""Front matter: the fields before the text in a site generator's Markdown or HTML file.

Jekyll, Docusaurus and MkDocs write YAML between lines of `---`, Hugo also writes TOML between lines of `+++`
or a JSON object.
"""

from __future__ import annotations

import json
import re
import tomllib
from datetime import date, datetime
from typing import Any

import yaml

_BLOCK = re.compile(r"\A\ufeff?(---|\+\+\+)[ \t]*\r?\n(.*?)^\1[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_JSON_BLOCK = re.compile(r"\A\ufeff?(\{\s*\".*?^\})[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
MAX_LENGTH = 100_000
"""Greatest length of front matter in characters; a longer block is text."""


class _PlainLoader(yaml.SafeLoader):
    """A YAML loader that refuses aliases, because aliases could expand a small text to any size."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("aliases are not read")
        return super().compose_node(parent, index)


def split_front_matter(text: str) -> tuple[dict[str, Any], str]:
    """Return the fields of a text's front matter, and the text after it.

    Dates become ISO texts. A block that is not valid YAML, TOML or JSON stays in the text.
    """
    start = text[: MAX_LENGTH + 10]
    block = _BLOCK.match(start) or _JSON_BLOCK.match(start)
    if block is None:
        return {}, text
    fields = _parse_block(block)
    if not isinstance(fields, dict):
        return {}, text
    return {str(name): _to_plain(value) for name, value in fields.items()}, text[block.end() :]


def starts_with_front_matter(text: str) -> bool:
    """Return whether a text begins with front matter that has fields."""
    return bool(split_front_matter(text[:MAX_LENGTH])[0])


def _parse_block(block: re.Match[str]) -> Any:
    try:
        if block[1] == "---":
            return yaml.load(block[2], _PlainLoader)  # noqa: S506  a SafeLoader
        return tomllib.loads(block[2]) if block[1] == "+++" else json.loads(block[1])
    except (yaml.YAMLError, tomllib.TOMLDecodeError, ValueError, RecursionError):
        return None


def _to_plain(value: Any) -> Any:
    """Convert a value to a form that JSON can represent."""
    if isinstance(value, dict):
        return {str(name): _to_plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple | set):
        return [_to_plain(item) for item in value]
    if isinstance(value, datetime | date):
        return value.isoformat()
    return value if isinstance(value, str | int | float | bool | None) else str(value)
