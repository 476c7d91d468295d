"""Forms in which tools write several judgments into one record, taken apart: a judgment a record.

Quepid's cases and books, `_rank_eval` of Elasticsearch and OpenSearch, the Search Relevance Workbench, RRE,
Label Studio, Argilla, Potato and Prodigy. A form is known by its keys. What the judgments of a record share
is its base; a reader of queries takes the base alone. A judgment without a grade is none: a skipped task, a
query that nobody rated.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

Fields = dict[str, Any]
Keys = Mapping[str, type | tuple[type, ...]]
Parts = Iterator[tuple[Fields, Fields]]
"""Base and judgment of each; a judgment is empty where the base has none."""
_QUERY_PARAMETERS = ("query_string", "query_text", "query", "user_query", "q", "text")
_GRADING = ("rating", "choices", "number")
_Answer = tuple[Any, str, Any, Any]
"""Who, question, value, and what became of it: submitted, or a draft or discarded, which are no answers."""
_RATINGS = (dict, list)


def flatten_tool_record(fields: Fields, judged: bool) -> Iterator[Fields]:
    """The records within one: with their judgments, or only what these are about, each once.

    Raises
    ------
    UnlikeFormError: a record has the keys of a form, and is not of it.
    """
    form = form_of(fields)
    try:
        parts = [(fields, {})] if form is None else list(form[1](fields))
    except (AttributeError, TypeError, KeyError, ValueError) as error:
        raise UnlikeFormError(form[0] if form else "") from error
    last = None
    for base, judgment in parts:
        if judged:
            yield base | judgment
        elif base != last:
            yield base
        last = base


class UnlikeFormError(Exception):
    """The message is whose form it is."""


def form_of(fields: Fields) -> tuple[str, Callable[[Fields], Parts]] | None:
    """Whose form a record has, and what takes it apart; None where it has none."""
    for name, keys, parts in _FORMS:
        is_known = keys(fields) if callable(keys) else all(_is_of(fields.get(key), keys[key]) for key in keys)
        if is_known:
            return name, parts
    return None


def _is_of(value: Any, kind: type | tuple[type, ...]) -> bool:
    """Whether a value is of a kind; a list has objects alone."""
    return isinstance(value, kind) and (
        not isinstance(value, list) or all(isinstance(one, dict) for one in value)
    )


def _without(fields: Fields, *names: str) -> Fields:
    return {name: value for name, value in fields.items() if name not in names}


def _rated(fields: Fields) -> Parts:
    """`ratings`: document → grade, or a list of documents with a `rating` each."""
    base, ratings = _without(fields, "ratings"), fields["ratings"]
    if "id" in base and base.keys() & {"request", "params", "template_id"}:
        base["query_id"] = base.pop("id")
    text = _parameter(base.get("params") or {})
    if isinstance(text, str):
        base["query_text"] = text
    if isinstance(ratings, dict):
        judgments = [{"document": name, "grade": grade} for name, grade in ratings.items()]
    else:
        judgments = [{"document": _document(rating), "grade": rating.get("rating")} for rating in ratings]
    yield from ((base, judgment) for judgment in judgments or [{}])


def _parameter(params: Fields) -> Any:
    """The query among the parameters of a template: by a usual name, or the only one."""
    only = list(params.values()) if len(params) == 1 else [None]
    return next((params[name] for name in _QUERY_PARAMETERS if name in params), only[0])


def _document(rating: Fields) -> Any:
    return next((rating[name] for name in ("_id", "docId", "doc_id") if name in rating), None)


def _book_pair(fields: Fields) -> Parts:
    base = _without(fields, "judgements")
    for one in fields["judgements"] or [{}]:
        grade = "cannot tell" if one.get("unrateable") else one.get("rating")
        yield base, {"grade": grade, "annotator": one.get("user_email"), "note": one.get("explanation")}


def _rre(fields: Fields, placeholder: str = "$query") -> Parts:
    """Groups of queries with documents in common; a query's text is what it puts into its template."""
    placeholder = fields.get("query_placeholder", placeholder)
    for group in (*fields.get("topics", ()), *fields.get("query_groups", ())):
        yield from _rre(group, placeholder)
    for query in fields.get("queries", ()):
        texts = query.get("placeholders", {})
        only = next(iter(texts.values())) if len(texts) == 1 else ""
        base = {"query_text": texts.get(placeholder, only)}
        relevant = query.get("relevant_documents") or fields.get("relevant_documents") or {}
        yield from ((base, judgment) for judgment in list(_gains(relevant)) or [{}])


def _gains(relevant: Mapping[str, Any]) -> Iterator[Fields]:
    """Document → `{"gain": 3}`, or gain → documents."""
    for name, value in relevant.items():
        if isinstance(value, dict):
            yield {"document": name, "grade": value.get("gain")}
        else:
            yield from ({"document": document, "grade": name} for document in value)


def _label_studio(fields: Fields) -> Parts:
    for one in fields["annotations"] or [{}]:
        results = () if one.get("was_cancelled") else one.get("result", ())
        values = {result.get("from_name"): _result(result) for result in results}
        graded = [result["from_name"] for result in results if result.get("type") in _GRADING]
        who = one.get("completed_by")
        judgment = {"annotator": who.get("email", who.get("id")) if isinstance(who, dict) else who}
        judgment |= {"submitted_at": one.get("updated_at") or one.get("created_at")}
        yield fields["data"], judgment | _said(values, graded)


def _result(result: Fields) -> Any:
    value = result.get("value", {})
    return value.get(result.get("type"), value.get("text"))


def _said(values: Mapping[str, Any], graded: Sequence[str]) -> Fields:
    """The answers by the names of their questions; that of the only one with grades is the grade."""
    return {**values, "grade": values[graded[0]]} if len(graded) == 1 else dict(values)


def _argilla(fields: Fields) -> Parts:
    """`responses`: question → a list of `value` and `user_id`."""
    base = {**(fields.get("metadata") or {}), **fields["fields"]}
    yield from _of_people(
        base,
        (
            (one.get("user_id"), question, one.get("value"), one.get("status"))
            for question, responses in fields["responses"].items()
            for one in responses
        ),
    )


def _argilla_1(fields: Fields) -> Parts:
    """`responses`: a list of `user_id`, `status` and `values`, question → an object with the value."""
    base = {**(fields.get("metadata") or {}), **fields["fields"]}
    responses = fields["responses"]
    for response in responses or [{}]:
        values = {
            question: answer.get("value") for question, answer in (response.get("values") or {}).items()
        }
        time = {"submitted_at": response.get("updated_at") or response.get("inserted_at")} if values else {}
        for shared, judgment in _of_people(
            base,
            (
                (response.get("user_id"), name, value, response.get("status"))
                for name, value in values.items()
            ),
        ):
            yield shared, judgment | time


_RESPONSES, _USERS, _STATUS = ".responses", ".responses.users", ".responses.status"


def _questions(fields: Fields) -> list[str]:
    """The questions of a flattened record of Argilla: each has lists of values and of users."""
    return [
        name.removesuffix(_RESPONSES)
        for name in fields
        if name.endswith(_RESPONSES) and f"{name.removesuffix(_RESPONSES)}{_USERS}" in fields
    ]


def _flat_argilla(fields: Fields) -> Parts:
    """Fields and metadata side by side, and a question's answers as lists: of values, users and status."""
    questions = _questions(fields)
    parts = tuple(f"{question}." for question in questions)
    base = {name: value for name, value in fields.items() if not name.startswith(parts)}
    said: list[_Answer] = []
    for question in questions:
        values = fields[f"{question}{_RESPONSES}"] or []
        users = fields[f"{question}{_USERS}"] or []
        status = fields.get(f"{question}{_STATUS}") or [None] * len(values)
        rows = zip(users, values, status, strict=True)
        said += [(who, question, value, state) for who, value, state in rows]
    yield from _of_people(_without(base, "id", "status", "_server_id"), said)


def _argilla_columns(fields: Fields) -> list[str]:
    """The questions of a row of a dataset that Argilla 1 wrote: lists of `user_id`, `value` and `status`."""
    return [
        name
        for name, value in fields.items()
        if f"{name}-suggestion" in fields
        and isinstance(value, list)
        and all(isinstance(one, dict) and "user_id" in one and "value" in one for one in value)
    ]


def _argilla_dataset(fields: Fields) -> Parts:
    questions = _argilla_columns(fields)
    metadata = fields.get("metadata")
    known = json.loads(metadata) if isinstance(metadata, str) and metadata else metadata or {}
    parts = tuple(f"{question}-suggestion" for question in questions)
    others = _without(fields, "metadata", "external_id", *questions)
    base = {name: value for name, value in others.items() if not name.startswith(parts)}
    yield from _of_people(
        {**known, **base},
        (
            (answer["user_id"], question, answer["value"], answer.get("status"))
            for question in questions
            for answer in fields[question]
        ),
    )


def _of_people(base: Fields, said: Iterable[_Answer]) -> Parts:
    """The answers of each person as one judgment."""
    answers: dict[Any, Fields] = {}
    for who, question, value, status in said:
        submitted = status is None or str(status).rpartition(".")[2].casefold() in ("submitted", "completed")
        answers.setdefault(who, {})[question] = value if submitted else None
    for who, values in (answers or {None: {}}).items():
        yield base, {"annotator": who, **_said(values, list(values))}


def _potato(fields: Fields) -> Parts:
    """Question → label → value; a scale has one label, `scale_3`, with the value."""
    values = {}
    answers = fields["labels"] if "labels" in fields else fields["label_annotations"]
    for question, labels in answers.items():
        chosen = labels.items() if isinstance(labels, dict) else [(labels, labels)]
        said = [value if str(label).startswith("scale_") else label for label, value in chosen]
        values[question] = said[0] if len(said) == 1 else said
    base = _without(fields, "labels", "label_annotations", "user_id", "user", "spans", "links")
    yield base, {"annotator": fields.get("user_id", fields.get("user")), **_said(values, list(values))}


def _prodigy(fields: Fields) -> Parts:
    """A choice is `accept`, a list; else `label` is what `answer` accepts, which stays for the reader."""
    chosen = fields.get("accept", fields.get("label"))
    who = fields.get("_annotator_id") or fields.get("_session_id")
    judgment = {"annotator": who, "submitted_at": fields.get("_timestamp")}
    if chosen is not None:
        judgment["grade"] = chosen
    yield _without(fields, "accept", "label", "options"), judgment


_FORMS: tuple[tuple[str, Keys | Callable[[Fields], Any], Callable[[Fields], Parts]], ...] = (
    ("Quepid", {"query_text": str, "ratings": _RATINGS}, _rated),
    ("Quepid, or of the Search Relevance Workbench,", {"query": str, "ratings": _RATINGS}, _rated),
    ("_rank_eval", {"id": str, "ratings": list}, _rated),
    ("a book of Quepid", {"query_text": str, "judgements": list}, _book_pair),
    ("RRE", {"id_field": str, "topics": list}, _rre),
    ("RRE", {"id_field": str, "query_groups": list}, _rre),
    ("RRE", {"id_field": str, "queries": list}, _rre),
    ("Label Studio", {"data": dict, "annotations": list}, _label_studio),
    ("Argilla", {"fields": dict, "responses": dict}, _argilla),
    ("Argilla 1", {"fields": dict, "responses": list}, _argilla_1),
    ("Argilla", _questions, _flat_argilla),
    ("Argilla 1", _argilla_columns, _argilla_dataset),
    *(
        ("Potato", {"instance_id": str, who: str, labels: dict}, _potato)
        for who in ("user_id", "user")
        for labels in ("labels", "label_annotations")
    ),
    ("Prodigy", {"answer": str, "_task_hash": int}, _prodigy),
    ("Prodigy", {"answer": str, "_annotator_id": str}, _prodigy),
)
"""Whose form it is; keys of its records and kinds of their values, or what else they are known by; and how it
is taken apart."""
