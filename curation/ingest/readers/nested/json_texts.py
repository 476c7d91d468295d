"""JSON as files hold it: read within bounds; what cannot be read is said in words, with its line."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from itertools import islice
from typing import Any

from curation.ingest.readers import bounds
from curation.ingest.readers.bounds import DEEPEST, too_deep

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"|[\[{\]}]|-?\d++', re.DOTALL)
_NEAR = 20


class UnreadJSONError(Exception):
    """A text is no JSON that can be meant.

    Attributes
    ----------
    line: the line of the text on which that shows, from 1.
    found: what is wrong, as a part of a sentence.
    is_broken: whether it is no JSON at all.
    """

    def __init__(self, line: int, found: str, is_broken: bool = False) -> None:
        super().__init__(f"line {line}: {found}")
        self.line, self.found, self.is_broken = line, found, is_broken


def read_json(text: str, decode: Callable[[str], Any] = json.loads) -> Any:
    """What a JSON text says.

    Raises
    ------
    UnreadJSONError: it is broken, nested too deeply, or has too many lists and objects, or a number that is
        too long to be read.
    """
    _refuse_many(text)
    try:
        value = decode(text)
    except json.JSONDecodeError as error:
        near = text[max(0, error.pos - _NEAR) : error.pos + _NEAR]
        found = f"broken JSON: {error.msg} at character {error.colno}, near “{near}”"
        raise UnreadJSONError(error.lineno, found, True) from error
    except RecursionError as error:
        raise _too_deep(text) from error
    except ValueError as error:
        raise _too_long(text) from error
    if too_deep(text, value):
        raise _too_deep(text)
    return value


def _refuse_many(text: str) -> None:
    most = bounds.MOST_VALUES
    if len(text) > most and text.count("[") + text.count("{") > most:
        begins = (token.start() for token in _TOKEN.finditer(text) if token[0] in ("[", "{"))
        at = next(islice(begins, most, None), None)  # None: they are in its texts
        if at is not None:
            found = f"it has more than {most:,} lists and objects; expected fewer: make several of it"
            raise UnreadJSONError(_line(text, at), found)


def _too_deep(text: str) -> UnreadJSONError:
    depth, at = 0, 0
    for token in _TOKEN.finditer(text):
        depth += (token[0] in "[{") - (token[0] in "]}")
        if depth > DEEPEST:
            at = token.start()
            break
    return UnreadJSONError(_line(text, at), f"it is nested too deeply; expected at most {DEEPEST} levels")


def _too_long(text: str) -> UnreadJSONError:
    most = sys.get_int_max_str_digits()
    numbers = (token for token in _TOKEN.finditer(text) if len(token[0].removeprefix("-")) > most)
    at = next((token.start() for token in numbers if token[0][0] != '"'), 0)
    found = f"a whole number has more than {most:,} digits; expected a shorter one, or a text in quotes"
    return UnreadJSONError(_line(text, at), found)


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1
