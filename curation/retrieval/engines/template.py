"""The engines of a project, and their templates: the requests to send, and the paths of values in the
answers.

A template is YAML with placeholders, which are filled in for each request. An engine keeps all its templates,
and the newest template counts.

    values      placeholders that the template's file defines once, such as `index` key         the header
    that carries the key, and how search      the request for a query; `hits`, `id` and `score` are paths in
    its answer documents   the request for documents by id; `source` is the path of a document's fields in a
    hit fields      which of these are title, body, url, date and group; others are found by their usual names
    random      the request for documents in a random order that a seed decides

A path consists of names and numbers with dots between. In texts `{query}`, `{depth}`, `{ids}`, `{id}`,
`{seed}` and the names of `values` are filled in. A placeholder that is the whole text keeps the type of its
value; within other words it becomes text. `whole` has paths and values that show that an answer is complete.
`empty` has paths and values that show that an answer has no hits.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple
from urllib.parse import quote, urlencode

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from curation.core.digests import canonical_json, digest
from curation.core.errors import InputError, find_named, refuse_problems
from curation.ingest.readers.values import to_text
from curation.people.annotators import require_author
from curation.store import COMMAND_LINE, Cursor, Store, record_event, utc_now

KINDS = ("opensearch", "solr", "vespa", "typesense", "http")
MISSING = object()  # result of reading a path that the JSON value does not have
_PLACE = re.compile(r"\{(\w+)\}")
_OFFERED = {
    "search": ("query", "depth"),
    "documents": ("ids", "id"),
    "random": ("seed", "depth"),
    "key": ("key",),
}
"""Section → placeholders that the program fills in. The first placeholder of a section is required; the
section documents needs either placeholder.
"""
_SHOWN = 12
HeaderName = Annotated[str, Field(pattern="^[A-Za-z0-9-]+$")]
HeaderText = Annotated[str, Field(pattern="^[ -~]*$")]
_WAY_OUT = "docs/engines.md has an example of each kind."
_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
_LAST = """
SELECT coalesce(max(revision) + 1, 0), coalesce(arg_max(kind || template, revision), '')
FROM engines WHERE name = ?
"""


class WebCall(NamedTuple):
    """A request to an engine as it is sent, without address and key."""

    method: str
    path: str
    body: str | None


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class KeyHeader(_Part):
    """The HTTP header with the key. `value` has the placeholder `{key}`."""

    header: HeaderName
    value: HeaderText = "{key}"


class EngineRequest(_Part):
    """A request whose answer has hits, each with an id."""

    method: Literal["GET", "POST"] = "GET"
    path: str = Field(pattern="^/[!-~]*$")
    params: dict[str, Any] = {}
    body: Any = None
    hits: str = ""
    id: str = ""
    score: str | None = None
    whole: dict[str, Any] = {}
    empty: dict[str, Any] = {}


class DocumentsRequest(EngineRequest):
    """A request for documents by id. With `{id}`, one request is sent for each document and answered by the
    document.

    Attributes
    ----------
    failed: path that a hit has if the engine could not read a document that may exist.
    join: separator of ids that are filled in within other words.
    batch: largest number of ids in a request.
    """

    source: str = ""
    failed: str = ""
    join: str = ","
    batch: int = Field(1, ge=1, le=1000)


class DocumentFields(_Part):
    """Fields of a document with its title, body, url, date and group; None finds a field by its usual names.

    Fields in `leave_out` are not stored.
    """

    title: str | None = None
    body: tuple[str, ...] = ()
    url: str | None = None
    date: str | None = None
    group: str | None = None
    valid_from: str | None = None
    valid_to: str | None = None
    leave_out: tuple[str, ...] = ()


class EngineTemplate(_Part):
    """The template of an engine: values, key, fields, and the requests for lists and documents."""

    values: dict[str, Any] = {}
    headers: dict[HeaderName, HeaderText] = {}
    key: KeyHeader = KeyHeader(header="Authorization", value="Bearer {key}")
    search: EngineRequest
    documents: DocumentsRequest
    fields: DocumentFields = DocumentFields()
    random: EngineRequest | None = None

    @cached_property
    def written(self) -> str:
        """The template as canonical JSON."""
        return canonical_json(self.model_dump(mode="json"))

    @property
    def template_hash(self) -> str:
        return digest("engine template", self.written)

    def call(self, request: EngineRequest, **values: Any) -> WebCall:
        """Fill in the placeholders of a request."""
        join = request.join if isinstance(request, DocumentsRequest) else ","
        given = {**self.values, **values}
        params = {name: _filled(value, given, join) for name, value in request.params.items()}
        path = _PLACE.sub(lambda match: quote(_text(given[match[1]], join), safe=""), request.path)
        body = None if request.body is None else _filled(request.body, given, join)
        written = None if body is None else body if isinstance(body, str) else json.dumps(body)
        return WebCall(request.method, f"{path}?{urlencode(params, doseq=True)}" if params else path, written)


class Engine(NamedTuple):
    """An engine with its name, kind and template."""

    name: str
    kind: str
    template: EngineTemplate


def read_template(kind: str, path: Path) -> EngineTemplate:
    """Read an engine's template from a file, which overrides parts of the shipped template of the kind.

    Raises
    ------
    InputError: the kind of engine is unknown, or the file cannot be read, is not YAML, or lacks a value.
    """
    if kind not in KINDS:
        raise InputError(f"{kind!r} is no kind of engine; expected one of {', '.join(KINDS)}.")
    try:
        given = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path=path) from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise InputError(f"is not YAML: {' '.join(str(error).split())}", path=path) from None
    if given is not None and not isinstance(given, dict):
        raise InputError("is no mapping; expected names such as values, search and fields", path=path)
    base = "" if kind == "http" else files(__package__).joinpath("kinds", f"{kind}.yaml").read_text("utf-8")
    merged = _merged(yaml.safe_load(base) or {}, given or {})
    try:
        engine_template = EngineTemplate.model_validate(merged)
    except ValidationError as error:
        problems = [f"{'.'.join(map(str, issue['loc']))}: {issue['msg'].lower()}" for issue in error.errors()]
        refuse_problems(problems, path=path, way_out=_WAY_OUT)
        raise
    refuse_problems(_wrong_places(engine_template), path=path, way_out=_WAY_OUT)
    return engine_template


def value_at(value: Any, path: str) -> Any:
    """Read the value at a path, or return `MISSING` if the path does not exist."""
    for name in path.split(".") if path else ():
        if isinstance(value, dict) and name in value:
            value = value[name]
        elif isinstance(value, list) and name.isdecimal() and int(name) < len(value):
            value = value[int(name)]
        else:
            return MISSING
    return value


def require_at(value: Any, path: str, where: str) -> Any:
    """Read the value at a path that must exist.

    Raises
    ------
    InputError: the path does not exist; the error lists the existing paths.
    """
    value_there = value_at(value, path)
    if value_there is MISSING:
        raise InputError(f"{where} has no {path!r}. Found: {', '.join(paths_in(value)) or 'nothing'}.")
    return value_there


def paths_in(value: Any, before: str = "") -> Sequence[str]:
    """List the first paths in an object, two levels deep."""
    paths: list[str] = []
    for name, inner in value.items() if isinstance(value, dict) else ():
        path = f"{before}{name}"
        paths += paths_in(inner, f"{path}.") if isinstance(inner, dict) and inner and not before else [path]
    return paths if len(paths) <= _SHOWN else [*paths[:_SHOWN], "…"]


def differing(answer: Any, expected: Mapping[str, Any]) -> str:
    """Describe the first value that differs from the expected one as `path is value`; '' if none differs."""
    for path, value in expected.items():
        value_there = value_at(answer, path)
        if value_there is not MISSING and value_there != value:
            return f"{path} is {to_text(value_there)[:60]}"
    return ""


def add_engine(
    store: Store, name: str, kind: str, path: Path, author: str = COMMAND_LINE
) -> tuple[Engine, bool]:
    """Store an engine or its new template, and tell whether the engine or the template is new. Nothing is
    sent.

    Raises
    ------
    InputError: the name, the kind or the file cannot be used.
    NotFoundError, RefusedError: the author is no lead.
    """
    if not _NAME.fullmatch(name):
        raise InputError(
            f"{name!r} cannot name an engine: the name is a part of the variable GOLDGRADE_ENGINE_NAME_URL.",
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
    return Engine(name, kind, template), is_new


def stored_engines(cursor: Cursor) -> list[Engine]:
    """Read the engines of the project, by name."""
    rows = cursor.execute(
        "SELECT name, kind, template FROM engines "
        "QUALIFY row_number() OVER (PARTITION BY name ORDER BY revision DESC) = 1 ORDER BY name"
    ).fetchall()
    return [Engine(name, kind, EngineTemplate.model_validate(json.loads(text))) for name, kind, text in rows]


def find_engine(cursor: Cursor, name: str) -> Engine:
    """Find the engine with a name.

    Raises
    ------
    NotFoundError: the project has no engine of this name.
    """
    command = f"`goldgrade import engine {name} FILE.yaml --kind KIND` adds an engine."
    return find_named(stored_engines(cursor), name, "engine", command=command)


def engines_of_runs(cursor: Cursor, names: Sequence[str]) -> list[str]:
    """List the engines whose lists are the runs of these names, in the order of the names."""
    sql = "SELECT name, engine FROM engine_runs JOIN runs USING (run_id)"
    engines = dict(cursor.execute(sql).fetchall())
    return [engines[name] for name in names if name in engines]


def _merged(shipped: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Merge the given sections into the shipped sections; a given entry replaces the whole shipped entry."""
    sections = [name for name in shipped if isinstance(given.get(name), dict)]
    return {**shipped, **given, **{name: {**shipped[name], **given[name]} for name in sections}}


def _wrong_places(template: EngineTemplate) -> list[str]:
    """List placeholders without a value, and required placeholders that a section lacks."""
    problems = []
    for section, offered in _OFFERED.items():
        part = getattr(template, section)
        if part is None:
            continue
        texts = json.dumps([part.model_dump(include={"path", "params", "body", "value"})])
        names = set(_PLACE.findall(texts))
        unknown = sorted(names - {*offered} - template.values.keys())
        problems += [f"{section}: {{{name}}} has no value; give it under `values`" for name in unknown]
        if not names.intersection(offered if section == "documents" else offered[:1]):
            problems.append(f"{section}: the placeholder {{{offered[0]}}} is missing")
    return problems


def _filled(value: Any, given: Mapping[str, Any], join: str) -> Any:
    if isinstance(value, dict):
        return {name: _filled(inner, given, join) for name, inner in value.items()}
    if isinstance(value, list):
        return [_filled(inner, given, join) for inner in value]
    if not isinstance(value, str):
        return value
    alone = _PLACE.fullmatch(value)
    return given[alone[1]] if alone else _PLACE.sub(lambda match: _text(given[match[1]], join), value)


def _text(value: Any, join: str) -> str:
    return join.join(value) if isinstance(value, list) else str(value)
