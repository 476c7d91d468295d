"""What a module may hold: one idea, its constants on top, and names in its docstrings that are there."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.support import ROOT

MODULES = sorted([*ROOT.glob("curation/**/*.py"), *ROOT.glob("app/**/*.py"), *ROOT.glob("goldgrade/*.py")])
LONGEST = 400
"""Lines of code of a module: blank lines, comments and docstrings do not count."""
DOTTED = re.compile(r"`+([a-z_]+(?:\.[A-Za-z_]+)+)`+")
FILE_ENDINGS = set("json jsonl md csv tsv html yaml toml py parquet txt sql js".split())
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def name_of(node: ast.stmt) -> str:
    """The name that a module's statement gives a value, else nothing."""
    target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
    return target.id if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(target, ast.Name) else ""


@cache
def names_within(node: ast.AST) -> set[str]:
    """All names that are read within a node, also those within its texts, such as quoted types."""
    found = {name.id for name in ast.walk(node) if isinstance(name, ast.Name)}
    texts = (text.value for text in ast.walk(node) if isinstance(text, ast.Constant))
    return found | {word for text in texts if isinstance(text, str) for word in re.findall(r"\w+", text)}


def constants_below(path: Path) -> Iterator[str]:
    """The constants below the first definition of a module, but for those that must be there.

    A registry of what the module itself defines comes after it. A private constant may stand directly above
    the only definition that uses it.
    """
    body = tree(path).body
    own: set[str] = set()
    for at, node in enumerate(body):
        if isinstance(node, Definition):
            own.add(node.name)
        elif (name := name_of(node)) and own:
            users = [
                other
                for other, later in enumerate(body)
                if other != at and name in names_within(later) - {"__all__"}
            ]
            nearest = next((other for other in range(at + 1, len(body)) if not name_of(body[other])), at)
            if names_within(getattr(node, "value", None) or node) & own:
                own.add(name)
            elif not (name.startswith("_") and users == [nearest]):
                yield name


@cache
def defined() -> dict[str, set[str]]:
    """Dotted name of each module → all names that it, its classes and its functions define."""
    names = {}
    for path in MODULES:
        dotted = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        nodes = list(ast.walk(tree(path)))
        names[dotted] = {node.name for node in nodes if isinstance(node, Definition)}
        names[dotted] |= {name_of(node) for node in nodes if isinstance(node, ast.Assign | ast.AnnAssign)}
    return names


@cache
def endings() -> dict[str, set[str]]:
    """Each ending of a module's dotted name → the names of all modules that end so."""
    found: dict[str, set[str]] = {}
    for dotted, names in defined().items():
        parts = dotted.split(".")
        for start in range(len(parts)):
            found.setdefault(".".join(parts[start:]), set()).update(names)
    return found


def is_there(dotted: str) -> bool:
    """Whether a dotted name is a module, or a name in one, or in a class of one."""
    head, _, last = dotted.rpartition(".")
    above, _, owner = head.rpartition(".")
    return dotted in endings() or last in endings().get(head, ()) or owner in endings().get(above, ())


def dead_names(path: Path) -> Iterator[str]:
    """Dotted names in backticks in docstrings that begin with a room or module of ours and are not there."""
    rooms = {part for dotted in defined() for part in dotted.split(".")}
    for node in ast.walk(tree(path)):
        if isinstance(node, Definition | ast.Module):
            for dotted in DOTTED.findall(ast.get_docstring(node) or ""):
                first, *_, last = dotted.split(".")
                if first in rooms and last not in FILE_ENDINGS and not is_there(dotted):
                    yield dotted


def where(faults: dict[Path, list[str]]) -> dict[str, list[str]]:
    return {str(path.relative_to(ROOT)): names for path, names in faults.items() if names}


@pytest.mark.costly("every module is parsed")
def test_constants_are_on_top_of_a_module() -> None:
    assert where({path: list(constants_below(path)) for path in MODULES}) == {}


@pytest.mark.costly("reads every module of the project")
def test_a_dotted_name_in_a_docstring_is_there() -> None:
    assert where({path: list(dead_names(path)) for path in MODULES}) == {}


def lines_of_code(path: Path) -> int:
    docstrings = {
        line
        for node in ast.walk(tree(path))
        if isinstance(node, Definition | ast.Module) and ast.get_docstring(node)
        for line in range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1)
    }
    lines = enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
    return sum(
        bool(text.strip()) and not text.lstrip().startswith("#") and number not in docstrings
        for number, text in lines
    )


def test_a_module_has_400_lines_at_most() -> None:
    lengths = {path: lines_of_code(path) for path in MODULES}
    assert where({path: [str(length)] for path, length in lengths.items() if length > LONGEST}) == {}
