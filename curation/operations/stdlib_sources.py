"""The docstrings in the sources of the standard library, which are parsed with `ast` and never run."""

from __future__ import annotations

import ast
import sys
import sysconfig
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from curation.operations.stdlib_document import REPUBLISHED, StdlibDocument, join_parameters, make_document

Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
# The import of these modules has effects, or they are demonstrations, tests, installers or foreign code.
EXCLUDED_MODULES = frozenset(
    "antigravity this idlelib turtledemo lib2to3 ensurepip pip test tests pydoc_data encodings distutils "
    "xxsubtype xxlimited xxlimited_35".split()
)
# Many Pythons lack the first two modules, and 3.13 lacks the others: with them the corpus would depend
# on the distribution of Python.
OPTIONAL_MODULES = frozenset(
    "tkinter turtle aifc asynchat asyncore audioop cgi cgitb chunk crypt imghdr imp mailcap msilib nis "
    "nntplib ossaudiodev pipes smtpd sndhdr spwd sunau telnetlib uu xdrlib".split()
)


def list_sources(modules: Collection[str] | None) -> Iterator[tuple[str, Path]]:
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
    """Return whether a module is private, excluded, missing in some Pythons, or renamed when published."""
    is_private = any(part.startswith("_") or part in EXCLUDED_MODULES for part in parts)
    return is_private or parts[0] in OPTIONAL_MODULES | REPUBLISHED


def read_source(module: str, file: Path) -> Iterator[StdlibDocument]:
    try:
        tree = ast.parse(file.read_bytes(), str(file))
    except (OSError, SyntaxError, ValueError):
        return
    yield from make_document(module, f"{module} — module", ast.get_docstring(tree))
    for owner, node in _find_public_definitions(tree.body, module):
        name = f"{owner}.{node.name}"
        title = _format_source_title(name, node, in_class=owner != module)
        yield from make_document(name, title, ast.get_docstring(node))


def _find_public_definitions(body: Iterable[ast.stmt], owner: str) -> Iterator[tuple[str, Definition]]:
    """Yield public definitions, also those in `if` and `try` blocks, with the dotted name of their owner."""
    for node in body:
        if isinstance(node, Definition):
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


def _format_source_title(name: str, node: Definition, *, in_class: bool) -> str:
    if isinstance(node, ast.ClassDef):
        init = next((n for n in node.body if isinstance(n, ast.FunctionDef) and n.name == "__init__"), None)
        if init is None:
            return f"class {name}"
        return f"class {name}{join_parameters(_format_arguments(init.args, drop_first=True), name)}"
    decorators = [ast.unparse(decorator) for decorator in node.decorator_list]
    if any(decorator.rpartition(".")[2].endswith("property") for decorator in decorators):
        return f"{name} — property"
    drop_first = in_class and "staticmethod" not in decorators
    return name + join_parameters(_format_arguments(node.args, drop_first), name)


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
