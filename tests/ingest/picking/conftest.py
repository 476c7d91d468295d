"""What the tests of imports share: a project with a lead, and requests for files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from curation.ingest.preview import preview_file
from curation.ingest.requests import ImportRequest, make_request, set_columns
from curation.store import Store
from tests.support.projects import add_names, add_pairs, built_once

Request = Callable[..., ImportRequest]


@built_once
def project(store: Store) -> Store:
    """Two queries with two documents each, a lead and three annotators."""
    add_pairs(store, {"tea": ["d1", "d2"], "green tea": ["d3", "d4"]})
    add_names(store, "lee", role="lead")
    add_names(store, "ann", "ben", "cid")
    return store


@pytest.fixture
def request_for(tmp_path: Path) -> Request:
    """request_for("corpus", "pages.csv", text): a request with the fields that are recognised."""

    def make(what: str, name: str, content: str | bytes, options: Mapping[str, Any] = {}) -> ImportRequest:
        path = tmp_path / "secret-folder" / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        asked = make_request(what, path, **options)
        return set_columns(asked, preview_file(asked).fields)

    return make
