"""The front matter of a guide's text: YAML between dashes, whose values have line numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import yaml

_FRONT_MATTER = re.compile(r"\A---\n(.*?\n)---\n(.*)\Z", re.DOTALL)
_FIRST_LINE = 2
"""Line number of the first line of the front matter, below the dashes."""
Location = tuple[int | str, ...]
"""Path of names and indexes that leads to a value, such as ('scale', 1, 'key')."""
_BRACKETS = re.compile(r"[\[{]")
_MAX_DEPTH = 100
_LONG_NUMBER = re.compile(r"\d{4301,}")
"""Pattern of a whole number with more digits than Python reads."""


class GuideProblem(NamedTuple):
    """A problem in a guide's text.

    line: line number, from 1; None for a problem of the whole text. sentence: sentence with the value of the
    text and the value that was expected.
    """

    location: Location
    line: int | None
    sentence: str


def split_source(source: str) -> tuple[str, str] | None:
    """Split a guide's text into the YAML between the dashes and the body; None if there is no front
    matter."""
    match = _FRONT_MATTER.match(source)
    return (match[1], match[2]) if match else None


def read_entries(source: str) -> dict[str, Any]:
    """Return the entries of a text's front matter by name; {} if there are no named entries."""
    parts = split_source(source)
    values = read_values(parts[0]) if parts else None
    return values if isinstance(values, dict) else {}


def read_values(front: str) -> Any | GuideProblem:
    """Parse the YAML of the front matter; return the values, or the problem if the text is not YAML."""
    try:
        return yaml.safe_load(front)
    except yaml.MarkedYAMLError as error:
        yaml_line = error.problem_mark.line + _FIRST_LINE if error.problem_mark else 1
        return GuideProblem((), yaml_line, f"the front matter is not YAML: {error.problem}")
    except yaml.reader.ReaderError as error:
        character = f"U+{ord(front[error.position]):04X}"
        sentence = f"the front matter holds the character {character}, which YAML does not allow; remove it"
        return GuideProblem((), _find_line_at(front, error.position), sentence)
    except RecursionError:
        brackets = [bracket.start() for bracket in _BRACKETS.finditer(front)]
        line = _find_line_at(front, brackets[_MAX_DEPTH]) if len(brackets) > _MAX_DEPTH else None
        return GuideProblem(
            (), line, "the front matter is nested too deeply; expected lists of simple values"
        )
    except (yaml.YAMLError, ValueError) as error:
        if long := _LONG_NUMBER.search(front):
            sentence = "the front matter holds a number that is too long; shorten it, or put it in quotes"
            return GuideProblem((), _find_line_at(front, long.start()), sentence)
        return GuideProblem((), None, f"the front matter is not YAML: {error}")


def parse_nodes(front: str) -> Any:
    """Parse YAML into nodes, which hold their positions in the text; return None for an empty text."""
    return yaml.compose(front, yaml.SafeLoader)


def find_line(front: str, location: Sequence[int | str]) -> int | None:
    """Return the line number of a value in the guide's text, or the line of the enclosing entry."""
    node = parse_nodes(front)
    if node is None:
        return None
    line = int(node.start_mark.line)
    for step in location:
        child = _step_into(node, step)
        if child is None:
            break
        node, line = child
    return line + _FIRST_LINE


def _find_line_at(front: str, position: int) -> int:
    return front.count("\n", 0, position) + _FIRST_LINE


def _step_into(node: yaml.Node, step: int | str) -> tuple[yaml.Node, int] | None:
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
        entry = node.value[step]
        return entry, entry.start_mark.line
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == step:
                return value, key.start_mark.line
    return None
