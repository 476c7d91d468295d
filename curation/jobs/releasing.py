"""The jobs on the way to a release: a split before and after it is stored, and freezing."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from curation.progress import Progress
from curation.store import Store
from curation.text import amount

if TYPE_CHECKING:
    from curation.splits.request import AssignmentOptions
    from curation.splits.rules import Rules

PREVIEW = "preview.json"
"""The file in a job's folder that `splits.preview.parsed_preview` reads."""


def preview_a_split(store: Store, parameters: Mapping[str, Any], progress: Progress, author: str) -> str:
    """Write the preview into the folder that the parameters name."""
    from curation.splits.preview import preview_json, preview_split

    found = preview_split(store, *_asked(parameters), progress=progress)
    (Path(parameters["folder"]) / PREVIEW).write_bytes(preview_json(found))
    queries = sum(part.queries for part in found.parts)
    groups = amount(found.certificate.groups, "leakage group")
    return f"Previewed a split of {amount(queries, 'query', 'queries')} in {groups}."


def split(store: Store, parameters: Mapping[str, Any], progress: Progress, author: str) -> str:
    from curation.splits.split import make_split

    made = make_split(store, *_asked(parameters), progress, author, expected=parameters.get("expected"))
    done = "Stored the split" if made.created else "This split exists already and is the one in force"
    groups = amount(made.groups, "leakage group")
    sentences = [f"{done}: {amount(made.queries, 'query', 'queries')} in {groups}."]
    if made.kept:
        kept = amount(made.kept, "query keeps", "queries keep")
        sentences.append(f"{kept} the part that a release has them in.")
    return "\n".join([*sentences, *(f"Left out: {n:,} × {why}." for why, n in made.left_out.items())])


class _Asked(NamedTuple):
    """The first arguments of `make_split`."""

    parts: dict[str, float]
    seed: int
    rules: Rules
    relevant_grade: int | None
    options: AssignmentOptions


def _asked(parameters: Mapping[str, Any]) -> _Asked:
    """What is asked for, from what JSON knows; parts are pairs there, as their order counts."""
    from curation.splits.request import AssignmentOptions, named_parts
    from curation.splits.rules import Rules

    rules, options = dict(parameters["rules"]), dict(parameters["options"])
    rules |= {"keys": tuple(rules["keys"]), "cut": tuple(map(tuple, rules["cut"]))}
    if options["keep"] is not None:
        options["keep"] = tuple(options["keep"])
    return _Asked(
        named_parts([(name, fraction) for name, fraction in parameters["parts"]]),
        parameters["seed"],
        Rules(**rules),
        parameters["relevant_grade"],
        AssignmentOptions(**options),
    )


def freeze(store: Store, parameters: Mapping[str, Any], progress: Progress, author: str) -> str:
    from curation.releases.freeze.freeze import freeze as freeze_release

    frozen = freeze_release(
        store,
        parameters["name"],
        parameters["allow_disputed"],
        parameters["allow_changed"],
        author,
        progress,
        parameters["override"],
        parameters.get("seal", ()),
        share=parameters.get("share"),
    )
    name, grades = parameters["name"], sum(frozen.grades.values())
    done = f"Froze {name}" if frozen.created else f"Unchanged: {name} has exactly this content already"
    queries = amount(sum(frozen.queries.values()), "query", "queries")
    documents = amount(frozen.documents, "document")
    sentences = [f"{done}: {queries}, {amount(grades, 'grade')}, {documents}."]
    lacking = sum(frozen.without_relevant.values())
    if lacking:
        sentences.append(f"{amount(lacking, 'query has', 'queries have')} no relevant document.")
    if frozen.changed:
        sentences.append(
            f"Kept and marked: {amount(frozen.changed, 'grade')} of another version of their document."
        )
    if frozen.sharing is not None:
        sentences.append(f"Shared between identical documents: {amount(frozen.sharing.grades, 'grade')}.")
    return "\n".join([*sentences, *(f"Left out: {n:,} × {why}." for why, n in frozen.left_out.items())])


def export(store: Store, parameters: Mapping[str, Any], progress: Progress, author: str) -> str:
    """Write the zip file into the folder that the parameters name."""
    from curation.releases.export.gold import ExportOptions
    from curation.releases.export.zipped import export_zip

    name, format = parameters["name"], parameters["format"]
    exported = export_zip(
        store,
        name,
        format,
        Path(parameters["folder"]),
        author,
        progress,
        reason=parameters["reason"],
        parts=parameters["parts"],
        options=ExportOptions(parameters["unjudged"], parameters["negatives"], parameters["licence"]),
    )
    grades = amount(sum(exported.counts["grades"].values()), "grade")
    sentences = [f"Exported {name} as {format}: {amount(len(exported.files) + 1, 'file')}, {grades}."]
    if exported.without_grades:
        sentences.append(f"Without the grades of {', '.join(exported.without_grades)}.")
    if exported.opening is not None:
        sentences.append(f"With the sealed grades of {', '.join(exported.opening.parts)}, which is logged.")
    sentences += [f"{file}: {amount(rows, 'row')}." for file, rows in exported.rows.items()]
    return "\n".join([*sentences, *(f"Left out: {n:,} × {why}." for why, n in exported.left_out.items())])
