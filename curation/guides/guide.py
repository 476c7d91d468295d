"""The presentation template of a guide: which fields of a document are shown, and how its body is drawn.

It is the entry `presentation:` of a guide's front matter, so the guide's hash identifies it, and every
judgment names what its annotator saw. A guide without one shows documents as plain text
with date and address.

Labeling guides: the grade scale and the text that annotators read.

A guide is one Markdown file. Its YAML front matter holds the title and the scale; each grade may have worked
examples, which the screen shows next to it. The body is shown to annotators unchanged. The hash of the whole
text identifies a guide, so every judgment can name the exact text under which it was given.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    ValidationError,
    model_serializer,
)

from curation import shipped
from curation.errors import InputError, NotFoundError, RefusedError
from curation.guides.front_matter import GuideProblem, line_of, read_values, split_source
from curation.store import Cursor, get_setting, put_setting, utc_now
from curation.store.documents import count_fields
from curation.text import amount, canonical_json, digest

MOST_BYTES = 2_000_000
"""Bytes of the file of a guide: a thousand pages."""

BodyKind = Literal["plain", "markdown", "html", "code"]

FieldName = Annotated[str, Field(min_length=1, max_length=200)]


class TemplateField(BaseModel):
    """A field that is shown below the title; `label` is its name where nothing else is given, '' is none."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    field: FieldName
    label: Annotated[str, Field(max_length=40)] | None = None
    drawn_as: Annotated[Literal["text", "link", "image"], Field(alias="as")] = "text"

    @property
    def name(self) -> str:
        """What is before the value."""
        return self.field if self.label is None else self.label


class PresentationTemplate(BaseModel):
    """How documents are shown.

    Attributes
    ----------
    title: the field to show as title in place of the import's; a document without it keeps its own.
    fields: the facts below the title, in order.
    links: whether links within a body can be followed; else their words are text.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: FieldName | None = None
    body: BodyKind = "plain"
    fields: Annotated[tuple[TemplateField, ...], Field(max_length=20)] = ()
    links: bool = False

    @property
    def names(self) -> list[str]:
        """The fields that the template shows, in order, each once."""
        title = [self.title] if self.title else []
        return list(dict.fromkeys([*title, *(one.field for one in self.fields)]))


AS_BEFORE = PresentationTemplate(fields=tuple(TemplateField(field=one, label="") for one in ("date", "url")))
"""What is shown of a document without a template."""


class FieldUse(NamedTuple):
    """In how many of a corpus' documents a field has a value."""

    field: str
    documents: int
    of: int

    @property
    def sentence(self) -> str:
        """As in: The field “price” is in 0 of 3,823 documents."""
        return f"The field “{self.field}” is in {self.documents:,} of {amount(self.of, 'document')}."


def field_uses(cursor: Cursor, template: PresentationTemplate | None) -> list[FieldUse]:
    """How often the corpus in force has each field of a template; [] without a template or a corpus."""
    names = template.names if template else []
    try:
        total, counts = count_fields(cursor, names)
    except RefusedError:  # no corpus yet: it may come with these fields
        return []
    return [FieldUse(name, count, total) for name, count in zip(names, counts, strict=True)]


def unused_fields(uses: Sequence[FieldUse]) -> list[str]:
    """A sentence for each field that no document has."""
    return [use.sentence for use in uses if not use.documents]


SCREEN_KEYS = frozenset("ulnfxwghcr?")
"""Keys that the grading screen (or Streamlit: c, r) uses itself."""

NO_FRONT_MATTER = (
    "no YAML front matter found; expected the text to start with a line ---, then the title and the scale, "
    "and a second line ---"
)
WAY_OUT = f"Correct the guide and try again; {shipped.GUIDES / 'graded-relevance.md'} is a whole one."
EXPECTED = {
    "title": "a title in words",
    "scale": "a list of 2 to 10 grades",
    "value": "a whole number from 0 to 100",
    "name": "a name of 1 to 40 characters",
    "key": "one digit or small letter",
    "colour": "a colour such as #2b62a8",
    "definition": "a sentence that says when to give the grade",
    "examples": "a list of at most 20 worked examples",
    "query": "a query of 1 to 500 characters",
    "document": "what the document says, 1 to 2,000 characters",
    "why": "the reason, 1 to 1,000 characters",
    "presentation": "how documents are shown: title, body, fields, links",
    "body": "plain, markdown, html or code",
    "fields": "a list of at most 20 fields, each with its name as field",
    "field": "the name of a field, 1 to 200 characters",
    "label": "words of at most 40 characters",
    "as": "text, link or image",
    "links": "true or false",
    "evidence": "ask: required or optional, and from_grade: a grade",
    "ask": "required or optional",
    "from_grade": "the least grade that takes evidence, which is on the scale",
}
"""What each entry of the front matter should hold."""
_ENTRIES = {"examples": "example", "fields": "field"}


class WorkedExample(BaseModel):
    """A worked example of a grade: a query, what the document says, and why it gets this grade."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    query: Annotated[str, Field(min_length=1, max_length=500)]
    document: Annotated[str, Field(min_length=1, max_length=2_000)]
    why: Annotated[str, Field(min_length=1, max_length=1_000)]


class Grade(BaseModel):
    """One step of the scale."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    value: Annotated[int, Field(ge=0, le=100)]
    name: Annotated[str, Field(min_length=1, max_length=40)]
    key: Annotated[str, Field(pattern=r"^[0-9a-z]$")]
    colour: Annotated[str, Field(pattern=r"^#[0-9a-fA-F]{6}$")]
    definition: Annotated[str, Field(min_length=1)]
    examples: Annotated[tuple[WorkedExample, ...], Field(max_length=20)] = ()


class EvidenceRule(BaseModel):
    """At which grades annotators mark where the document says it, and whether they must."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    ask: Literal["required", "optional"]
    from_grade: int


class _FrontMatter(BaseModel):
    model_config = ConfigDict(extra="forbid")

    title: Annotated[str, Field(min_length=1)]
    scale: Annotated[tuple[Grade, ...], Field(min_length=2, max_length=10)]
    presentation: PresentationTemplate | None = None
    evidence: EvidenceRule | None = None


class Guide(BaseModel):
    """A labeling guide; `scale` is ordered from the lowest grade to the highest.

    source: the whole text, from which the hash is; '' where the project stored the guide without it. No
        export or release has it.
    """

    model_config = ConfigDict(frozen=True)

    guide_hash: str
    title: str
    scale: tuple[Grade, ...]
    body: str
    source: Annotated[str, Field(exclude=True, repr=False)] = ""
    presentation: PresentationTemplate | None = None
    evidence: EvidenceRule | None = None

    @model_serializer(mode="wrap")
    def _without_nothing(self, written: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """A guide without an entry is written as before there were any: its releases keep their ids."""
        values: dict[str, Any] = written(self)
        for name in ("presentation", "evidence"):
            if values[name] is None:
                values.pop(name)
        return values

    @property
    def values(self) -> tuple[int, ...]:
        """The grades of the scale, ascending."""
        return tuple(grade.value for grade in self.scale)

    def named(self, name: str) -> int | None:
        """The grade of that name, in any case."""
        wanted = " ".join(name.split()).casefold()
        return next((grade.value for grade in self.scale if grade.name.casefold() == wanted), None)

    def outside(self, grade: int | None) -> str:
        """The sentence for a grade that is not on the scale; '' for one that is."""
        if grade in self.values:
            return ""
        return f"grade {grade} is not on the guide's scale ({', '.join(map(str, self.values))})"

    def takes_evidence(self, grade: int | None) -> bool:
        """Whether an annotator who gives this grade may mark evidence."""
        return self.evidence is not None and grade is not None and grade >= self.evidence.from_grade

    def against_marks(self, grade: int | None, marked: bool) -> str:
        """The sentence for marks that a grade does not take, or for a grade that lacks some; else ''."""
        takes = self.takes_evidence(grade)
        if marked and not takes:
            given = "an answer without a grade" if grade is None else f"grade {grade}"
            least = f"only grades from {self.evidence.from_grade} on do" if self.evidence else "no grade does"
            return f"{given} takes no evidence; by the guide {least}"
        if takes and not marked and self.evidence is not None and self.evidence.ask == "required":
            return f"grade {grade} needs evidence: mark where the document says it"
        return ""


def read_guide(path: Path | None = None) -> Guide:
    """The guide in a file, or the one that goldset ships under this name or its beginning, such as `binary`.

    Without a path it is the graded guide that goldset ships.

    Raises
    ------
    InputError: the file cannot be read, has no front matter, or its scale breaks a rule; all at once.
    """
    path = _path_of(path or Path("graded-relevance"))
    return parse_guide(_read(path), path)


def _path_of(named: Path) -> Path:
    """The file of this path or, where there is none, the one that goldset ships under this name."""
    if named.suffix or len(named.parts) > 1 or named.is_file():
        return named
    files = sorted(shipped.GUIDES.glob("*.md"))
    found = [file for file in files if file.stem.startswith(named.name)]
    if len(found) != 1:
        raise InputError(
            f"{named} is no file and no one guide of goldset: expected a path, or the beginning of one of "
            f"{', '.join(file.stem for file in files)}."
        )
    return found[0]


def shipped_guides() -> list[Guide]:
    """The guides that come with goldset, by title."""
    found = [parse_guide(file.read_text(encoding="utf-8")) for file in shipped.GUIDES.glob("*.md")]
    return sorted(found, key=lambda guide: guide.title)


def parse_guide(source: str, path: Path | None = None) -> Guide:
    """The guide of a whole text; raises as `read_guide` does, naming the path if there is one."""
    problems = guide_problems(source)
    if problems:
        said = [f"line {one.line}: {one.sentence}" if one.line else one.sentence for one in problems]
        raise InputError(said, path=path, way_out=WAY_OUT)
    parts = split_source(source)
    assert parts is not None  # else there were problems
    front = _FrontMatter.model_validate(read_values(parts.front))
    scale = tuple(sorted(front.scale, key=lambda grade: grade.value))
    return Guide(
        guide_hash=digest(source),
        title=front.title,
        scale=scale,
        body=parts.body.strip(),
        source=source,
        presentation=front.presentation,
        evidence=front.evidence,
    )


def guide_problems(source: str) -> list[GuideProblem]:
    """All that keeps a text from being a guide; [] where it is one."""
    parts = split_source(source)
    if parts is None:
        return [GuideProblem((), 1, NO_FRONT_MATTER)]
    values = read_values(parts.front)
    if isinstance(values, GuideProblem):
        return [values]
    if not isinstance(values, dict):
        said = f"the front matter holds {_shown(values)}; expected names with values: title and scale"
        return [GuideProblem((), 1, said)]
    try:
        found = _broken_rules(_FrontMatter.model_validate(values))
    except ValidationError as error:
        found = [(item["loc"], _sentence(item)) for item in error.errors() if not _follows(item)]
    return [GuideProblem(where, line_of(parts.front, where), said) for where, said in found]


def store_guide(cursor: Cursor, guide: Guide) -> None:
    """Store the guide and make it the one in force."""
    cursor.execute(
        "INSERT INTO guides VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING", [*_grading(guide), utc_now()]
    )
    if guide.source:
        sourced = [guide.guide_hash, guide.source]
        cursor.execute("INSERT INTO guide_sources VALUES (?, ?) ON CONFLICT DO NOTHING", sourced)
    if guide.presentation is not None:
        template = canonical_json(guide.presentation.model_dump(by_alias=True))
        cursor.execute(
            "INSERT INTO guide_templates VALUES (?, ?) ON CONFLICT DO NOTHING", [guide.guide_hash, template]
        )
    if guide.evidence is not None:
        rule = [guide.guide_hash, guide.evidence.ask, guide.evidence.from_grade]
        cursor.execute("INSERT INTO guide_evidence VALUES (?, ?, ?) ON CONFLICT DO NOTHING", rule)
    put_setting(cursor, "guide", guide.guide_hash)


def _grading(guide: Guide) -> tuple[str, str, str, str]:
    """Its hash, and all of it that is about grades."""
    scale = canonical_json([grade.model_dump() for grade in guide.scale])
    return guide.guide_hash, guide.title, scale, guide.body


def guide_lines(cursor: Cursor, new: Guide | None = None, same_grades: bool = False) -> dict[str, str]:
    """Guide → the first one under which a grade meant the same: a label given under either stays fresh.

    Two guides are of one line where only presentation, evidence or layout differs, or where a lead said so.

    Parameters
    ----------
    new: a guide that is looked at as if it were in force, with the same grades as the one in force or not.
    """
    rows = cursor.execute("SELECT guide_hash, title, scale, body FROM guides ORDER BY rowid").fetchall()
    said = cursor.execute(_SAME_GRADES).fetchall()
    if new is not None:
        rows.append(_grading(new))
        said += [(new.guide_hash, get_setting(cursor, "guide"))] if same_grades else []
    first: dict[tuple[str, ...], str] = {}
    lines: dict[str, str] = {}
    for name, *grading in rows:
        lines.setdefault(name, first.setdefault(tuple(grading), name))
    for name, before in said:
        joined, line = lines[name], lines[before]
        lines = {one: line if held == joined else held for one, held in lines.items()}
    return lines


_SAME_GRADES = """
SELECT detail->>'guide', detail->>'same_grades_as' FROM events
WHERE action = 'use guide' AND detail->>'same_grades_as' IS NOT NULL ORDER BY rowid
"""


def guide_by_hash(cursor: Cursor, guide_hash: str) -> Guide:
    """A stored guide.

    Raises
    ------
    NotFoundError: no guide has this hash.
    """
    found = cursor.execute(
        """
        SELECT guide_hash, title, scale, body, coalesce(source, ''), template, ask, from_grade
        FROM guides LEFT JOIN guide_sources USING (guide_hash) LEFT JOIN guide_templates USING (guide_hash)
        LEFT JOIN guide_evidence USING (guide_hash)
        WHERE guide_hash = ?
        """,
        [guide_hash],
    ).fetchall()
    if not found:
        raise NotFoundError(f"The project holds no guide {guide_hash}.")
    row = found[0]
    scale = tuple(Grade(**grade) for grade in json.loads(row[2]))
    template = PresentationTemplate.model_validate_json(row[5]) if row[5] else None
    evidence = EvidenceRule(ask=row[6], from_grade=row[7]) if row[6] else None
    return Guide(
        guide_hash=row[0],
        title=row[1],
        scale=scale,
        body=row[3],
        source=row[4],
        presentation=template,
        evidence=evidence,
    )


def current_guide(cursor: Cursor) -> Guide:
    """The guide in force."""
    return guide_by_hash(cursor, get_setting(cursor, "guide") or "")


def _read(path: Path) -> str:
    try:
        if path.stat().st_size > MOST_BYTES:
            found = f"is larger than {MOST_BYTES // 10**6} MB; expected a guide that people can read"
            raise InputError(found, path=path)
        return path.read_text(encoding="utf-8").replace("\r\n", "\n")
    except OSError as error:
        raise InputError(f"cannot be read as a guide: {error.strerror}", path=path) from error
    except UnicodeDecodeError as error:
        raise InputError(f"is not UTF-8 (byte {error.start}); save the guide as UTF-8", path=path) from error


def _broken_rules(front: _FrontMatter) -> list[tuple[tuple[int | str, ...], str]]:
    """The rules that are about several grades, or about the screen, each where it is broken."""
    found: list[tuple[tuple[int | str, ...], str]] = []
    for field in ("value", "name", "key"):
        seen: set[Any] = set()
        for place, grade in enumerate(front.scale):
            value = getattr(grade, field)
            if value in seen:
                said = f"each grade needs its own {field}; used twice: {value}"
                found.append((("scale", place, field), f"{_place(('scale', place, field))}: {said}"))
            seen.add(value)
    for place, grade in enumerate(front.scale):
        if grade.key in SCREEN_KEYS:
            said = f"the screen itself uses the key {grade.key}; digits are always free"
            found.append((("scale", place, "key"), f"{_place(('scale', place, 'key'))}: {said}"))
    grades = [grade.value for grade in front.scale]
    if front.evidence and front.evidence.from_grade not in grades:
        where = ("evidence", "from_grade")
        said = f"found {front.evidence.from_grade}; expected one of the scale, {', '.join(map(str, grades))}"
        found.append((where, f"{_place(where)}: {said}"))
    return found


def _follows(item: Any) -> bool:
    """Whether a list is short only because pydantic left out entries, each with a problem of its own."""
    return item["type"] == "too_short" and bool(len(item["input"]) >= item["ctx"]["min_length"])


def _sentence(item: Any) -> str:
    """What pydantic found, in our words."""
    where = item["loc"]
    place, expected = _place(where), EXPECTED.get(str(where[-1]), "") if where else ""
    if item["type"] == "missing":
        return f"{place} is missing; expected {expected}" if expected else f"{place} is missing"
    if item["type"] == "extra_forbidden":
        return f"{place}: a guide has no such entry; correct its spelling, or remove it"
    if not expected:
        return f"{place}: {item['msg']}"
    return f"{place}: found {_shown(item['input'])}; expected {expected}"


def _shown(value: Any) -> str:
    if isinstance(value, list | tuple):
        return f"a list of {len(value)}" if value else "an empty list"
    if value is None or value == "":
        return "nothing"
    if isinstance(value, dict):
        return "names with values"
    text = str(value)
    return f"only {text[:40]!r}" if len(text) <= 40 else amount(len(text), "character")


def _place(location: tuple[int | str, ...]) -> str:
    steps = []
    for before, step in zip(("", *location), location, strict=False):
        if isinstance(step, int):
            steps.append(f"{_ordinal(step + 1)} {_ENTRIES.get(str(before), 'grade')}")
        elif step not in ("scale", *_ENTRIES) or step == location[-1]:
            steps.append(step)
    return ", ".join(steps) or "the front matter"


def _ordinal(number: int) -> str:
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th") if number not in (11, 12, 13) else "th"
    return f"{number}{ending}"
