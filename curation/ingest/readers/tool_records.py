"""Records with several judgments, as written by annotation tools and search-relevance tools.

The tools are Quepid with its cases and books, `_rank_eval` of Elasticsearch and OpenSearch, the Search
Relevance Workbench, Label Studio, Argilla and Prodigy. A record with several judgments is divided into one
record for each judgment; the keys of the record show the format. An import of queries gets only the values
that all judgments in a record share. Judgments without a grade, such as skipped tasks, are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

Fields = dict[str, Any]
Keys = Mapping[str, type | tuple[type, ...]]
Parts = Iterator[tuple[Fields, Fields]]
"""Values that the judgments of a record share, and one judgment, or {} without judgments."""
_QUERY_PARAMETERS = ("query_string", "query_text", "query", "user_query", "q", "text")
_GRADING = ("rating", "choices", "number")
_Answer = tuple[Any, str, Any, Any]
"""Annotator, question, value, and status of an answer; drafts and discarded values do not count as answers.
"""
_RATINGS = (dict, list)
_RESPONSES, _USERS, _STATUS = ".responses", ".responses.users", ".responses.status"


def flatten_tool_record(fields: Fields, judged: bool) -> Iterator[Fields]:
    """Yield the records inside a tool's record: each judgment with the shared values, or only the shared
    values.

    Raises
    ------
    UnlikeFormatError: a record has the keys of a tool's format, but another structure.
    """
    tool_format = find_tool_format(fields)
    try:
        judgments = [(fields, {})] if tool_format is None else list(tool_format[1](fields))
    except (AttributeError, TypeError, KeyError, ValueError) as error:
        raise UnlikeFormatError(tool_format[0] if tool_format else "") from error
    last_base = None
    for base, judgment in judgments:
        if judged:
            yield base | judgment
        elif base != last_base:
            yield base
        last_base = base


class UnlikeFormatError(Exception):
    """Error: a record has the keys of a tool's format, but another structure; the message names the tool."""


def find_tool_format(fields: Fields) -> tuple[str, Callable[[Fields], Parts]] | None:
    """Return the tool that wrote a record, and the function that divides its records; None for a record of no
    known tool."""
    for name, keys, parts in _TOOL_FORMATS:
        is_known = keys(fields) if callable(keys) else all(_is_of(fields.get(key), keys[key]) for key in keys)
        if is_known:
            return name, parts
    return None


def _is_of(value: Any, kind: type | tuple[type, ...]) -> bool:
    """Return whether a value has this type; if the value is a list, it must contain only objects."""
    items = value if isinstance(value, list) else []
    return isinstance(value, kind) and all(isinstance(item, dict) for item in items)


def _without_fields(fields: Fields, *names: str) -> Fields:
    return {name: value for name, value in fields.items() if name not in names}


def _rated_documents(fields: Fields) -> Parts:
    """Divide a record whose `ratings` map documents to grades, or lists documents with a `rating`."""
    base, ratings = _without_fields(fields, "ratings"), fields["ratings"]
    if "id" in base and base.keys() & {"request", "params", "template_id"}:
        base["query_id"] = base.pop("id")
    text = _query_parameter(base.get("params") or {})
    if isinstance(text, str):
        base["query_text"] = text
    if isinstance(ratings, dict):
        judgments = [{"document": name, "grade": grade} for name, grade in ratings.items()]
    else:
        judgments = [{"document": _document_of(rating), "grade": rating.get("rating")} for rating in ratings]
    yield from ((base, judgment) for judgment in judgments or [{}])


def _query_parameter(params: Fields) -> Any:
    """Return the query among the parameters of a search template: a usual name, or the only one."""
    only = list(params.values()) if len(params) == 1 else [None]
    return next((params[name] for name in _QUERY_PARAMETERS if name in params), only[0])


def _document_of(rating: Fields) -> Any:
    return next((rating[name] for name in ("_id", "docId", "doc_id") if name in rating), None)


def _book_pair(fields: Fields) -> Parts:
    base = _without_fields(fields, "judgements")
    for judgment in fields["judgements"] or [{}]:
        grade = "cannot tell" if judgment.get("unrateable") else judgment.get("rating")
        person, note = judgment.get("user_email"), judgment.get("explanation")
        yield base, {"grade": grade, "annotator": person, "note": note}


def _label_studio(fields: Fields) -> Parts:
    for annotation in fields["annotations"] or [{}]:
        results = () if annotation.get("was_cancelled") else annotation.get("result", ())
        values = {result.get("from_name"): _result_value(result) for result in results}
        graded = [result["from_name"] for result in results if result.get("type") in _GRADING]
        author = annotation.get("completed_by")
        author = author.get("email", author.get("id")) if isinstance(author, dict) else author
        time = annotation.get("updated_at") or annotation.get("created_at")
        judgment = {"annotator": author, "submitted_at": time}
        yield fields["data"], judgment | _answers_with_grade(values, graded)


def _result_value(result: Fields) -> Any:
    value = result.get("value", {})
    return value.get(result.get("type"), value.get("text"))


def _answers_with_grade(values: Mapping[str, Any], graded: Sequence[str]) -> Fields:
    """Return the answer to each of a tool's questions; if exactly one question has grades, its answer is also
    `grade`."""
    return {**values, "grade": values[graded[0]]} if len(graded) == 1 else dict(values)


def _argilla_record(fields: Fields) -> Parts:
    """Divide a record whose `responses` map questions to lists of `value` and `user_id`."""
    base = {**(fields.get("metadata") or {}), **fields["fields"]}
    answers = (
        (response.get("user_id"), question, response.get("value"), response.get("status"))
        for question, responses in fields["responses"].items()
        for response in responses
    )
    yield from _of_people(base, answers)


def _flat_questions(fields: Fields) -> list[str]:
    """Return the questions in a flattened Argilla record, with lists of values and users."""
    questions = [name.removesuffix(_RESPONSES) for name in fields if name.endswith(_RESPONSES)]
    return [question for question in questions if f"{question}{_USERS}" in fields]


def _flat_argilla(fields: Fields) -> Parts:
    """Divide a flattened Argilla record, which has lists of values, users and statuses for each question."""
    questions = _flat_questions(fields)
    parts = tuple(f"{question}." for question in questions)
    base = {name: value for name, value in fields.items() if not name.startswith(parts)}
    answers: list[_Answer] = []
    for question in questions:
        values = fields[f"{question}{_RESPONSES}"] or []
        users = fields[f"{question}{_USERS}"] or []
        status = fields.get(f"{question}{_STATUS}") or [None] * len(values)
        rows = zip(users, values, status, strict=True)
        answers += [(who, question, value, state) for who, value, state in rows]
    yield from _of_people(_without_fields(base, "id", "status", "_server_id"), answers)


def _of_people(base: Fields, answers: Iterable[_Answer]) -> Parts:
    """Yield a judgment for each annotator, with their answers to all questions."""
    by_person: dict[Any, Fields] = {}
    for user, question, value, status in answers:
        is_final = status is None or str(status).rpartition(".")[2].casefold() in ("submitted", "completed")
        by_person.setdefault(user, {})[question] = value if is_final else None
    for user, values in (by_person or {None: {}}).items():
        yield base, {"annotator": user, **_answers_with_grade(values, list(values))}


def _prodigy_choice(fields: Fields) -> Parts:
    """Yield the choice in a Prodigy record, with the field `answer`, which may reject the record."""
    chosen = fields.get("accept", fields.get("label"))
    session = fields.get("_annotator_id") or fields.get("_session_id")
    judgment = {"annotator": session, "submitted_at": fields.get("_timestamp")}
    if chosen is not None:
        judgment["grade"] = chosen
    yield _without_fields(fields, "accept", "label", "options"), judgment


_TOOL_FORMATS: tuple[tuple[str, Keys | Callable[[Fields], Any], Callable[[Fields], Parts]], ...] = (
    ("Quepid", {"query_text": str, "ratings": _RATINGS}, _rated_documents),
    ("Quepid, or of the Search Relevance Workbench,", {"query": str, "ratings": _RATINGS}, _rated_documents),
    ("_rank_eval", {"id": str, "ratings": list}, _rated_documents),
    ("a book of Quepid", {"query_text": str, "judgements": list}, _book_pair),
    ("Label Studio", {"data": dict, "annotations": list}, _label_studio),
    ("Argilla", {"fields": dict, "responses": dict}, _argilla_record),
    ("Argilla", _flat_questions, _flat_argilla),
    ("Prodigy", {"answer": str, "_task_hash": int}, _prodigy_choice),
    ("Prodigy", {"answer": str, "_annotator_id": str}, _prodigy_choice),
)
"""For each tool: its name, the keys of its records and their types, or a function that recognizes its
records, and the function that divides a record.
"""
