"""Write the generated part of docs/architecture.md: the rooms, what each owns, and what it imports.

The rooms and their order are the layers contract in pyproject.toml. An import that a chain of others already
implies is left out. What a room owns is the first sentence of its docstring. The part is written between
`<!-- generated: NAME -->` and `<!-- end -->`; the rest is by hand.

Usage: python -m docs.make_architecture
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TARGET = Path(__file__).with_name("architecture.md")
MARKED = re.compile(r"(<!-- generated: (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)


def layers() -> list[list[str]]:
    """The rooms from the top to the ground; rooms of one layer do not import each other."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contract = next(c for c in settings["tool"]["importlinter"]["contracts"] if c["type"] == "layers")
    return [[room.strip() for room in layer.split("|")] for layer in contract["layers"]]


def rooms() -> list[str]:
    """All rooms, from the top to the ground."""
    return [room for layer in layers() for room in layer]


def files(room: str) -> list[Path]:
    """The Python files of a room, which is a folder or a single file."""
    path = ROOT / room.replace(".", "/")
    return sorted(path.rglob("*.py")) if path.is_dir() else [path.with_suffix(".py")]


def page(text: str) -> str:
    """`text` of docs/architecture.md with every generated part written again.

    Raises
    ------
    ValueError: the page lacks one of the parts, or has one of another name.
    """
    parts = {"rooms": table()}
    marked = [name for _, name, _ in MARKED.findall(text)]
    if sorted(marked) != sorted(parts):
        raise ValueError(f"{TARGET.name} needs the generated parts {sorted(parts)}; it has {sorted(marked)}.")
    return MARKED.sub(lambda match: f"{match[1]}{parts[match[2]]}{match[3]}", text)


def table() -> str:
    """The rooms from the top to the ground, with what each owns and imports."""
    imported = direct_imports()
    below = {room: ", ".join(map(_short, imported[room])) or "–" for room in rooms()}
    rows = [f"| `{_short(room)}` | {_first_sentence(_top(room))} | {below[room]} |\n" for room in rooms()]
    return "| room | what it owns | imports |\n|---|---|---|\n" + "".join(rows)


def direct_imports() -> dict[str, list[str]]:
    """Room → the rooms that it imports, without those that one of these imports."""
    direct: dict[str, list[str]] = {}
    reached: dict[str, set[str]] = {}
    for room in reversed(rooms()):
        below = _imported_rooms(room)
        implied = set().union(*(reached[other] for other in below))
        reached[room] = below | implied
        direct[room] = sorted(below - implied)
    return direct


def _top(room: str) -> Path:
    """The file whose docstring says what a room is."""
    path = ROOT / room.replace(".", "/")
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def _imported_rooms(room: str) -> set[str]:
    """The rooms below that a room imports. That nothing imports upwards is what `make lint` checks."""
    named = {name for path in files(room) for name in _imports(path)}
    below = rooms()[rooms().index(room) + 1 :]
    return {other for other in below if any(f"{name}.".startswith(f"{other}.") for name in named)}


def _imports(path: Path) -> Iterator[str]:
    """The dotted names that a file imports, also within functions and for type checks."""
    for node in ast.walk(_parsed(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@cache
def _parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _first_sentence(path: Path) -> str:
    docstring = ast.get_docstring(_parsed(path)) or ""
    paragraph = " ".join(docstring.split("\n\n")[0].split())
    return re.split(r"(?<=[.?!])\s+(?=[A-Z])", paragraph)[0].replace("|", "\\|")


def _short(room: str) -> str:
    return room.removeprefix("curation.")


if __name__ == "__main__":
    TARGET.write_text(page(TARGET.read_text(encoding="utf-8")), encoding="utf-8")
    print(f"wrote {TARGET}")
