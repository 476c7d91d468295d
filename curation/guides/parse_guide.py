"""Reading a guide's text: its front matter against the rules, with all problems at once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from curation.core import shipped
from curation.core.errors import InputError
from curation.core.text import amount, digest
from curation.guides.front_matter import GuideProblem, line_of, read_values, split_source
from curation.guides.guide import EvidenceRule, Grade, Guide
from curation.guides.presentation_template import PresentationTemplate

MOST_BYTES = 2_000_000
"""Bytes of the file of a guide: a thousand pages."""

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


class _FrontMatter(BaseModel):
    model_config = ConfigDict(extra="forbid")

    title: Annotated[str, Field(min_length=1)]
    scale: Annotated[tuple[Grade, ...], Field(min_length=2, max_length=10)]
    presentation: PresentationTemplate | None = None
    evidence: EvidenceRule | None = None


def read_guide(path: Path | None = None) -> Guide:
    """The guide in a file, or the one that goldgrade ships under this name or its beginning, such as
    `binary`.

    Without a path it is the graded guide that goldgrade ships.

    Raises
    ------
    InputError: the file cannot be read, has no front matter, or its scale breaks a rule; all at once.
    """
    path = _path_of(path or Path("graded-relevance"))
    return parse_guide(_read(path), path)


def _path_of(named: Path) -> Path:
    """The file of this path or, where there is none, the one that goldgrade ships under this name."""
    if named.suffix or len(named.parts) > 1 or named.is_file():
        return named
    files = sorted(shipped.GUIDES.glob("*.md"))
    found = [file for file in files if file.stem.startswith(named.name)]
    if len(found) != 1:
        raise InputError(
            f"{named} is no file and no one guide of goldgrade: expected a path, or the beginning of one of "
            f"{', '.join(file.stem for file in files)}."
        )
    return found[0]


def shipped_guides() -> list[Guide]:
    """The guides that come with goldgrade, by title."""
    found = [parse_guide(file.read_text(encoding="utf-8")) for file in shipped.GUIDES.glob("*.md")]
    return sorted(found, key=lambda guide: guide.title)


def parse_guide(source: str, path: Path | None = None) -> Guide:
    """The guide of a whole text; raises as `read_guide` does, naming the path if there is one."""
    problems = guide_problems(source)
    if problems:
        said = [
            f"line {problem.line}: {problem.sentence}" if problem.line else problem.sentence
            for problem in problems
        ]
        raise InputError(said, path=path, way_out=WAY_OUT)
    parts = split_source(source)
    assert parts is not None  # else there were problems
    front = _FrontMatter.model_validate(read_values(parts[0]))
    scale = tuple(sorted(front.scale, key=lambda grade: grade.value))
    return Guide(
        guide_hash=digest(source),
        title=front.title,
        scale=scale,
        body=parts[1].strip(),
        source=source,
        presentation=front.presentation,
        evidence=front.evidence,
    )


def guide_problems(source: str) -> list[GuideProblem]:
    """All that keeps a text from being a guide; [] where it is one."""
    parts = split_source(source)
    if parts is None:
        return [GuideProblem((), 1, NO_FRONT_MATTER)]
    values = read_values(parts[0])
    if isinstance(values, GuideProblem):
        return [values]
    if not isinstance(values, dict):
        said = f"the front matter holds {_shown(values)}; expected names with values: title and scale"
        return [GuideProblem((), 1, said)]
    try:
        found = _broken_rules(_FrontMatter.model_validate(values))
    except ValidationError as error:
        found = [(item["loc"], _sentence(item)) for item in error.errors() if not _follows(item)]
    return [GuideProblem(where, line_of(parts[0], where), said) for where, said in found]


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
