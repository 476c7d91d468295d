"""What all tests of files share: files that were once read wrongly, and imports that must be refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from curation.core.errors import InputError
from curation.store import Store
from tests.support import ROOT
from tests.support.projects import all_rows


@pytest.fixture(scope="session")
def cases() -> Path:
    folder = ROOT.parent / "shared" / "cases"
    if not folder.is_dir():
        pytest.skip("the shared folder of cases is not beside this checkout")
    return folder


@pytest.fixture
def refused(store: Store) -> Callable[..., InputError]:
    """refused(import_corpus, path, fields): the error of an import that changes nothing in the project."""

    def call(act: Callable[..., object], *arguments: Any, **options: Any) -> InputError:
        before = all_rows(store)
        with pytest.raises(InputError) as error:
            act(store, *arguments, **options)
        assert all_rows(store) == before
        return error.value

    return call
