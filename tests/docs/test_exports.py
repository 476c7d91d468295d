"""docs/exports.md lists every export format, as its record says."""

from __future__ import annotations

import re

from curation.releases.export.formats import FORMATS
from tests.support import ROOT


def test_the_page_lists_the_formats_of_the_registry() -> None:
    text = (ROOT / "docs" / "exports.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `([\w-]+)` \| (.+) \|$", text, re.MULTILINE)
    assert listed == [(one.name, one.readers) for one in FORMATS.values()]
