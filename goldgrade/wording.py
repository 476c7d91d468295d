"""Errors in the words of Python: arguments where a command would name its options."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from curation.core.errors import CurationError
from curation.core.request import list_options

_OPTION = re.compile(r"(?<![\w-])--([a-z][a-z-]*)")


@contextmanager
def naming_arguments(request_type: type) -> Iterator[None]:
    """Reword an error so that it names the request's fields, which are the arguments of a call."""
    try:
        yield
    except CurationError as error:
        names = {option.spelling: option.name for option in list_options(request_type)}
        text = _OPTION.sub(lambda match: names.get(match[0], match[1].replace("-", "_")), str(error))
        error.args = (text,)
        raise
