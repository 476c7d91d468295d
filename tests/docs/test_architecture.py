"""docs/architecture.md: its generated table is current, and names each room."""

from __future__ import annotations

import re

import pytest

from docs import make_architecture
from tests.support import ROOT

pytestmark = pytest.mark.slow

TEXT = make_architecture.TARGET.read_text(encoding="utf-8")


@pytest.mark.costly("a process that imports every room")
def test_the_table_is_what_make_docs_writes() -> None:
    assert make_architecture.page(TEXT) == TEXT, "run `make docs`"


def test_every_file_is_in_one_room() -> None:
    listed = [path for room in make_architecture.rooms() for path in make_architecture.files(room)]
    written = {path for folder in ("curation", "app", "goldgrade") for path in ROOT.glob(f"{folder}/**/*.py")}
    assert sorted(listed) == sorted(written - {ROOT / "curation/__init__.py"})


def test_the_table_has_each_room_with_its_docstring() -> None:
    table = make_architecture.table()
    assert re.findall(r"^\| `(\w+)` \| \w.+ \| .+ \|$", table, re.MULTILINE) == [
        room.removeprefix("curation.") for room in make_architecture.rooms()
    ]


def test_imports_that_others_imply_are_left_out() -> None:
    direct = make_architecture.direct_imports()
    assert "curation.store" not in direct["curation.evaluation"]
    assert "curation.core" in direct["curation.store"]


def test_the_page_has_4000_words_at_most() -> None:
    assert len(TEXT.split()) <= 4000


def test_a_page_that_lacks_a_part_is_refused() -> None:
    with pytest.raises(ValueError, match="rooms"):
        make_architecture.page(TEXT.replace("<!-- generated: rooms -->", ""))
