"""The demo's corpus: the docstrings of the installed Python's standard library as JSON lines.

A new user can grade pairs within a minute after the installation, without a network, a download or a license
to read: every Python contains a few thousand short texts that developers can judge. A document has the name
that people write: `asyncio.gather`, not `asyncio.tasks.gather`.

Two readers make the documents. The first parses sources with `ast` and runs no module. The second imports the
modules of `_IMPORTED`, whose import only defines names. The second reader reads the objects that have no
source (C modules), and the objects that a private module defines and a public module publishes
(`tomllib.loads`, `os.path.join`).
"""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import re
import sys
import sysconfig
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

_Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef

# The docstring of a function can be judged from five words on; the docstring of a method needs more words.
_MIN_WORDS = 5
_MIN_WORDS_OF_METHODS = 12
_MAX_TITLE = 100

# The import of these modules has effects, or they are demonstrations, tests, installers or foreign code.
_EXCLUDED = frozenset(
    "antigravity this idlelib turtledemo lib2to3 ensurepip pip test tests pydoc_data encodings distutils "
    "xxsubtype xxlimited xxlimited_35".split()
)

# Many Pythons lack the first two modules, and 3.13 lacks the others: with them the corpus would depend
# on the distribution of Python.
_NOT_EVERYWHERE = frozenset(
    "tkinter turtle aifc asynchat asyncore audioop cgi cgitb chunk crypt imghdr imp mailcap msilib nis "
    "nntplib ossaudiodev pipes smtpd sndhdr spwd sunau telnetlib uu xdrlib".split()
)

# os and os.path publish the functions of these modules under the names that people write.
_PUBLISHED_ELSEWHERE = frozenset("posix posixpath ntpath nt genericpath nturl2path".split())

_IMPORTED = tuple(
    "array atexit binascii builtins cmath errno faulthandler fcntl gc grp itertools marshal math mmap pwd "
    "pyexpat resource select sys syslog termios time unicodedata zlib asyncio bz2 codecs collections "
    "collections.abc concurrent.futures contextlib contextvars csv ctypes datetime decimal functools hashlib "
    "heapq bisect importlib.resources io json logging lzma multiprocessing operator os os.path pathlib "
    "pickle queue random re signal socket sqlite3 ssl statistics string struct sysconfig threading tomllib "
    "types typing unittest unittest.mock uuid warnings weakref zipfile zoneinfo".split()
)


class StdlibDocument(NamedTuple):
    """One document of the corpus."""

    id: str
    title: str
    body: str
    group: str


def write_stdlib_corpus(path: Path, modules: Collection[str] | None = None) -> int:
    """Write the corpus to `path` as JSON lines ordered by id, and return the number of its documents.

    The same version of Python writes the same bytes.

    Parameters
    ----------
    modules: top-level names of modules, such as json, whose documents are written; None is all modules.
    """
    published = [document for name in _IMPORTED for document in _read_module(name)]
    defined = [document for name, file in _list_sources(modules) for document in _read_source(name, file)]
    # Published names come first, so that a text which appears twice keeps its published name.
    documents = _drop_repeats([*_sort_by_dots(published), *_sort_by_dots(defined)])
    if modules is not None:
        documents = [document for document in documents if document.group in modules]
    lines = [json.dumps(document._asdict(), ensure_ascii=False) + "\n" for document in sorted(documents)]
    path.write_text("".join(lines), encoding="utf-8", newline="\n")
    return len(documents)


def _sort_by_dots(documents: Iterable[StdlibDocument]) -> list[StdlibDocument]:
    return sorted(documents, key=lambda document: (_count_dots(document.id), document.id))


def _count_dots(name: str) -> int:
    """Count the dots that people write: `str.split` has one dot, though its id is `builtins.str.split`."""
    return name.removeprefix("builtins.").count(".")


def _drop_repeats(documents: Iterable[StdlibDocument]) -> list[StdlibDocument]:
    """Keep the first document of each id and of each text, without texts that are too short to judge."""
    document_of: dict[str, StdlibDocument] = {}
    texts: set[str] = set()
    for document in documents:
        min_words = _MIN_WORDS if _count_dots(document.id) <= 1 else _MIN_WORDS_OF_METHODS
        is_short = len(document.body.split()) < min_words
        if not (is_short or document.id in document_of or document.body in texts):
            document_of[document.id] = document
            texts.add(document.body)
    return list(document_of.values())


def _make_document(name: str, title: str, docstring: object) -> Iterator[StdlibDocument]:
    """Yield the document of an object with a docstring."""
    if isinstance(docstring, str) and docstring.strip():
        body = inspect.cleandoc(docstring).strip()
        yield StdlibDocument(name, title.replace("builtins.", ""), body, name.partition(".")[0])


# --- sources that are parsed and never run ----------------------------------------------------------


def _list_sources(modules: Collection[str] | None) -> Iterator[tuple[str, Path]]:
    """Yield the dotted name and the source file of each module that may be read, ordered by name."""
    root = Path(sysconfig.get_path("stdlib"))
    for top in sorted(sys.stdlib_module_names if modules is None else modules):
        file, package = root / f"{top}.py", root / top
        files = [file] if file.is_file() else sorted(package.rglob("*.py")) if package.is_dir() else []
        for source in files:
            parts = source.relative_to(root).with_suffix("").parts
            parts = parts[:-1] if parts[-1] == "__init__" else parts
            if not _is_excluded(parts):
                yield ".".join(parts), source


def _is_excluded(parts: tuple[str, ...]) -> bool:
    """Tell whether a module is private, excluded, missing in some Pythons, or published under a different
    name.
    """
    is_private = any(part.startswith("_") or part in _EXCLUDED for part in parts)
    return is_private or parts[0] in _NOT_EVERYWHERE | _PUBLISHED_ELSEWHERE


def _read_source(module: str, file: Path) -> Iterator[StdlibDocument]:
    try:
        tree = ast.parse(file.read_bytes(), str(file))
    except (OSError, SyntaxError, ValueError):
        return
    yield from _make_document(module, f"{module} — module", ast.get_docstring(tree))
    for owner, node in _find_public_definitions(tree.body, module):
        name = f"{owner}.{node.name}"
        title = _format_source_title(name, node, in_class=owner != module)
        yield from _make_document(name, title, ast.get_docstring(node))


def _find_public_definitions(body: Iterable[ast.stmt], owner: str) -> Iterator[tuple[str, _Definition]]:
    """Yield public definitions, also those in `if` and `try` blocks, with the dotted name of their owner."""
    for node in body:
        if isinstance(node, _Definition):
            if node.name.startswith("_"):
                continue
            yield owner, node
            if isinstance(node, ast.ClassDef):
                yield from _find_public_definitions(node.body, f"{owner}.{node.name}")
        elif isinstance(node, ast.If):
            yield from _find_public_definitions([*node.body, *node.orelse], owner)
        elif isinstance(node, ast.Try):
            handlers = [statement for handler in node.handlers for statement in handler.body]
            yield from _find_public_definitions([*node.body, *handlers, *node.orelse], owner)


def _format_source_title(name: str, node: _Definition, *, in_class: bool) -> str:
    if isinstance(node, ast.ClassDef):
        init = next((n for n in node.body if isinstance(n, ast.FunctionDef) and n.name == "__init__"), None)
        if init is None:
            return f"class {name}"
        return f"class {name}{_shorten_parameters(_format_arguments(init.args, drop_first=True), name)}"
    decorators = [ast.unparse(decorator) for decorator in node.decorator_list]
    if any(decorator.rpartition(".")[2].endswith("property") for decorator in decorators):
        return f"{name} — property"
    drop_first = in_class and "staticmethod" not in decorators
    return name + _shorten_parameters(_format_arguments(node.args, drop_first), name)


def _format_arguments(args: ast.arguments, drop_first: bool) -> list[str]:
    """Write the parameters of a definition without annotations, for a title."""
    positional = [*args.posonlyargs, *args.args]
    required: list[ast.expr | None] = [None] * (len(positional) - len(args.defaults))
    parts = [_format_parameter(*pair) for pair in zip(positional, [*required, *args.defaults], strict=True)]
    if args.posonlyargs:
        parts.insert(len(args.posonlyargs), "/")
    if drop_first and positional:
        parts = parts[2:] if parts[1:2] == ["/"] else parts[1:]
    if args.vararg:
        parts.append(f"*{args.vararg.arg}")
    elif args.kwonlyargs:
        parts.append("*")
    parts += [_format_parameter(*pair) for pair in zip(args.kwonlyargs, args.kw_defaults, strict=True)]
    return [*parts, f"**{args.kwarg.arg}"] if args.kwarg else parts


def _format_parameter(arg: ast.arg, default: ast.expr | None) -> str:
    return arg.arg if default is None else f"{arg.arg}={ast.unparse(default)}"


def _shorten_parameters(parameters: list[str], name: str) -> str:
    """Join the parameters in parentheses, without the last parameters if the title would be too long."""
    max_length = max(_MAX_TITLE - len(name), 30)
    shown = list(parameters)
    while len(", ".join(shown)) > max_length:
        shown.pop()
    if len(shown) < len(parameters):
        shown = [*(shown[:-1] if shown[-1:] in (["*"], ["/"]) else shown), "..."]
    return f"({', '.join(shown)})"


# --- modules that are imported -------------------------------------------------------------------


def _read_module(name: str) -> Iterator[StdlibDocument]:
    """Import a module and yield its document and the documents of the classes and functions that it
    publishes.
    """
    try:
        module = importlib.import_module(name)
    except ImportError:  # this Python lacks the module
        return
    yield from _make_document(name, f"{name} — module", module.__doc__)
    for attribute in sorted(getattr(module, "__all__", vars(module))):
        value = _read_original_value(module, attribute)
        if attribute.startswith("_") or not _is_published_by(name, value):
            continue
        qualified = f"{name}.{attribute}"
        if inspect.isclass(value):
            yield from _read_class(qualified, value)
        else:
            yield from _make_document(qualified, _format_title(qualified, value, False), value.__doc__)


def _read_original_value(module: ModuleType, attribute: str) -> object:
    """Return the value that Python gave an attribute: `sys` keeps the original hook where a program
    replaced one.
    """
    value: object = getattr(module, attribute, None)
    return getattr(module, f"__{attribute}__", value) if attribute.endswith("hook") else value


def _is_published_by(module: str, value: object) -> bool:
    """Tell whether an object belongs to a module: the module or a private module defines the object."""
    if not (inspect.isclass(value) or inspect.isroutine(value)):
        return False
    defining_module = getattr(value, "__module__", None) or module
    if module == "builtins" or defining_module == module:
        return True
    top_package = defining_module.partition(".")[0]
    is_same_package = top_package == module.partition(".")[0]
    return is_same_package or top_package.startswith("_") or top_package in _PUBLISHED_ELSEWHERE


def _read_class(name: str, cls: type) -> Iterator[StdlibDocument]:
    yield from _make_document(name, f"class {_format_title(name, cls, False)}", vars(cls).get("__doc__"))
    # A private base class is an implementation, so this class publishes the methods of the base class.
    bases = [base for base in cls.__mro__ if base is cls or base.__module__.startswith("_")]
    members = {key: value for base in reversed(bases) for key, value in vars(base).items()}
    for attribute, member in sorted(members.items()):
        qualified = f"{name}.{attribute}"
        if attribute.startswith("_"):
            continue
        if inspect.isdatadescriptor(member):
            yield from _make_document(qualified, f"{qualified} — property", member.__doc__)
        elif inspect.isroutine(member):
            method = getattr(cls, attribute)
            is_bound = isinstance(member, (staticmethod, classmethod)) or inspect.isbuiltin(method)
            title = _format_title(qualified, method, not is_bound)
            yield from _make_document(qualified, title, member.__doc__)


def _format_title(name: str, value: object, drop_first: bool) -> str:
    """Write the name of an object with its signature; `name(...)` for a C function without a known
    signature.
    """
    try:
        signature = inspect.signature(value)  # type: ignore[arg-type]
    except (AttributeError, TypeError, ValueError):
        return name if inspect.isclass(value) else f"{name}(...)"
    parameters = list(signature.parameters.values())[1 if drop_first else 0 :]
    return name + _shorten_parameters(_format_signature(parameters), name)


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
