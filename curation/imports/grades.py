"""Imports of runs, judgments and reviewers' decisions: the call, and what came of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from curation.adjudication.adjudication import Decided, decide_many
from curation.errors import InputError
from curation.evaluation.judges.imported import JudgeImport, import_judge
from curation.files.run_files import RunFields
from curation.imports.outcome import ImportOutcome
from curation.imports.request import ImportRequest
from curation.labeling.judgments.imported import JudgmentImport, import_judgments
from curation.progress import Progress
from curation.sources.decisions import read_decision_lines
from curation.sources.judgments import JudgmentFields, parse_grade_map
from curation.sources.run_import import RunImport, import_run
from curation.store import Store
from curation.text import amount


def run(store: Store, request: ImportRequest, progress: Progress, author: str) -> ImportOutcome:
    """A run of the option `name`; `skip_unknown` and `skip_repeated` leave lines out."""
    options = request.options
    found = import_run(
        store,
        request.file,
        str(options.get("name") or ""),
        RunFields(*(request.field(name) for name in RunFields._fields)),
        request.layout,
        skip_unknown=bool(options.get("skip_unknown")),
        skip_repeated=bool(options.get("skip_repeated")),
        progress=progress,
        author=author,
    )
    return run_outcome(found)


def run_outcome(found: RunImport) -> ImportOutcome:
    places = f"{amount(found.entries, 'place')} for {amount(found.queries, 'query', 'queries')}"
    sentence = f"Nothing changed: the project has this run {found.name!r} with {places}."
    if found.is_new:
        sentence = f"Imported the run {found.name!r}: {places}. A pool names it as run:{found.name}."
    figures = {"places": found.entries, "queries": found.queries}
    return ImportOutcome(found.is_new, sentence, "lines", figures, found.left_out, list(_about_run(found)))


def _about_run(found: RunImport) -> Iterable[str]:
    if found.mapped:
        yield f"{found.mapped:,} ids are prefixed or encoded, as in exports, and were mapped back."
    if found.unordered:
        one = "query was not in the order of its ranks and was"
        many = "queries were not in the order of their ranks and were"
        yield f"{amount(found.unordered, one, many)} reordered."
    if found.gaps:
        order = "score, as in trec_eval" if found.fields.score else "rank"
        yield (
            f"Note: for {amount(found.gaps, 'query', 'queries')} ranks are missing. These lists are "
            f"ordered by {order}. "
            "Compare the number of places with the original if lines may have been lost."
        )
    if found.against_scores:
        yield (
            f"Note: for {amount(found.against_scores, 'query', 'queries')} the scores contradict the "
            "ranks. The ranks count "
            "here; trec_eval would go by the scores."
        )


def judgments(store: Store, request: ImportRequest, progress: Progress, author: str) -> ImportOutcome:
    """Judgments of people, or of the option `judge`, which is not a person."""
    options = request.options
    names = "query query_text document annotator grade note time cannot_tell duration".split()
    fields = JudgmentFields(
        **{name: request.field(name) for name in names},
        date_order=options.get("date_order"),
        duration_unit=options.get("duration_unit"),
        annotator_columns=dict(options.get("annotator_columns") or {}),
        annotator_name=options.get("annotator") or None,
    )
    written = str(options.get("grade_map") or "").strip()
    grades = parse_grade_map(written) if written else None
    skip = bool(options.get("skip_unknown"))
    place = (store, request.file)
    if "judge" in options:
        judge = str(options["judge"])
        said = import_judge(
            *place,
            judge,
            fields,
            request.layout,
            grade_map=grades,
            skip_unknown=skip,
            progress=progress,
            author=author,
        )
        return judge_outcome(said)
    found = import_judgments(
        *place,
        fields,
        request.layout,
        grade_map=grades,
        skip_unknown=skip,
        about=options.get("about"),
        progress=progress,
        author=author,
    )
    return judgments_outcome(found)


def judgments_outcome(found: JudgmentImport) -> ImportOutcome:
    changes = bool(found.judgments or found.changed or found.sealed)
    sentence = "Nothing changed: the project has these judgments."
    if changes:
        where = f" in the round “{found.round}”" if found.round else ""
        one, many = "of them answers an open presentation", "of them answer open presentations"
        answered = amount(found.filled, one, many)
        sentence = f"{amount(found.judgments, 'new judgment')}{where}, {answered}."
    remarks = _unread(found.unread)
    if found.sealed:
        before = amount(found.sealed, "judgment is of a pair", "judgments are of pairs")
        remarks.append(
            f"{before} that a release seals: whether the grades are those given before is not said."
        )
    if found.added_annotators:
        names = ", ".join(found.added_annotators)
        remarks = [f"Annotators known from imports only, who cannot sign in: {names}.", *remarks]
    figures = {"new judgments": found.judgments, "corrections": found.changed, "unchanged": found.unchanged}
    figures |= {"answered on screen since": found.superseded, "queries added": found.added_queries}
    figures |= {"judged before, sealed": found.sealed, "pairs added": found.added_pairs}
    return ImportOutcome(changes, sentence, "judgments", figures, found.left_out, remarks)


def judge_outcome(found: JudgeImport) -> ImportOutcome:
    changes = bool(found.judgments or found.changed)
    sentence = f"Nothing changed: the project has these judgments of {found.judge}."
    if changes:
        votes = "It is no vote" if found.judgments == 1 else "They are no votes"
        sentence = f"{amount(found.judgments, 'new judgment')} of the judge {found.judge}. {votes}."
    figures = {"new judgments": found.judgments, "corrections": found.changed, "unchanged": found.unchanged}
    figures |= {"cannot tell": found.cannot_tell, "pairs outside pools": found.outside_pools}
    return ImportOutcome(changes, sentence, "judgments", figures, found.left_out, _unread(found.unread))


def decisions(store: Store, request: ImportRequest, progress: Progress, author: str) -> ImportOutcome:
    """Decisions by the person who imports them; the options are `reason` and `every_pair`."""
    options = request.options
    query, document, grade = (request.field(name) or "" for name in ("query", "document", "grade"))
    if not (query and document and grade):
        raise InputError(
            "no column is known to hold the queries, the documents' ids or the final grades",
            path=request.file,
            way_out="Choose a column for each of them.",
        )
    lines = read_decision_lines(
        request.file,
        query,
        document,
        grade,
        str(options.get("reason") or ""),
        request.field("reason") or None,
        request.layout,
        progress,
    )
    every = bool(options.get("every_pair"))
    return decisions_outcome(decide_many(store, lines, author, every, request.file), len(lines))


def decisions_outcome(found: Decided, lines: int) -> ImportOutcome:
    sentence = f"{amount(found.decided, 'pair')} decided."
    if not found.decided:
        sentence = "Nothing changed: no pair of the file was to be decided."
    figures = {"pairs": found.decided, "lines": lines}
    return ImportOutcome(bool(found.decided), sentence, "lines", figures, found.left_out, [])


def _unread(unread: Mapping[str, int]) -> list[str]:
    return [f"Taken without it: {count:,} × {what}." for what, count in unread.items()]
