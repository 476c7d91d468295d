"""A guide is a text that people read; a file of another size is no guide."""

from __future__ import annotations

from pathlib import Path

import pytest

from curation.core.errors import InputError
from curation.guides.parse_guide import MOST_BYTES, read_guide


def test_a_file_that_nobody_could_read_is_no_guide(tmp_path: Path) -> None:
    path = tmp_path / "guide.md"
    path.write_bytes(b"a" * (MOST_BYTES + 1))
    with pytest.raises(InputError, match=r"is larger than 2 MB; expected a guide that people can read"):
        read_guide(path)
