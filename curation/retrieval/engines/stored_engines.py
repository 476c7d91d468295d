"""A project's engines, stored with their templates.

The project keeps all templates of an engine, and the newest template counts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path

from curation.core.errors import InputError, find_named
from curation.people.annotators import require_author
from curation.retrieval.engines.template import Engine, EngineTemplate, read_template
from curation.store import COMMAND_LINE, Cursor, Store, record_event, utc_now

_ENGINE_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
_LAST_TEMPLATE = """
SELECT coalesce(max(revision) + 1, 0), coalesce(arg_max(kind || template, revision), '')
FROM engines WHERE name = ?
"""


def add_engine(
    store: Store, name: str, kind: str, path: Path, author: str = COMMAND_LINE
) -> tuple[Engine, bool]:
    """Store an engine or its new template, without sending a request.

    Returns
    -------
    The engine, and whether the engine or its template is new.

    Raises
    ------
    InputError: the name, the kind or the file cannot be used.
    NotFoundError, RefusedError: the author is not a lead.
    """
    if not _ENGINE_NAME.fullmatch(name):
        raise InputError(
            f"{name!r} cannot name an engine, because the name becomes part of the variable "
            "GOLDGRADE_ENGINE_NAME_URL.",
            way_out="Use lower-case letters, digits and underscores, such as shop.",
        )
    template = read_template(kind, path)
    with store.transaction() as cursor:
        require_author(cursor, author, "lead")
        revision, last_template = cursor.execute(_LAST_TEMPLATE, [name]).fetchall()[0]
        is_new = last_template != kind + template.as_json
        if is_new:
            values = [name, revision, kind, template.as_json, author, utc_now()]
            cursor.execute("INSERT INTO engines VALUES (?, ?, ?, ?, ?, ?)", values)
            detail = {"engine": name, "kind": kind, "template": template.template_hash}
            record_event(cursor, "add engine", detail, author)
    return Engine(name, kind, template), is_new


def read_engines(cursor: Cursor) -> list[Engine]:
    """Read the project's engines, by name."""
    rows = cursor.execute(
        "SELECT name, kind, template FROM engines "
        "QUALIFY row_number() OVER (PARTITION BY name ORDER BY revision DESC) = 1 ORDER BY name"
    ).fetchall()
    return [Engine(name, kind, EngineTemplate.model_validate(json.loads(text))) for name, kind, text in rows]


def find_engine(cursor: Cursor, name: str) -> Engine:
    """Find the engine with this name.

    Raises
    ------
    NotFoundError: the project has no engine of this name.
    """
    command = f"`goldgrade import engine {name} FILE.yaml --kind KIND` adds an engine."
    return find_named(read_engines(cursor), name, "engine", command=command)


def find_run_engines(cursor: Cursor, names: Iterable[str]) -> dict[str, str]:
    """Find the engines of the runs with these names, in the order of the names; other runs are left out."""
    sql = "SELECT name, engine FROM engine_runs JOIN runs USING (run_id)"
    engines = dict(cursor.execute(sql).fetchall())
    return {name: engines[name] for name in names if name in engines}
