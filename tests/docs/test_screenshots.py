"""docs/screenshots: few pictures, all of them made by one command."""

from __future__ import annotations

from docs.make_screenshots import MOST, PICTURES
from tests.support import ROOT

FOLDER = ROOT / "docs" / "screenshots"


def test_the_repository_has_the_pictures_that_are_made_and_no_others() -> None:
    made = sorted(f"{picture.name}.png" for picture in PICTURES)
    assert sorted(path.name for path in FOLDER.iterdir()) == made, "run `make screenshots`, remove the others"
    assert len(made) <= MOST
