"""docs/screenshots: few pictures, all of them made by one command; the scripts of docs/ import."""

from __future__ import annotations

import importlib

import pytest

from docs.make_screenshots import MOST, PICTURES
from tests.support import ROOT

NEEDS_MKDOCS = "site_hooks"
FOLDER = ROOT / "docs" / "screenshots"


@pytest.mark.slow
def test_the_repository_has_the_pictures_that_are_made_and_no_others() -> None:
    made = sorted(f"{picture.name}.png" for picture in PICTURES)
    assert sorted(path.name for path in FOLDER.iterdir()) == made, "run `make screenshots`, remove the others"
    assert len(made) <= MOST


@pytest.mark.parametrize("script", sorted(path.stem for path in (ROOT / "docs").glob("*.py")))
def test_each_script_of_the_docs_names_what_is_there(script: str) -> None:
    if script != NEEDS_MKDOCS:
        importlib.import_module(f"docs.{script}")
