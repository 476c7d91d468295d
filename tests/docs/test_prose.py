"""The pages: sentences with a subject, links that work, a README of two minutes."""

from __future__ import annotations

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
TRANSLATED = re.compile(
    r"(?:(?<=[.?!:]\s)|^)(?:Of (?!course\b)|Whose\b)|\b(?:that|those) of\b|\bof wh(?:ich|om)\b"
    r"|\b(?:is|are|was|were) none\b|\btells? of\b|\b(?:is|are) said\b|, for (?:it|they)\b|\bwith none\b",
    re.MULTILINE,
)
"""Sentences that read as translated: their noun is left out, or comes after what they say about it."""
GENERATED = ROOT / "docs" / "commands.md"
"""Its sentences come from the command line; they are checked where they are written."""
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
def test_no_sentence_of_a_page_reads_as_translated(page: Path) -> None:
    assert [text for text in sentences(page) if TRANSLATED.search(text) and page != GENERATED] == []


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
