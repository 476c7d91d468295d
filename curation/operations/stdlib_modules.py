"""The docstrings of imported standard-library modules.

The imported modules have objects without a source (C modules), and publish objects that a private module
defines (`tomllib.loads`, `os.path.join`). Importing these modules only defines names.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator
from types import ModuleType

from curation.operations.stdlib_document import REPUBLISHED, StdlibDocument, join_parameters, make_document

IMPORTED_MODULES = tuple(
    "array atexit binascii builtins cmath errno faulthandler fcntl gc grp itertools marshal math mmap pwd "
    "pyexpat resource select sys syslog termios time unicodedata zlib asyncio bz2 codecs collections "
    "collections.abc concurrent.futures contextlib contextvars csv ctypes datetime decimal functools hashlib "
    "heapq bisect importlib.resources io json logging lzma multiprocessing operator os os.path pathlib "
    "pickle queue random re signal socket sqlite3 ssl statistics string struct sysconfig threading tomllib "
    "types typing unittest unittest.mock uuid warnings weakref zipfile zoneinfo".split()
)


def read_module(name: str) -> Iterator[StdlibDocument]:
    """Import a module; yield its document, and those of its published classes and functions."""
    try:
        module = importlib.import_module(name)
    except ImportError:  # some installations of Python lack the module
        return
    yield from make_document(name, f"{name} — module", module.__doc__)
    for attribute in sorted(getattr(module, "__all__", vars(module))):
        value = _read_original_value(module, attribute)
        if attribute.startswith("_") or not _is_published_by(name, value):
            continue
        qualified = f"{name}.{attribute}"
        if inspect.isclass(value):
            yield from _read_class(qualified, value)
        else:
            yield from make_document(qualified, _format_title(qualified, value, False), value.__doc__)


def _read_original_value(module: ModuleType, attribute: str) -> object:
    """Return the original value of an attribute, such as a hook of `sys` that a program replaced."""
    value: object = getattr(module, attribute, None)
    return getattr(module, f"__{attribute}__", value) if attribute.endswith("hook") else value


def _is_published_by(module: str, value: object) -> bool:
    """Return whether an object belongs to a module: the module or a private module defines the object."""
    if not (inspect.isclass(value) or inspect.isroutine(value)):
        return False
    defining_module = getattr(value, "__module__", None) or module
    if module == "builtins" or defining_module == module:
        return True
    top_package = defining_module.partition(".")[0]
    is_same_package = top_package == module.partition(".")[0]
    return is_same_package or top_package.startswith("_") or top_package in REPUBLISHED


def _read_class(name: str, cls: type) -> Iterator[StdlibDocument]:
    yield from make_document(name, f"class {_format_title(name, cls, False)}", vars(cls).get("__doc__"))
    # A private base class is an implementation, so this class publishes the methods of the base class.
    bases = [base for base in cls.__mro__ if base is cls or base.__module__.startswith("_")]
    members = {key: value for base in reversed(bases) for key, value in vars(base).items()}
    for attribute, member in sorted(members.items()):
        qualified = f"{name}.{attribute}"
        if attribute.startswith("_"):
            continue
        if inspect.isdatadescriptor(member):
            yield from make_document(qualified, f"{qualified} — property", member.__doc__)
        elif inspect.isroutine(member):
            method = getattr(cls, attribute)
            is_bound = isinstance(member, (staticmethod, classmethod)) or inspect.isbuiltin(method)
            title = _format_title(qualified, method, not is_bound)
            yield from make_document(qualified, title, member.__doc__)


def _format_title(name: str, value: object, drop_first: bool) -> str:
    """Return the name of an object with its signature, or `name(...)` for an unknown signature."""
    try:
        signature = inspect.signature(value)  # type: ignore[arg-type]
    except (AttributeError, TypeError, ValueError):
        return name if inspect.isclass(value) else f"{name}(...)"
    parameters = list(signature.parameters.values())[1 if drop_first else 0 :]
    return name + join_parameters(_format_signature(parameters), name)


def _format_signature(parameters: list[inspect.Parameter]) -> list[str]:
    formatted: list[str] = []
    kinds = [parameter.kind for parameter in parameters]
    for index, parameter in enumerate(parameters):
        if parameter.kind is parameter.KEYWORD_ONLY and not any(p.startswith("*") for p in formatted):
            formatted.append("*")
        text = str(parameter.replace(annotation=inspect.Parameter.empty))
        # A default such as <object object at 0x7f...> differs between two runs.
        formatted.append(re.sub(r"<.*>", "...", text))
        if parameter.kind is parameter.POSITIONAL_ONLY and parameter.kind not in kinds[index + 1 :]:
            formatted.append("/")
    return formatted
