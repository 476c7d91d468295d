"""The front matter of a guide's text: its values, the line of each, and new values in the place of old ones.

Only the entry whose value changes is written again. All others stay as they are, byte for byte, with the
comments between them, so that nothing is lost of what an editor does not know.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import yaml

_FRONT_MATTER = re.compile(r"\A---\n(.*?\n)---\n(.*)\Z", re.DOTALL)
_FIRST_LINE = 2
"""The line of a guide at which its front matter begins, below the dashes."""

_OPENS, _DEEPEST = re.compile(r"[\[{]"), 100
_LONG_NUMBER = re.compile(r"\d{4301,}")
"""A whole number of more digits than Python reads."""


class GuideProblem(NamedTuple):
    """What is wrong with a guide's text.

    location: the names and places that lead to the value, such as ('scale', 1, 'key').
    line: of the whole text, from 1; None where it is about the whole.
    sentence: what was found, what was expected.
    """

    location: tuple[int | str, ...]
    line: int | None
    sentence: str


def split_source(source: str) -> tuple[str, str] | None:
    """The YAML between the dashes of a guide's text, and the body; None where it has no front matter."""
    match = _FRONT_MATTER.match(source)
    return (match[1], match[2]) if match else None


def source_values(source: str) -> dict[str, Any]:
    """The entries of a text's front matter by name; {} where it cannot be read as such."""
    parts = split_source(source)
    values = read_values(parts[0]) if parts else None
    return values if isinstance(values, dict) else {}


def read_values(front: str) -> Any | GuideProblem:
    """What the YAML says, or why it is not YAML."""
    try:
        return yaml.safe_load(front)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + _FIRST_LINE if error.problem_mark else 1
        return GuideProblem((), line, f"the front matter is not YAML: {error.problem}")
    except yaml.reader.ReaderError as error:
        line = _line_at(front, error.position)
        said = (
            f"the front matter holds the character U+{ord(front[error.position]):04X}, which YAML does not "
            "allow; remove it"
        )
        return GuideProblem((), line, said)
    except RecursionError:
        brackets = [found.start() for found in _OPENS.finditer(front)]
        place = _line_at(front, brackets[_DEEPEST]) if len(brackets) > _DEEPEST else None
        return GuideProblem(
            (), place, "the front matter is nested too deeply; expected lists of plain values"
        )
    except (yaml.YAMLError, ValueError) as error:
        if long := _LONG_NUMBER.search(front):
            said = "the front matter holds a number that is too long; shorten it, or put it in quotes"
            return GuideProblem((), _line_at(front, long.start()), said)
        return GuideProblem((), None, f"the front matter is not YAML: {error}")


def _line_at(front: str, position: int) -> int:
    return front.count("\n", 0, position) + _FIRST_LINE


def line_of(front: str, location: Sequence[int | str]) -> int | None:
    """The line of a value in the guide's text; of what should hold it where it is missing."""
    node = _compose(front)
    if node is None:
        return None
    line = int(node.start_mark.line)
    for step in location:
        found = _below(node, step)
        if found is None:
            break
        node, line = found
    return line + _FIRST_LINE


def with_values(source: str, values: Mapping[str, Any], body: str) -> str:
    """The text with other values of these entries and another body.

    Parameters
    ----------
    source: a text whose front matter is YAML with names.
    """
    parts = split_source(source)
    if parts is None:
        raise ValueError("a text without front matter has no values to replace")
    (front, below), held = parts, read_values(parts[0])
    if not isinstance(held, dict):
        raise ValueError("front matter without names has no values to replace")
    for name, value in values.items():
        if name not in held:
            front += _written(name, value)
        elif held[name] != value:
            front = _with_value(front, name, value)
    if below.strip() != body.strip():
        below = f"\n{body.strip()}\n"
    return f"---\n{front}---\n{below}"


def _compose(front: str) -> Any:
    """The nodes of the YAML, which know their places; None where there are none."""
    return yaml.compose(front, yaml.SafeLoader)


def _with_value(front: str, name: str, value: Any) -> str:
    entries = _compose(front).value
    place = next(place for place, (key, _) in enumerate(entries) if key.value == name)
    start = entries[place][0].start_mark.index
    end = entries[place + 1][0].start_mark.index if place + 1 < len(entries) else len(front)
    return front[:start] + _written(name, value) + _remarks_at_end(front[start:end]) + front[end:]


def _remarks_at_end(entry: str) -> str:
    """The comments and empty lines between an entry and the next one."""
    lines = entry.splitlines(keepends=True)
    first = len(lines)
    while first > 1 and (lines[first - 1].startswith("#") or not lines[first - 1].strip()):
        first -= 1
    return "".join(lines[first:])


class _Writer(yaml.SafeDumper):
    """Quotes texts with a line break other than \\n: in plain style they are read back as a space."""


_OTHER_BREAKS = frozenset("\r\x85\u2028\u2029")


def _quoted(writer: _Writer, text: str) -> yaml.ScalarNode:
    return writer.represent_scalar(
        "tag:yaml.org,2002:str", text, '"' if _OTHER_BREAKS.intersection(text) else None
    )


_Writer.add_representer(str, _quoted)


def _written(name: str, value: Any) -> str:
    return str(yaml.dump({name: value}, Dumper=_Writer, sort_keys=False, allow_unicode=True, width=110))


def _below(node: yaml.Node, step: int | str) -> tuple[yaml.Node, int] | None:
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
        found = node.value[step]
        return found, found.start_mark.line
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == step:
                return value, key.start_mark.line
    return None
