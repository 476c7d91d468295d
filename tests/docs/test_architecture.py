"""docs/architecture.md: its generated parts are current, and each room has a section."""

from __future__ import annotations

import re

import pytest

from docs import make_architecture
from tests.support import ROOT

TEXT = make_architecture.TARGET.read_text(encoding="utf-8")


def test_the_drawing_and_the_table_are_what_make_docs_writes() -> None:
    assert make_architecture.page(TEXT) == TEXT, "run `make docs`"


def test_every_file_is_in_one_room() -> None:
    listed = [path for room in make_architecture.rooms() for path in make_architecture.files(room)]
    packages = {ROOT / "curation/__init__.py"}
    assert sorted(listed) == sorted({*ROOT.glob("curation/**/*.py"), *ROOT.glob("app/**/*.py")} - packages)


def test_every_room_that_is_a_folder_has_a_section() -> None:
    folders = {path.parent.name for path in ROOT.glob("curation/*/__init__.py")} - {"cli"}
    assert folders <= set(re.findall(r"^### (\w+)$", TEXT, re.MULTILINE))


def test_a_page_that_lacks_a_part_is_refused() -> None:
    with pytest.raises(ValueError, match="rooms"):
        make_architecture.page(TEXT.replace("<!-- generated: rooms -->", ""))
