"""The demo's corpus: the documentation strings of the installed Python's standard library.

A newcomer should be able to grade pairs within a minute of installing, offline and without a data
set to download or a licence to read. Every Python already carries a few thousand short texts that
developers know how to judge: the docstrings of its own library. This module owns reading them out,
naming them the way people write them (`asyncio.gather`, not `asyncio.tasks.gather`) and writing them as a
JSON-lines corpus.

Two readers feed one list. Sources are parsed with `ast`, so no module runs. What has no source (C
modules) or is defined in a private module and published elsewhere (`tomllib.loads`, `os.path.join`)
is looked up on the imported module, and only for the modules named in `_IMPORTED`, whose import does
nothing but define names.
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

# `tomllib.loads` says all there is to say in five words; a method's line leans on its class and needs more.
_MIN_WORDS = 5
_MIN_WORDS_DEEPER = 12
_MAX_TITLE = 100

# Importing these has effects, or they are demonstrations, tests, installers or other people's code.
_EXCLUDED = frozenset(
    "antigravity this idlelib turtledemo lib2to3 ensurepip pip test tests pydoc_data encodings distutils "
    "xxsubtype xxlimited xxlimited_35".split()
)

# Many Pythons come without the first two, and 3.13 without the others: with them, which texts there are
# would depend on who packaged the Python.
_NOT_EVERYWHERE = frozenset(
    "tkinter turtle aifc asynchat asyncore audioop cgi cgitb chunk crypt imghdr imp mailcap msilib nis "
    "nntplib ossaudiodev pipes smtpd sndhdr spwd sunau telnetlib uu xdrlib".split()
)

# os and os.path publish these under the name people write; their own names would only repeat it.
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
    """One line of the corpus."""

    id: str
    title: str
    body: str
    group: str


def write_stdlib_corpus(path: Path, modules: Collection[str] | None = None) -> int:
    """Write the corpus to `path` as JSON lines ordered by id, and return the number of its documents.

    The same Python writes the same bytes.

    Parameters
    ----------
    modules: top-level names, such as json, whose documents are written; None for all.
    """
    published = [document for name in _IMPORTED for document in _read_imported(name)]
    defined = [document for name, file in _source_files(modules) for document in _read_source(name, file)]
    # Published names come first, so that they are the ones kept when a text appears twice.
    documents = _keep_first([*_by_name_length(published), *_by_name_length(defined)])
    if modules is not None:
        documents = [document for document in documents if document.group in modules]
    lines = [json.dumps(d._asdict(), ensure_ascii=False) + "\n" for d in sorted(documents)]
    path.write_text("".join(lines), encoding="utf-8", newline="\n")
    return len(documents)


def _by_name_length(documents: Iterable[StdlibDocument]) -> list[StdlibDocument]:
    return sorted(documents, key=lambda d: (_depth(d.id), d.id))


def _depth(name: str) -> int:
    """How many dots people write: `str.split` has one, though its id is `builtins.str.split`."""
    return name.removeprefix("builtins.").count(".")


def _too_short(document: StdlibDocument) -> bool:
    return len(document.body.split()) < (_MIN_WORDS if _depth(document.id) <= 1 else _MIN_WORDS_DEEPER)


def _keep_first(documents: Iterable[StdlibDocument]) -> list[StdlibDocument]:
    """Drop texts too short to judge, then repeated ids, then repeated texts."""
    kept: dict[str, StdlibDocument] = {}
    texts: set[str] = set()
    for document in documents:
        if not (_too_short(document) or document.id in kept or document.body in texts):
            kept[document.id] = document
            texts.add(document.body)
    return list(kept.values())


def _document(name: str, title: str, docstring: object) -> Iterator[StdlibDocument]:
    if isinstance(docstring, str) and docstring.strip():
        body = inspect.cleandoc(docstring).strip()
        yield StdlibDocument(name, title.replace("builtins.", ""), body, name.partition(".")[0])


# --- sources, parsed and never run ---------------------------------------------------------------


def _source_files(modules: Collection[str] | None) -> Iterator[tuple[str, Path]]:
    """Every module with a source file that may be read, as (dotted name, file), in name order."""
    root = Path(sysconfig.get_path("stdlib"))
    for top in sorted(sys.stdlib_module_names if modules is None else modules):
        file, package = root / f"{top}.py", root / top
        files = [file] if file.is_file() else sorted(package.rglob("*.py")) if package.is_dir() else []
        for source in files:
            parts = source.relative_to(root).with_suffix("").parts
            parts = parts[:-1] if parts[-1] == "__init__" else parts
            if not _is_left_out(parts):
                yield ".".join(parts), source


def _is_left_out(parts: tuple[str, ...]) -> bool:
    """Whether a module is private, excluded, not in every Python, or published under another name."""
    if any(part.startswith("_") or part in _EXCLUDED for part in parts):
        return True
    return parts[0] in _NOT_EVERYWHERE or parts[0] in _PUBLISHED_ELSEWHERE


def _read_source(module: str, file: Path) -> Iterator[StdlibDocument]:
    try:
        tree = ast.parse(file.read_bytes(), str(file))
    except (OSError, SyntaxError, ValueError):
        return
    yield from _document(module, f"{module} — module", ast.get_docstring(tree))
    for owner, node in _definitions(tree.body, module):
        name = f"{owner}.{node.name}"
        title = _source_title(name, node, in_class=owner != module)
        yield from _document(name, title, ast.get_docstring(node))


def _definitions(body: Iterable[ast.stmt], owner: str) -> Iterator[tuple[str, _Definition]]:
    """Public definitions with the dotted name they belong to; `if` and `try` blocks are looked into."""
    for node in body:
        if isinstance(node, _Definition):
            if node.name.startswith("_"):
                continue
            yield owner, node
            if isinstance(node, ast.ClassDef):
                yield from _definitions(node.body, f"{owner}.{node.name}")
        elif isinstance(node, ast.If):
            yield from _definitions([*node.body, *node.orelse], owner)
        elif isinstance(node, ast.Try):
            handlers = [statement for handler in node.handlers for statement in handler.body]
            yield from _definitions([*node.body, *handlers, *node.orelse], owner)


def _source_title(name: str, node: _Definition, *, in_class: bool) -> str:
    if isinstance(node, ast.ClassDef):
        init = next((n for n in node.body if isinstance(n, ast.FunctionDef) and n.name == "__init__"), None)
        parameters = _source_parameters(init.args, drop_first=True) if init else None
        return f"class {name}" + ("" if parameters is None else _short(parameters, name))
    decorators = [ast.unparse(decorator) for decorator in node.decorator_list]
    if any(decorator.rpartition(".")[2].endswith("property") for decorator in decorators):
        return f"{name} — property"
    return name + _short(_source_parameters(node.args, in_class and "staticmethod" not in decorators), name)


def _source_parameters(args: ast.arguments, drop_first: bool) -> list[str]:
    """The parameters as written, without annotations: a title is for reading."""
    positional = [*args.posonlyargs, *args.args]
    required: list[ast.expr | None] = [None] * (len(positional) - len(args.defaults))
    written = [_parameter(*pair) for pair in zip(positional, [*required, *args.defaults], strict=True)]
    if args.posonlyargs:
        written.insert(len(args.posonlyargs), "/")
    if drop_first and positional:
        written = written[2:] if written[1:2] == ["/"] else written[1:]
    if args.vararg:
        written.append(f"*{args.vararg.arg}")
    elif args.kwonlyargs:
        written.append("*")
    written += [_parameter(*pair) for pair in zip(args.kwonlyargs, args.kw_defaults, strict=True)]
    return [*written, f"**{args.kwarg.arg}"] if args.kwarg else written


def _parameter(arg: ast.arg, default: ast.expr | None) -> str:
    return arg.arg if default is None else f"{arg.arg}={ast.unparse(default)}"


def _short(parameters: list[str], name: str) -> str:
    """The parameters in parentheses, cut between two of them where the title would grow too long."""
    room = max(_MAX_TITLE - len(name), 30)
    kept = list(parameters)
    while len(", ".join(kept)) > room:
        kept.pop()
    if len(kept) < len(parameters):
        kept = [*(kept[:-1] if kept[-1:] in (["*"], ["/"]) else kept), "..."]
    return f"({', '.join(kept)})"


# --- modules that are imported and looked at -----------------------------------------------------


def _read_imported(name: str) -> Iterator[StdlibDocument]:
    """What a module publishes; nothing where this Python lacks it."""
    try:
        module = importlib.import_module(name)
    except ImportError:
        return
    yield from _read_module(name, module)


def _read_module(name: str, module: ModuleType) -> Iterator[StdlibDocument]:
    """The text of the module, and the texts of the classes and functions that it publishes."""
    yield from _document(name, f"{name} — module", module.__doc__)
    for attribute in sorted(getattr(module, "__all__", vars(module))):
        value = _as_made(module, attribute)
        if attribute.startswith("_") or not _published_here(name, value):
            continue
        qualified = f"{name}.{attribute}"
        if inspect.isclass(value):
            yield from _read_class(qualified, value)
        else:
            yield from _document(qualified, _called(qualified, value, False), value.__doc__)


def _as_made(module: ModuleType, attribute: str) -> object:
    """The value that Python gave it: a program may put another hook into `sys`, which keeps its own."""
    value: object = getattr(module, attribute, None)
    return getattr(module, f"__{attribute}__", value) if attribute.endswith("hook") else value


def _published_here(module: str, value: object) -> bool:
    """Whether `value` belongs to `module`: defined below it or in a private module, not borrowed."""
    if not (inspect.isclass(value) or inspect.isroutine(value)):
        return False
    home = getattr(value, "__module__", None) or module
    if module == "builtins" or home == module:
        return True
    top = home.partition(".")[0]
    return top == module.partition(".")[0] or top.startswith("_") or top in _PUBLISHED_ELSEWHERE


def _read_class(name: str, cls: type) -> Iterator[StdlibDocument]:
    yield from _document(name, f"class {_called(name, cls, False)}", vars(cls).get("__doc__"))
    # A private base is an implementation: what it defines is this class's to publish.
    bases = [base for base in cls.__mro__ if base is cls or base.__module__.startswith("_")]
    members = {key: value for base in reversed(bases) for key, value in vars(base).items()}
    for attribute, raw in sorted(members.items()):
        qualified = f"{name}.{attribute}"
        if attribute.startswith("_"):
            continue
        if inspect.isdatadescriptor(raw):
            yield from _document(qualified, f"{qualified} — property", raw.__doc__)
        elif inspect.isroutine(raw):
            bound = isinstance(raw, (staticmethod, classmethod)) or inspect.isbuiltin(getattr(cls, attribute))
            title = _called(qualified, getattr(cls, attribute), not bound)
            yield from _document(qualified, title, raw.__doc__)


def _called(name: str, value: object, drop_first: bool) -> str:
    """The name with its signature; a C function without a known one is shown as `name(...)`."""
    try:
        signature = inspect.signature(value)  # type: ignore[arg-type]
    except (AttributeError, TypeError, ValueError):
        return name if inspect.isclass(value) else f"{name}(...)"
    parameters = list(signature.parameters.values())[1 if drop_first else 0 :]
    return name + _short(_signature_parameters(parameters), name)


def _signature_parameters(parameters: list[inspect.Parameter]) -> list[str]:
    written: list[str] = []
    kinds = [parameter.kind for parameter in parameters]
    for number, parameter in enumerate(parameters):
        if parameter.kind is parameter.KEYWORD_ONLY and not any(p.startswith("*") for p in written):
            written.append("*")
        bare = str(parameter.replace(annotation=inspect.Parameter.empty))
        # Defaults such as <object object at 0x7f...> differ from run to run.
        written.append(re.sub(r"<.*>", "...", bare))
        if parameter.kind is parameter.POSITIONAL_ONLY and parameter.kind not in kinds[number + 1 :]:
            written.append("/")
    return written
