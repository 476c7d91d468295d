"""docs/architecture.md: its generated parts are current, and the modules that it names exist."""

from __future__ import annotations

import pytest

from docs import make_architecture
from tests.support import ROOT

TEXT = make_architecture.TARGET.read_text(encoding="utf-8")


def test_the_drawing_and_the_tables_are_what_make_docs_writes() -> None:
    assert make_architecture.page(TEXT) == TEXT, "run `make docs`"


def test_every_file_is_in_one_table() -> None:
    listed = [path for room in make_architecture.rooms() for path in make_architecture.files(room)]
    packages = {ROOT / "curation/__init__.py"}
    assert sorted(listed) == sorted({*ROOT.glob("curation/**/*.py"), *ROOT.glob("app/**/*.py")} - packages)


def test_no_module_is_without_a_docstring() -> None:
    assert "|  |" not in TEXT


def test_a_page_that_lacks_a_room_is_refused() -> None:
    with pytest.raises(ValueError, match=r"curation\.store"):
        make_architecture.page(TEXT.replace("<!-- generated: curation.store -->", ""))
