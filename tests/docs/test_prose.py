"""The pages: short sentences, current words, links that work, a README of two minutes.

The words are current in docstrings and in sentences on screen, too.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import ROOT

PAGES = [
    ROOT / "README.md",
    ROOT / "CHANGELOG.md",
    ROOT / "data" / "sample" / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
]
LONGEST = 40
ARCHAIC = re.compile(
    r"\b(stands?|stood|standing|lies|anew|dealt|deeds?|heeds?|mend(ed|s)?|voices|couples|(is|are|be) told"
    r"|beside|whoever|loners?|fewest|yields? to|and nothing else)\b",
    re.IGNORECASE,
)
GENERATED = ROOT / "docs" / "commands.md"
"""Its sentences are those of the command line, which are checked where they are written."""
MODULES = sorted([*ROOT.glob("app/**/*.py"), *ROOT.glob("curation/**/*.py")])
KEPT = {
    "curation/labeling/rounds/candidates.py": "a reason that projects store",
    "curation/pooling/pool.py": "a reason that projects store",
    "curation/releases/export/formats/triplets.py": "reasons in the manifest of an export, whose bytes stay",
}
"""Modules whose sentences are not looked at, and why."""

pages = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


def blocks(text: str) -> Iterator[str]:
    """Paragraphs and list items; no headings, tables, code blocks or generated parts. `Code` is a word."""
    text = re.sub(r"<!-- generated: .*?<!-- end -->", "\n\n", text, flags=re.DOTALL)
    text = re.sub(r"^(```.*?^```|    .*?$|\|.*?$|#.*?$)", "\n\n", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"!?\[([^]]*)\]\([^)]*\)", r"\1", re.sub(r"`[^`]*`", "Code", text))
    for block in re.split(r"\n\s*\n|^\s*(?:[-*]|\d+\.) ", text, flags=re.MULTILINE):
        if block.strip():
            yield " ".join(block.split())


def sentences(page: Path) -> Iterator[str]:
    yield from split(page.read_text(encoding="utf-8"))


def split(text: str) -> Iterator[str]:
    for block in blocks(text):
        yield from re.split(r"(?<=[.?!])[*_”)]*\s+(?=[*_“(]*[A-Z0-9])", block)


def links(text: str) -> list[str]:
    found = re.findall(r"\]\(([^)\s]+)\)", text) + re.findall(r'(?:src|href)="([^"]+)"', text)
    return [link for link in found if not link.startswith(("http:", "https:"))]


def anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_sentences_are_told_apart() -> None:
    text = (
        "# No\n\nOne two. Three `four five` six?\n\n- Seven.\n- Eight\n  nine\n\n| a | b |\n\n```\nno\n```\n"
    )
    assert list(split(text)) == ["One two.", "Three Code six?", "Seven.", "Eight nine"]


@pages
def test_no_sentence_is_long(page: Path) -> None:
    found = [sentence for sentence in sentences(page) if len(sentence.split()) > LONGEST]
    assert not found, "\n".join(found)


@pages
def test_no_word_is_archaic(page: Path) -> None:
    found = [s for s in sentences(page) if ARCHAIC.search(s) and page != GENERATED]
    assert not found, "\n".join(found)


def words_of(module: Path) -> Iterator[str]:
    """Docstrings and sentences of a module, with code as a word, and without the names of attributes."""
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            text = re.sub(r"^ *[a-z_, ]+:(?= )", "", node.value, flags=re.MULTILINE)
            yield re.sub(r"`[^`]*`", "Code", text)


@pytest.mark.parametrize("folder", ["app", "curation"])
def test_no_word_of_a_docstring_or_on_screen_is_archaic(folder: str) -> None:
    found = [
        f"{name}: {match[0]}"
        for name in (str(path.relative_to(ROOT)) for path in MODULES)
        if name.startswith(f"{folder}/") and name not in KEPT
        for text in words_of(ROOT / name)
        for match in [ARCHAIC.search(text)]
        if match
    ]
    assert not found, "\n".join(found)


def test_no_word_of_a_script_style_or_template_of_the_app_is_archaic() -> None:
    files = [path for kind in ("js", "css", "html") for path in (ROOT / "app").rglob(f"*.{kind}")]
    own = [path for path in files if not path.is_relative_to(ROOT / "app/manual/site")]
    found = [(path.name, match[0]) for path in own if (match := ARCHAIC.search(path.read_text("utf-8")))]
    assert found == []


def test_every_module_that_is_kept_has_such_a_word() -> None:
    assert [name for name in KEPT if not any(map(ARCHAIC.search, words_of(ROOT / name)))] == []


@pages
def test_every_link_leads_to_a_file_or_heading(page: Path) -> None:
    for link in links(page.read_text(encoding="utf-8")):
        name, _, anchor = link.partition("#")
        target = page.parent / name if name else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


@pages
def test_every_file_and_module_that_a_page_names_is_there(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    paths = re.findall(r"`((?:curation|app|tests|benchmarks|docs|labeling_guides|\.ci)/[\w./-]+)`", text)
    modules = re.findall(r"python -m ((?:benchmarks|docs|tests)\.[\w.]*\w)", text)
    named = [*paths, *(f"{module.replace('.', '/')}.py" for module in modules)]
    kept = [name for name in named if "NAME" not in name and not name.startswith("tests/trials")]
    assert [name for name in kept if not (ROOT / name).exists()] == []


def test_the_readme_takes_two_minutes() -> None:
    words = (ROOT / "README.md").read_text(encoding="utf-8").split()
    assert len(words) <= 900
