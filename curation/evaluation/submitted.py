"""Submitted runs: evaluations that were made on the page Evaluate, and the leaderboard of a release's part.

Who submitted sees the whole evaluation again, and so does the lead. Everybody who may evaluate sees the rows
of the leaderboard: system, figure, interval and who. Of a sealed part leads see what leads
evaluated, on the page or elsewhere, and evaluators see the rounded figures of evaluators. The rows of other
parts are what was submitted on the page.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np

from curation.core.errors import NotFoundError, RefusedError
from curation.core.reports.charts import Mark
from curation.core.text import canonical_json, digest, plain
from curation.evaluation.answers.answer_evaluation import AnswerEvaluation
from curation.evaluation.comparison.leaderboard import LeaderboardRow, leaderboard
from curation.evaluation.comparison.pairs import SystemValues, compare_systems
from curation.evaluation.evaluation import Evaluation
from curation.evaluation.first_places import FirstPlaces
from curation.evaluation.report.page import EvaluationReport, answers_report, evaluation_report, stored_report
from curation.evaluation.scoring.inputs.facets import dimensions_of, facet_names
from curation.evaluation.scoring.inputs.release import scale_of
from curation.evaluation.scoring.inputs.run_chunks import said_of_texts
from curation.evaluation.scoring.metrics.evidence import RunChunks
from curation.evaluation.scoring.metrics.measures import CHUNK_MEASURES, DEFAULT_MEASURES, measures_for
from curation.people.annotators import EVALUATING, require_author, require_role
from curation.people.seal_access import sealed_parts
from curation.releases.release_rows import gate_override_of, list_releases
from curation.releases.sealed_evaluations import SealedEvaluation, query_values, sealed_evaluations
from curation.store import Annotator, Cursor, Store, append, fetch, record_event, utc_now
from curation.store.release_parts import PartText, read_parts

LISTED = 20
"""Documents of each list that are kept, so that lists can be read side by side; none of sealed parts."""
MOST_ROWS = 20
"""Rows of a leaderboard; each is compared with each."""


class SubmittedEvaluation(NamedTuple):
    """One evaluation in a list."""

    evaluation_id: str
    name: str
    parts: list[str]
    sealed: list[str]
    systems: list[str]
    author: str
    made_at: datetime


class SubmittedRun(NamedTuple):
    """A run that was scored on a part: the figure of a measure, and values of queries to compare it by.

    Attributes
    ----------
    by_text: whether it has chunks by texts that their documents have several times.
    """

    system: str
    by: str
    at: datetime
    figure: Mapping[str, Any]
    values: Mapping[str, float | None]
    by_text: bool = False


class SubmittedRow(NamedTuple):
    """A row of the leaderboard, and the run that it is of."""

    row: LeaderboardRow
    run: SubmittedRun


class SubmittedBoard(NamedTuple):
    """A leaderboard by one measure; `left_out` is reason → number of runs."""

    measure: str
    rows: tuple[SubmittedRow, ...]
    left_out: dict[str, int]

    @property
    def remark(self) -> str:
        """What has to be known before rows are compared."""
        return said_of_texts({row.row.system: row.run.by_text for row in self.rows})


def store_submitted(
    store: Store, evaluation: Evaluation | None, answered: AnswerEvaluation | None, author: str
) -> str:
    """Store the evaluation of runs, of answers, or of both for its author; returns its id.

    Parameters
    ----------
    found, answered: one of them is there.

    Raises
    ------
    NotFoundError, RefusedError: the author may not evaluate.
    """
    values: dict[str, Any] = {}
    systems: list[str] = []
    about: Evaluation | AnswerEvaluation
    if answered is not None:
        about, report, values["answers"] = answered, answers_report(answered), plain(answered)
        systems += [system.name for system in answered.systems]
    if evaluation is not None:
        about, report, values = (
            evaluation,
            evaluation_report(evaluation, answered),
            plain(evaluation) | values,
        )
        systems = list(dict.fromkeys([*(system.name for system in evaluation.runs), *systems]))
    result, page = json.dumps(values), canonical_json(plain(report))
    with store.transaction(appends=True) as cursor:
        require_author(cursor, author, *EVALUATING)
        (number,) = cursor.execute("SELECT count(*) FROM evaluations").fetchall()[0]
        evaluation_id = digest("evaluation", number, author, result)
        row: list[Any] = [evaluation_id, about.release_id, about.release, list(about.parts)]
        row += [list(about.sealed), systems, result, page, author, utc_now()]
        cursor.execute("INSERT INTO evaluations VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
        detail = {"evaluation": evaluation_id, "release": about.release_id, "systems": systems}
        record_event(cursor, "submit runs", detail, author)
        if evaluation is not None:
            for system, places in evaluation.lists.items():
                append(cursor, "evaluation_lists", _first_places(evaluation_id, system, places, evaluation))
                if (chunks := places.chunks) is not None:
                    columns = _first_places(evaluation_id, system, chunks, evaluation)
                    inside = chunks.rank <= LISTED
                    columns |= {
                        "start_at": chunks.start[inside].tolist(),
                        "end_at": chunks.end[inside].tolist(),
                    }
                    append(cursor, "evaluation_chunks", columns | {"words": chunks.words[inside].tolist()})
    return evaluation_id


def _first_places(
    evaluation_id: str, system: str, places: FirstPlaces | RunChunks, evaluation: Evaluation
) -> dict[str, list[Any]]:
    """The first documents or chunks of a system's lists, as columns."""
    inside, ids = places.rank <= LISTED, evaluation.query_ids or ()
    queries = [ids[query] for query in places.query[inside].tolist()]
    return {
        "evaluation_id": [evaluation_id] * len(queries),
        "system": [system] * len(queries),
        "query_id": queries,
        "rank": places.rank[inside].tolist(),
        "document_id": places.documents.filter(inside).to_pylist(),
    }


class EvaluableRelease(NamedTuple):
    """What can be asked about a release.

    Attributes
    ----------
    parts: part → whether it is sealed; those that are not come first.
    scale: its grades, ascending.
    measures: the default ones that its scale allows, with evidence those of chunks. facets: names of all.
    mark: that it was frozen against the gate, where it was.
    """

    parts: dict[str, bool]
    measures: tuple[str, ...]
    facets: tuple[str, ...]
    scale: tuple[int, ...]
    mark: str | None = None


def evaluable_release(cursor: Cursor, release_id: str) -> EvaluableRelease:
    """What can be asked about a release. Evaluating verifies it.

    Raises
    ------
    RefusedError: the release is not as it was frozen.
    """
    try:
        stored = read_parts(cursor, release_id, ["release", "guides", "sampling", "coverage", "evidence"])
        (header,) = stored["release"]
        sealed = sealed_parts(header)
        names = sorted(header["queries"], key=lambda part: (part in sealed, part))
        scale = scale_of(list(stored["guides"]))
        usual = CHUNK_MEASURES if "evidence" in stored else DEFAULT_MEASURES
        return EvaluableRelease(
            parts={part: part in sealed for part in names},
            measures=tuple(one.name for one in measures_for(scale, None, usual)),
            facets=facet_names(dimensions_of(list(stored.get("sampling", PartText()))), "coverage" in stored),
            scale=tuple(scale),
            mark=gate_override_of(header),
        )
    except (KeyError, ValueError) as error:
        raise RefusedError(
            "The release is not as it was frozen.", command="`goldgrade verify` says where."
        ) from error


def submitted_evaluations(cursor: Cursor, annotator: Annotator) -> list[SubmittedEvaluation]:
    """The evaluations that somebody may see whole, newest first: their own, or all for the lead."""
    require_role(annotator, *EVALUATING)
    sql = f"""
        SELECT {", ".join(SubmittedEvaluation._fields)} FROM evaluations
        WHERE author = ? OR ? = 'lead' ORDER BY rowid DESC
    """  # noqa: S608
    return fetch(cursor, SubmittedEvaluation, sql, [annotator.name, annotator.role])


def submitted_report(
    cursor: Cursor, evaluation_id: str, annotator: Annotator
) -> tuple[EvaluationReport, str]:
    """The report of an evaluation that somebody may see, and the whole of it as JSON.

    Raises
    ------
    NotFoundError: there is none of that id, or it is somebody else's.
    """
    page, result = submitted_texts(cursor, evaluation_id, annotator)
    return stored_report(page), result


def submitted_texts(cursor: Cursor, evaluation_id: str, annotator: Annotator) -> tuple[str, str]:
    """The report of an evaluation that somebody may see and the whole of it, both as JSON.

    Raises
    ------
    NotFoundError: there is none of that id, or it is somebody else's.
    """
    require_role(annotator, *EVALUATING)
    sql = "SELECT page, result FROM evaluations WHERE evaluation_id = ? AND (author = ? OR ? = 'lead')"
    rows = cursor.execute(sql, [evaluation_id, annotator.name, annotator.role]).fetchall()
    if not rows:
        raise NotFoundError("There is no such evaluation of yours.")
    return str(rows[0][0]), str(rows[0][1])


def board(cursor: Cursor, release_id: str, parts: Sequence[str], sealed: bool) -> list[SubmittedRun]:
    """All runs that were scored on exactly these parts, by writing."""
    return _sealed(cursor, release_id, parts) if sealed else _evaluated(cursor, release_id, parts)


def _sealed(cursor: Cursor, release_id: str, parts: Sequence[str]) -> list[SubmittedRun]:
    found = [
        row
        for row in sealed_evaluations(cursor, release_id)
        if row.evaluated == list(parts) and row.shown and not (row.of_answers or row.rounded)
    ]
    values: dict[str, dict[str, float | None]] = {}
    for query_value in query_values(cursor, [row.evaluation_id for row in found]):
        values.setdefault(query_value.evaluation_id, {})[query_value.query_id] = query_value.value
    return [
        SubmittedRun(
            *(row.system, row.evaluated_by, row.evaluated_at, first_figure(row.shown)),
            values.get(row.evaluation_id, {}),
        )
        for row in found
    ]


def rounded_evaluations(cursor: Cursor, release_id: str, part: str) -> list[SealedEvaluation]:
    """The rounded figures of a sealed part that evaluators had, newest first: what evaluators see of it."""
    found = [row for row in sealed_evaluations(cursor, release_id) if part in row.parts]
    return [row for row in reversed(found) if row.rounded and row.shown]


def histories(cursor: Cursor, part: str, measure: str, annotator: Annotator) -> dict[str, list[Mark]]:
    """System → its figures on a part of all releases in the order of freezing, those of each by writing.

    Marks of one day are numbered.

    Of a sealed part leads alone see them.
    """
    require_role(annotator, *EVALUATING)
    found: dict[str, list[Mark]] = {}
    for release_id, name in {row.release_id: row.name for row in list_releases(cursor)}.items():
        sealed = evaluable_release(cursor, release_id).parts.get(part)
        if sealed is None or (sealed and annotator.role != "lead"):
            continue
        for run in board(cursor, release_id, [part], sealed):
            figure = run.figure
            if figure["measure"] == measure and figure["value"] is not None:
                marks, day = found.setdefault(run.system, []), f"{run.at:%Y-%m-%d}"
                again = sum(mark.name.startswith(day) for mark in marks)
                when, about = (
                    f"{day} ({again + 1})" if again else day,
                    f"{name}, {figure['n']:,} queries, {run.by}",
                )
                mark = Mark(when, figure["value"], figure["low"], figure["high"], size=about)
                marks.append(mark)
    return found


def first_figure(figures: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The figure of the first measure, with its name as `measure`."""
    measure, figure = next(iter(figures.items()))
    return {"measure": measure, **figure}


def _evaluated(cursor: Cursor, release_id: str, parts: Sequence[str]) -> list[SubmittedRun]:
    sql = """
        SELECT result, author, made_at FROM evaluations
        WHERE release_id = ? AND parts = ?::TEXT[] AND len(sealed) = 0 ORDER BY rowid
    """
    found = []
    for text, author, made_at in cursor.execute(sql, [release_id, list(parts)]).fetchall():
        result = json.loads(str(text))
        for system in result.get("runs", ()):  # none where answers alone were submitted
            measure = result["measures"][0]
            values = dict(zip(result["query_ids"], system["per_query"][measure], strict=True))
            figure = {"measure": measure, **system["overall"][measure]}
            counts = [facts.get("chunks") or {} for facts in system["files"]]
            by_text = any(count.get("twice") for count in counts)
            found.append(SubmittedRun(system["name"], author, made_at, figure, values, by_text))
    return found


def ranked(runs: Sequence[SubmittedRun], measure: str, seed: int = 0) -> SubmittedBoard:
    """The leaderboard: the best rows, each told apart from others only where tests of all pairs do.

    The same system with the same values is one row, the first. Others of its name get a number.
    """
    left_out = {
        "another first measure": 0,
        "no figure was shown": 0,
        "the same figures again": 0,
        f"below the first {MOST_ROWS}": 0,
    }
    named: dict[str, SubmittedRun] = {}
    seen: set[tuple[str, str]] = set()
    for run in runs:
        key = (run.system, canonical_json(dict(run.values)))
        if run.figure["measure"] != measure:
            left_out["another first measure"] += 1
        elif run.figure["value"] is None:
            left_out["no figure was shown"] += 1
        elif key in seen:
            left_out["the same figures again"] += 1
        else:
            again = sum(other.system == run.system for other in named.values())
            named[run.system if not again else f"{run.system} #{again + 1}"] = run
        seen.add(key)
    best = sorted(named, key=lambda name: (-named[name].figure["value"], name))[:MOST_ROWS]
    left_out[f"below the first {MOST_ROWS}"] = len(named) - len(best)
    chosen = {name: named[name] for name in best}
    means = {name: run.figure["value"] for name, run in chosen.items()}
    rows = tuple(SubmittedRow(row, chosen[row.system]) for row in leaderboard(means, _compared(chosen, seed)))
    return SubmittedBoard(measure, rows, {why: count for why, count in left_out.items() if count})


def _compared(runs: Mapping[str, SubmittedRun], seed: int) -> Any:
    if len(runs) < 2:
        return ()
    queries = sorted({query for run in runs.values() for query in run.values})
    values = np.array(
        [
            [np.nan if (value := run.values.get(query)) is None else value for query in queries]
            for run in runs.values()
        ]
    )
    of = SystemValues(tuple(runs), ("measure",), values[:, :, np.newaxis])
    return compare_systems(of, {}, seed=seed)
