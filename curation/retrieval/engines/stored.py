"""The engines of a project: a name, and each template that it has had. The newest one counts."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from curation.core.errors import InputError, find_named
from curation.people.annotators import require_author
from curation.retrieval.engines.client import Engine
from curation.retrieval.engines.template import EngineTemplate, read_template
from curation.store import COMMAND_LINE, Cursor, Store, record_event, utc_now

_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
_LAST = """
SELECT coalesce(max(revision) + 1, 0), coalesce(arg_max(kind || template, revision), '')
FROM engines WHERE name = ?
"""


class EngineAdded(NamedTuple):
    """An engine as it is now; `is_new` is False where it had this template before."""

    name: str
    kind: str
    template_hash: str
    is_new: bool


def add_engine(store: Store, name: str, kind: str, path: Path, author: str = COMMAND_LINE) -> EngineAdded:
    """Store an engine, or another template of one. Nothing is sent.

    Raises
    ------
    InputError: the name, the kind or the file cannot be used.
    NotFoundError, RefusedError: the author is no lead.
    """
    if not _NAME.fullmatch(name):
        raise InputError(
            f"{name!r} cannot name an engine: its address is the variable GOLDGRADE_ENGINE_NAME_URL.",
            way_out="Use lower-case letters, digits and underscores, such as shop.",
        )
    template = read_template(kind, path)
    with store.transaction() as cursor:
        require_author(cursor, author, "lead")
        revision, last = cursor.execute(_LAST, [name]).fetchall()[0]
        is_new = last != (kind + template.written)
        if is_new:
            row = [name, revision, kind, template.written, author, utc_now()]
            cursor.execute("INSERT INTO engines VALUES (?, ?, ?, ?, ?, ?)", row)
            detail = {"engine": name, "kind": kind, "template": template.template_hash}
            record_event(cursor, "add engine", detail, author)
    return EngineAdded(name, kind, template.template_hash, is_new)


def stored_engines(cursor: Cursor) -> list[Engine]:
    """The engines of the project, by name."""
    rows = cursor.execute(
        "SELECT name, kind, template FROM engines "
        "QUALIFY row_number() OVER (PARTITION BY name ORDER BY revision DESC) = 1 ORDER BY name"
    ).fetchall()
    return [Engine(name, kind, EngineTemplate.model_validate(json.loads(text))) for name, kind, text in rows]


def find_engine(cursor: Cursor, name: str) -> Engine:
    """The engine of that name.

    Raises
    ------
    NotFoundError: there is none.
    """
    command = f"`goldgrade engine add {name} --kind KIND FILE.yaml` adds one."
    return find_named(stored_engines(cursor), name, "engine", command=command)


def engines_of_runs(cursor: Cursor, names: Sequence[str]) -> list[str]:
    """The engines whose lists are the runs of these names, in the order of the names."""
    sql = "SELECT name, engine FROM engine_runs JOIN runs USING (run_id)"
    found = dict(cursor.execute(sql).fetchall())
    return [found[name] for name in names if name in found]
