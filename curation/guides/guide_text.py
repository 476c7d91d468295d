"""Reading a labeling guide from its text, reporting all problems in it.

All problems of a text are reported together, each with its line and with what is expected instead.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from curation.core import default_paths
from curation.core.digests import digest
from curation.core.errors import InputError
from curation.core.text import pluralize
from curation.guides.front_matter import GuideProblem, Location, find_line, read_values, split_source
from curation.guides.guide import EvidenceRule, Grade, Guide, PresentationTemplate, WorkedExample

MAX_BYTES = 2_000_000
"""Greatest size of a guide's file in bytes: about a thousand pages."""
SCREEN_KEYS = frozenset("ulnfxwghcr?")
"""Keys that the grading screen or Streamlit (c, r) already uses."""
NO_FRONT_MATTER = (
    "no YAML front matter found; expected the text to start with a line ---, then the title and the scale, "
    "and a second line ---"
)
_EXAMPLE = default_paths.GUIDES / "graded-relevance.md"
WAY_OUT = f"Correct the guide and try again. {_EXAMPLE} is a complete example."
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
    "from_grade": "a grade of the scale: the lowest grade that takes evidence",
}
"""Expected value, in words, of each entry of the front matter."""
_ITEM_NAMES = {"examples": "example", "fields": "field"}
"""Entry with a list → name of one item."""


class _FrontMatter(BaseModel):
    model_config = ConfigDict(extra="forbid")

    title: Annotated[str, Field(min_length=1)]
    scale: Annotated[tuple[Grade, ...], Field(min_length=2, max_length=10)]
    presentation: PresentationTemplate | None = None
    evidence: EvidenceRule | None = None


def read_guide(path: Path | None = None) -> Guide:
    """Read the labeling guide from a file, or goldgrade's own guide.

    Parameters
    ----------
    path: path of a file, or the beginning of the name of a guide that is part of goldgrade, such as `binary`.
    None stands for the graded guide of goldgrade.

    Raises
    ------
    InputError: the file cannot be read, has no front matter, or breaks a rule; the error lists all problems.
    """
    path = _find_file(path or Path("graded-relevance"))
    return parse_guide(_read_text(path), path)


def read_shipped_guides() -> list[Guide]:
    """Return the guides shipped with goldgrade, by title."""
    guides = [parse_guide(file.read_text(encoding="utf-8")) for file in default_paths.GUIDES.glob("*.md")]
    return sorted(guides, key=lambda guide: guide.title)


def has_shipped_examples(guide: Guide) -> bool:
    """Return whether a worked example of a guide is one of goldgrade's own, about other collections."""
    own, *shipped = (_list_examples(each) for each in (guide, *read_shipped_guides()))
    return any(example in examples for example in own for examples in shipped)


def _list_examples(guide: Guide) -> list[WorkedExample]:
    return [example for grade in guide.scale for example in grade.examples]


def parse_guide(source: str, path: Path | None = None) -> Guide:
    """Parse the whole text of a guide; raise the same errors as `read_guide`, with `path` in the error."""
    problems = find_problems(source)
    if problems:
        lines = [f"line {problem.line}: " if problem.line else "" for problem in problems]
        sentences = [line + problem.sentence for line, problem in zip(lines, problems, strict=True)]
        raise InputError(sentences, path=path, way_out=WAY_OUT)
    parts = split_source(source)
    assert parts is not None  # a text without problems has front matter
    front, body = _FrontMatter.model_validate(read_values(parts[0])), parts[1]
    scale = tuple(sorted(front.scale, key=lambda grade: grade.value))
    fields = dict(front) | {"scale": scale, "body": body.strip(), "source": source}
    return Guide(guide_hash=digest(source), **fields)


def find_problems(source: str) -> list[GuideProblem]:
    """Return all problems in a guide's text; [] for a valid guide."""
    parts = split_source(source)
    if parts is None:
        return [GuideProblem((), 1, NO_FRONT_MATTER)]
    values = read_values(parts[0])
    if isinstance(values, GuideProblem):
        return [values]
    if not isinstance(values, dict):
        content = _describe_value(values)
        sentence = f"the front matter holds {content}; expected names with values: title and scale"
        return [GuideProblem((), 1, sentence)]
    try:
        problems = _check_rules(_FrontMatter.model_validate(values))
    except ValidationError as error:
        errors = [item for item in error.errors() if not _is_consequence(item)]
        problems = [(item["loc"], _describe_problem(item)) for item in errors]
    return [GuideProblem(location, find_line(parts[0], location), text) for location, text in problems]


def _find_file(path: Path) -> Path:
    """Return the file at a path, or goldgrade's own guide whose name begins with the given text."""
    if path.suffix or len(path.parts) > 1 or path.is_file():
        return path
    files = sorted(default_paths.GUIDES.glob("*.md"))
    matching = [file for file in files if file.stem.startswith(path.name)]
    if len(matching) != 1:
        expected = (
            f"expected a path, or the start of one of these names: {', '.join(file.stem for file in files)}"
        )
        raise InputError(f"{path} is not a file or a shipped guide: {expected}.")
    return matching[0]


def _read_text(path: Path) -> str:
    try:
        if path.stat().st_size > MAX_BYTES:
            problem = f"is larger than {MAX_BYTES // 10**6} MB; expected a guide of readable length"
            raise InputError(problem, path=path)
        return path.read_text(encoding="utf-8").replace("\r\n", "\n")
    except OSError as error:
        raise InputError(f"cannot be read as a guide: {error.strerror}", path=path) from error
    except UnicodeDecodeError as error:
        raise InputError(f"is not UTF-8 (byte {error.start}); save the guide as UTF-8", path=path) from error


def _check_rules(front: _FrontMatter) -> list[tuple[Location, str]]:
    """Return the problems that concern several grades or the grading screen, each with its location."""
    problems: list[tuple[Location, str]] = []
    for field in ("value", "name", "key"):
        used_values: set[Any] = set()
        for index, grade in enumerate(front.scale):
            value = getattr(grade, field)
            if value in used_values:
                sentence = f"each grade needs its own {field}; used twice: {value}"
                problems.append((("scale", index, field), sentence))
            used_values.add(value)
    for index, grade in enumerate(front.scale):
        if grade.key in SCREEN_KEYS:
            sentence = f"the app itself uses the key {grade.key}; choose another key, such as a digit"
            problems.append((("scale", index, "key"), sentence))
    grades = [grade.value for grade in front.scale]
    if front.evidence and front.evidence.from_grade not in grades:
        expected = f"expected a grade of the scale, {', '.join(map(str, grades))}"
        problems.append((("evidence", "from_grade"), f"found {front.evidence.from_grade}; {expected}"))
    return [(location, f"{_describe_location(location)}: {sentence}") for location, sentence in problems]


def _is_consequence(item: Any) -> bool:
    """Return whether pydantic reports a list as too short only because it left out invalid entries."""
    return item["type"] == "too_short" and bool(len(item["input"]) >= item["ctx"]["min_length"])


def _describe_problem(item: Any) -> str:
    """Return a problem found by pydantic as a human-readable sentence."""
    location = item["loc"]
    words = _describe_location(location)
    expected = EXPECTED.get(str(location[-1]), "") if location else ""
    if item["type"] == "missing":
        return f"{words} is missing; expected {expected}" if expected else f"{words} is missing"
    if item["type"] == "extra_forbidden":
        return f"{words}: no such entry in a guide; correct the spelling, or remove the entry"
    if not expected:
        return f"{words}: {item['msg']}"
    return f"{words}: found {_describe_value(item['input'])}; expected {expected}"


def _describe_value(value: Any) -> str:
    if isinstance(value, list | tuple):
        return f"a list of {len(value)}" if value else "an empty list"
    if value is None or value == "":
        return "nothing"
    if isinstance(value, dict):
        return "names with values"
    text = str(value)
    return f"only {text[:40]!r}" if len(text) <= 40 else pluralize(len(text), "character")


def _describe_location(location: Location) -> str:
    steps = []
    for before, step in zip(("", *location), location, strict=False):
        if isinstance(step, int):
            steps.append(f"{_format_ordinal(step + 1)} {_ITEM_NAMES.get(str(before), 'grade')}")
        elif step not in ("scale", *_ITEM_NAMES) or step == location[-1]:
            steps.append(step)
    return ", ".join(steps) or "the front matter"


def _format_ordinal(number: int) -> str:
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th") if number not in (11, 12, 13) else "th"
    return f"{number}{ending}"
