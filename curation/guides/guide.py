"""Labeling guides: the grade scale and the text that annotators read.

A guide is one Markdown file. Its YAML front matter holds the title and the scale; each grade may have worked
examples, which the screen shows beside it. The body is shown to annotators unchanged. The hash of the whole
text identifies a guide, so every judgment can name the exact text under which it was given.
"""

from __future__ import annotations

import json
import re
from importlib.resources import as_file, files
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from curation.errors import InputError, NotFoundError
from curation.store import Cursor, get_setting, put_setting, utc_now
from curation.text import canonical_json, digest

SCREEN_KEYS = frozenset("ulnfxwghcr?")
"""Keys that the grading screen (or Streamlit: c, r) uses itself."""

_FRONT_MATTER = re.compile(r"\A---\n(.*?\n)---\n(.*)\Z", re.DOTALL)


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


class _FrontMatter(BaseModel):
    model_config = ConfigDict(extra="forbid")

    title: Annotated[str, Field(min_length=1)]
    scale: Annotated[tuple[Grade, ...], Field(min_length=2, max_length=10)]

    @model_validator(mode="after")
    def _distinct(self) -> _FrontMatter:
        for field in ("value", "name", "key"):
            seen = [getattr(grade, field) for grade in self.scale]
            twice = sorted({str(item) for item in seen if seen.count(item) > 1})
            if twice:
                raise ValueError(f"each grade needs its own {field}; used twice: {', '.join(twice)}")
        taken = sorted(SCREEN_KEYS.intersection(grade.key for grade in self.scale))
        if taken:
            raise ValueError(f"the screen itself uses the key {', '.join(taken)}; digits are always free")
        return self


class Guide(BaseModel):
    """A labeling guide; `scale` is ordered from the lowest grade to the highest."""

    model_config = ConfigDict(frozen=True)

    guide_hash: str
    title: str
    scale: tuple[Grade, ...]
    body: str

    @property
    def values(self) -> tuple[int, ...]:
        """The grades of the scale, ascending."""
        return tuple(grade.value for grade in self.scale)

    def outside(self, grade: int | None) -> str:
        """The sentence for a grade that is not on the scale; '' for one that is."""
        if grade in self.values:
            return ""
        return f"grade {grade} is not on the guide's scale ({', '.join(map(str, self.values))})"


def read_guide(path: Path | None = None) -> Guide:
    """The guide in a file; without a path, the graded guide that goldset ships.

    Raises
    ------
    InputError: the file cannot be read, has no front matter, or its scale breaks a rule; all at once.
    """
    if path is None:
        with as_file(files("labeling_guides").joinpath("graded-relevance.md")) as shipped:
            return read_guide(shipped)
    text = _read(path)
    match = _FRONT_MATTER.match(text)
    if match is None:
        raise InputError(
            "no YAML front matter found; expected the file to start with a line `---`, the title and the "
            "scale, and a second line `---`. See labeling_guides/graded-relevance.md for one.",
            path=path,
        )
    front = _front_matter(match[1], path)
    scale = tuple(sorted(front.scale, key=lambda grade: grade.value))
    return Guide(guide_hash=digest(text), title=front.title, scale=scale, body=match[2].strip())


def store_guide(cursor: Cursor, guide: Guide) -> None:
    """Store the guide and make it the one in force."""
    scale = canonical_json([grade.model_dump() for grade in guide.scale])
    cursor.execute(
        "INSERT INTO guides VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        [guide.guide_hash, guide.title, scale, guide.body, utc_now()],
    )
    put_setting(cursor, "guide", guide.guide_hash)


def guide_by_hash(cursor: Cursor, guide_hash: str) -> Guide:
    """A stored guide.

    Raises
    ------
    NotFoundError: no guide has this hash.
    """
    row = cursor.execute(
        "SELECT guide_hash, title, scale, body FROM guides WHERE guide_hash = ?", [guide_hash]
    ).fetchone()
    if row is None:
        raise NotFoundError(f"The project holds no guide {guide_hash}.")
    scale = tuple(Grade(**grade) for grade in json.loads(row[2]))
    return Guide(guide_hash=row[0], title=row[1], scale=scale, body=row[3])


def current_guide(cursor: Cursor) -> Guide:
    """The guide in force."""
    return guide_by_hash(cursor, get_setting(cursor, "guide") or "")


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").replace("\r\n", "\n")
    except OSError as error:
        raise InputError(f"cannot be read as a guide: {error.strerror}", path=path) from error
    except UnicodeDecodeError as error:
        raise InputError(f"is not UTF-8 (byte {error.start}); save the guide as UTF-8", path=path) from error


def _front_matter(text: str, path: Path) -> _FrontMatter:
    values = _yaml(text, path)
    if not isinstance(values, dict):
        raise InputError(
            f"the front matter holds {_shown(values)}; expected names with values: `title:` and `scale:`. "
            "See labeling_guides/graded-relevance.md for one.",
            path=path,
        )
    try:
        return _FrontMatter.model_validate(values)
    except ValidationError as error:
        problems = [f"front matter, {_place(item['loc'])}: {item['msg']}" for item in error.errors()]
        raise InputError(
            problems, path=path, way_out="Mend the guide's front matter and try again."
        ) from error


def _yaml(text: str, path: Path) -> Any:
    try:
        return yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 2 if error.problem_mark else 1
        raise InputError(f"line {line}: the front matter is not YAML: {error.problem}", path=path) from error
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 2
        raise InputError(
            f"line {line}: the front matter holds the character U+{ord(text[error.position]):04X}, which "
            "YAML does not allow; remove it",
            path=path,
        ) from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise InputError(f"the front matter is not YAML: {error}", path=path) from error


def _shown(value: Any) -> str:
    kinds = {list: "a list", type(None): "nothing"}
    return kinds.get(type(value)) or f"only {str(value)[:40]!r}"


def _place(location: tuple[int | str, ...]) -> str:
    steps = [f"grade {step + 1}" if isinstance(step, int) else step for step in location]
    return ", ".join(steps) or "as a whole"
