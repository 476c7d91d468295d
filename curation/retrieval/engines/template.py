"""An engine's template: the requests to send, and the paths to values in the answers.

A template is YAML with placeholders, which are filled in for each request:

    values      placeholders that the template defines once, such as `index`
    key         the header that carries the key
    search      the request for a query; `hits`, `id` and `score` are paths in its answer
    documents   the request for documents by id; `source` is the path of a document's fields in a hit
    fields      the fields of title, body, url, date and group; other fields are found by their usual names
    random      the request for documents in a random order that a seed decides

A path consists of names and positions with dots between (`json_paths`). The texts of a request may have the
placeholders `{query}`, `{depth}`, `{ids}`, `{id}`, `{seed}` and the names of `values`. A placeholder that is
the whole text keeps the type of its value; within other words, the value becomes text. The paths and values
in `whole` show that an answer is complete, and the paths and values in `empty` that an answer has no hits.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple
from urllib.parse import quote, urlencode

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from curation.core.digests import canonical_json, digest
from curation.core.errors import InputError, refuse_problems

KINDS = ("opensearch", "solr", "vespa", "typesense", "http")
_PLACEHOLDER = re.compile(r"\{(\w+)\}")
_PLACEHOLDERS_OF = {
    "search": ("query", "depth"),
    "documents": ("ids", "id"),
    "random": ("seed", "depth"),
    "key": ("key",),
}
"""Section → placeholders that goldgrade fills in. The first placeholder of a section is required, but the
section documents needs only one of its placeholders.
"""
HeaderName = Annotated[str, Field(pattern="^[A-Za-z0-9-]+$")]
HeaderText = Annotated[str, Field(pattern="^[ -~]*$")]
_WAY_OUT = "docs/engines.md has an example of each kind."


class WebCall(NamedTuple):
    """A request to an engine as it is sent, without its address or key."""

    method: str
    path: str
    body: str | None


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class KeyHeader(_Section):
    """The HTTP header with the key. `value` has the placeholder `{key}`."""

    header: HeaderName
    value: HeaderText = "{key}"


class EngineRequest(_Section):
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
    """A request for documents by id; with `{id}`, one request is sent per document.

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


class DocumentFields(_Section):
    """The fields that hold a document's title, body, url, date and group; None means a field is found by its
    usual names.

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


class EngineTemplate(_Section):
    """An engine's template: values, key, fields, and the requests for lists and documents."""

    values: dict[str, Any] = {}
    headers: dict[HeaderName, HeaderText] = {}
    key: KeyHeader = KeyHeader(header="Authorization", value="Bearer {key}")
    search: EngineRequest
    documents: DocumentsRequest
    fields: DocumentFields = DocumentFields()
    random: EngineRequest | None = None

    @cached_property
    def as_json(self) -> str:
        """Return the template as canonical JSON."""
        return canonical_json(self.model_dump(mode="json"))

    @property
    def template_hash(self) -> str:
        """Return the hash that identifies the template in the ids of requests."""
        return digest("engine template", self.as_json)

    def make_call(self, request: EngineRequest, **values: Any) -> WebCall:
        """Make a request to an engine by filling in its template's placeholders.

        Parameters
        ----------
        values: placeholder → value, for the placeholders that goldgrade fills in.
        """
        separator = request.join if isinstance(request, DocumentsRequest) else ","
        all_values = {**self.values, **values}

        def quote_value(match: re.Match[str]) -> str:
            return quote(_to_text(all_values[match[1]], separator), safe="")

        path = _PLACEHOLDER.sub(quote_value, request.path)
        if request.params:
            params = _fill_placeholders(request.params, all_values, separator)
            path = f"{path}?{urlencode(params, doseq=True)}"
        body = _fill_placeholders(request.body, all_values, separator)
        is_text = body is None or isinstance(body, str)
        return WebCall(request.method, path, body if is_text else json.dumps(body))


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
        raise InputError(f"{kind!r} is not a kind of engine; expected one of {', '.join(KINDS)}.")
    try:
        sections = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path=path) from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise InputError(f"is not YAML: {' '.join(str(error).split())}", path=path) from None
    if sections is not None and not isinstance(sections, dict):
        raise InputError("is not a mapping; expected names such as values, search and fields", path=path)
    try:
        template = EngineTemplate.model_validate(_merge_sections(_read_shipped(kind), sections or {}))
    except ValidationError as error:
        problems = [f"{'.'.join(map(str, issue['loc']))}: {issue['msg'].lower()}" for issue in error.errors()]
        refuse_problems(problems, path=path, way_out=_WAY_OUT)
        raise
    refuse_problems(_find_placeholder_problems(template), path=path, way_out=_WAY_OUT)
    return template


def _read_shipped(kind: str) -> dict[str, Any]:
    """Read the sections of the shipped template of a kind; {} for the kind http, which has no template."""
    if kind == "http":
        return {}
    text = files(__package__).joinpath("kinds", f"{kind}.yaml").read_text("utf-8")
    return yaml.safe_load(text) or {}


def _merge_sections(shipped: Mapping[str, Any], sections: Mapping[str, Any]) -> dict[str, Any]:
    """Merge the sections of a file into the shipped sections; an entry replaces a shipped entry."""
    merged = {**shipped, **sections}
    for name, shipped_section in shipped.items():
        if isinstance(sections.get(name), dict):
            merged[name] = {**shipped_section, **sections[name]}
    return merged


def _find_placeholder_problems(template: EngineTemplate) -> list[str]:
    """List placeholders without a value, and required placeholders that are missing from a section."""
    problems = []
    for name, placeholders in _PLACEHOLDERS_OF.items():
        section = getattr(template, name)
        if section is None:
            continue
        texts = json.dumps([section.model_dump(include={"path", "params", "body", "value"})])
        used = set(_PLACEHOLDER.findall(texts))
        unknown = sorted(used - {*placeholders} - template.values.keys())
        problems += [
            f"{name}: {{{placeholder}}} has no value; give it under `values`" for placeholder in unknown
        ]
        required = placeholders if name == "documents" else placeholders[:1]
        if used.isdisjoint(required):
            problems.append(f"{name}: the placeholder {{{placeholders[0]}}} is missing")
    return problems


def _fill_placeholders(template: Any, values: Mapping[str, Any], separator: str) -> Any:
    """Fill in the placeholders in all texts of a JSON value."""
    if isinstance(template, dict):
        return {name: _fill_placeholders(inner, values, separator) for name, inner in template.items()}
    if isinstance(template, list):
        return [_fill_placeholders(inner, values, separator) for inner in template]
    if not isinstance(template, str):
        return template
    placeholder = _PLACEHOLDER.fullmatch(template)
    if placeholder:
        return values[placeholder[1]]
    return _PLACEHOLDER.sub(lambda match: _to_text(values[match[1]], separator), template)


def _to_text(value: Any, separator: str) -> str:
    return separator.join(value) if isinstance(value, list) else str(value)
