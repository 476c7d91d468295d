"""goldset in Python: do the steps of a project, read its releases, and evaluate systems on them.

    import goldset

    project = goldset.open("data/shop.duckdb")
    project.sample(60, seed=7)
    project.pool(["bm25"], depth=10)

    release = goldset.release("v1")
    release.qrels("dev")                                     # {"q1": {"d7": 3, "d9": 0}, …}
    release.evaluate({"mine": {"q1": {"d7": 12.5}}})         # figures with their intervals

A method does what the command of its name does, by the same function, and returns the record that this
returns. Paths are texts or `Path`s. An error is a `CurationError`, which this package calls `Error`; its text
says what to do. Grades of sealed parts leave only with a reason, which is logged. What a method needs is
imported when it is called.
"""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from curation.core.errors import CurationError as Error
    from goldset.projects import Project
    from goldset.releases import Release

__all__ = ["Error", "Project", "Release", "create", "open", "release"]
_LATER = {"Error": "curation.core.errors:CurationError", "Project": "goldset.projects:Project"}
_LATER["Release"] = "goldset.releases:Release"


def create(path: str | Path, guide: str | Path | None = None) -> Project:
    """Make a project with a guide: a file, or one of goldset's by name, such as "binary"."""
    from curation.operations.project import init_project
    from goldset.projects import Project

    return Project(init_project(Path(path), None if guide is None else Path(guide)).store)


def open(path: str | Path | None = None) -> Project:
    """The project in a file; by default that of $GOLDSET_PROJECT, else data/goldset.duckdb."""
    from curation.store import open_store
    from goldset.projects import Project

    return Project(open_store(_path(path)))


def release(name: str | Path, project: str | Path | None = None) -> Release:
    """A release by its name or id in a project, which `open` says, or a packed one by its file.

    A packed release needs no project.
    """
    from curation.store import store_at
    from goldset.releases import Release

    return Release(store_at(_path(project)), str(name))


def _path(given: str | Path | None) -> Path:
    return Path(given or os.environ.get("GOLDSET_PROJECT") or "data/goldset.duckdb")


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, _, inside = _LATER[name].partition(":")
    return getattr(import_module(module), inside)
