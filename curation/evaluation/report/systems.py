"""Report, the systems: every measure with its interval, what files held, times, the seal, and the method."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

from curation.core.reports.charts import intervals
from curation.core.reports.page import Section, Table
from curation.core.reports.plots import MOST_SERIES, PlotCurve, curves
from curation.core.text import amount
from curation.evaluation.evaluation import EvaluatedSystem, Evaluation
from curation.evaluation.figures.means import rate_of_few
from curation.evaluation.report.section import by_measure, interval, mark, share, with_own_n
from curation.evaluation.scoring.inputs.run_seconds import RunSeconds
from curation.evaluation.scoring.metrics.measures import WITHIN, measures_named
from curation.releases.release_rows import marked

SECONDS_COLUMNS = ("system", "run", "mean", "median", "p95", "queries", "note")


def write_systems(evaluation: Evaluation) -> list[Section]:
    headline = evaluation.measures[0]
    marks = [
        mark(system.name, system.overall[headline], _size(system, headline)) for system in evaluation.runs
    ]
    sentence = f"{headline}: {evaluation.about[headline]}. A query that a run misses counts 0."
    if evaluation.without_relevant:
        one = "query has no relevant document: it is"
        many = "queries have no relevant document: they are"
        sentence += (
            f"\n{amount(evaluation.without_relevant, one, many)} in no figure of a measure that needs one."
        )
    if evaluation.subtopics is not None:
        sentence += f"\n{evaluation.subtopics.sentence}"
    for remark in (*_system_remarks(evaluation), *_file_remarks(evaluation)):
        sentence += f"\n{remark}"
    few = rate_of_few(figure.n for system in evaluation.runs for figure in system.overall.values())
    tables = [_headline(evaluation, headline), _all_measures(evaluation), _files(evaluation)]
    spread = _seeds(evaluation, headline)
    return [
        Section(
            "Systems",
            sentence,
            (intervals(f"{headline} of each system", marks),),
            tuple(tables if spread is None else [*tables, spread]),
            "The interval says how far the mean would differ on other queries of the same kind."
            + (f" {few}" if few else ""),
        )
    ]


def _size(system: EvaluatedSystem, headline: str) -> str:
    return system.overall[headline].no_interval or ""


def _headline(evaluation: Evaluation, headline: str) -> Table:
    columns = ("system", headline, "95 %", "queries", "judged", "note")
    rows = []
    for system in evaluation.runs:
        figure = system.overall[headline]
        shown = (figure.value, interval(figure), figure.n, share(figure.judged))
        rows.append((system.name, *shown, figure.no_interval or ""))
    return Table(f"{headline} by system", columns, tuple(rows))


def _all_measures(evaluation: Evaluation) -> Table:
    totals = [one.name for one in measures_named(evaluation.measures) if one.summary == "total"]
    of_totals = f"; {', '.join(totals)}: total" if totals else ""
    return by_measure(
        f"Every measure: mean over {amount(evaluation.queries, 'query', 'queries')}{of_totals}",
        evaluation,
        lambda figure: with_own_n(figure, evaluation.queries),
    )


def _files(evaluation: Evaluation) -> Table:
    chunked = any(facts.chunks for system in evaluation.runs for facts in system.files)
    counted = ("chunks", "documents") if chunked else ("places",)
    others = ("queries missing", "unknown documents", "equal scores", "lines left out")
    rows = []
    for system in evaluation.runs:
        for facts in system.files:
            left_out = "; ".join(f"{count:,} {why}" for why, count in facts.left_out.items()) or "–"
            counts = (facts.places, facts.missing, facts.unknown_documents, facts.ties.documents)
            chunks = [facts.chunks.chunks if facts.chunks else "–"] * chunked
            rows.append((system.name, facts.source, *chunks, *counts, left_out))
    return Table("What the files held for these queries", ("system", "file", *counted, *others), tuple(rows))


def _system_remarks(evaluation: Evaluation) -> Iterator[str]:
    """How old the release is, and what each system returned that figures alone do not show."""
    if evaluation.age is not None:
        yield from evaluation.age.sentences(evaluation.release)
    for system in evaluation.runs:
        for remark in (system.copies, system.outdated):
            if remark is not None:
                yield remark.sentence(system.name)


def _file_remarks(evaluation: Evaluation) -> Iterator[str]:
    """What is wrong with the order of a file's lists, and what else has to be known of it."""
    if measures_named(evaluation.measures[:1])[0].of_chunks:
        yield "Judged are chunks whose documents have a grade. Equal scores and judged@k are of documents."
    for facts in (one for system in evaluation.runs for one in system.files):
        if facts.against_scores:
            queries = amount(facts.against_scores, "query has", "queries have")
            yield f"{facts.source}: {queries} ranks that contradict the scores; the scores count."
        yield from (f"{facts.source}: {sentence}" for sentence in facts.remarks)
        if mattering := facts.ties.mattering:
            queries = amount(mattering, "query", "queries")
            yield f"{facts.source}: another order of equal scores would give other figures of {queries}."


def write_context(evaluation: Evaluation) -> list[Section]:
    """Recall of evidence against words of context: which chunks to use."""
    known = {
        name: [(point.words, point.recall) for point in points if point.words and point.recall is not None]
        for name, points in evaluation.context.items()
    }
    few = [
        [point.words for point in points if point.k <= 10 and point.words]
        for points in evaluation.context.values()
    ]
    if not any(few):
        return []
    widest = float(median(max(words) for words in few if words))
    drawn = [
        PlotCurve(name, inside, inside[-1])
        for name, points in known.items()
        if (inside := [point for point in points if point[0] <= widest])
    ]
    columns = ("system", "chunks", "words", "recall", "95 %")
    rows = tuple(
        (name, point.k, None if point.words is None else round(point.words), point.recall, interval(point))
        for name, points in evaluation.context.items()
        for point in points
    )
    return [
        Section(
            "Recall against context",
            "What the first chunks hold of the evidence, and how many words a language model has to read for "
            "it. Of two lines the upper one finds more with the same words. Which differences are certain, "
            f"the comparison by {WITHIN}@w says.",
            (curves("Recall of evidence", "words of context", "recall", drawn[:MOST_SERIES], widest),),
            (Table("Recall of evidence by number of chunks", columns, rows),),
            "Words are those of the stored text; of scripts without spaces each sign is one."
            + (f" Lines are of the first {MOST_SERIES} systems." if len(drawn) > MOST_SERIES else ""),
        )
    ]


def _seeds(evaluation: Evaluation, headline: str) -> Table | None:
    rows = [
        (system.name, spread.runs, spread.mean, spread.sd)
        for system in evaluation.runs
        if (spread := system.seeds.get(headline)) is not None
    ]
    columns = ("system", "runs", "mean", "sd over runs")
    return Table(f"Several runs of one system: {headline}", columns, tuple(rows)) if rows else None


def write_seconds(evaluation: Evaluation) -> list[Section]:
    rows = [
        (system.name, run.source, *_seconds(run.seconds))
        for system in evaluation.runs
        for run in system.files
        if run.seconds is not None
    ]
    if not rows:
        return []
    sentence = "As the systems measured it. Times of different machines do not compare."
    return [
        Section("Time a query", sentence, (), (Table("Milliseconds a query", SECONDS_COLUMNS, tuple(rows)),))
    ]


def _seconds(seconds: RunSeconds) -> tuple[str, ...]:
    times = (seconds.mean, seconds.median, seconds.p95)
    shown = tuple("–" if time is None else f"{1000 * time:.1f}" for time in times)
    return (*shown, f"{seconds.n:,}" if seconds.n else "–", seconds.left_out or "")


def write_sealed(evaluation: Evaluation) -> list[Section]:
    count = evaluation.sealed_count
    if count is None:
        return []
    columns = ("parts", "sealed evaluations", "refused requests", "people", "reason of this one")
    row = (", ".join(count.parts), count.evaluations, count.refused, count.people, count.reason)
    sentence = (
        "Each sealed evaluation makes a part a little less of a test: systems are chosen by its figures. "
        "The release has the log of all sealed evaluations."
    )
    return [Section("Sealed evaluations", sentence, (), (Table("So far", columns, (row,), words=True),))]


def write_method(evaluation: Evaluation) -> list[Section]:
    measures = tuple((name, evaluation.about[name]) for name in evaluation.measures)
    facts = [
        ("release", marked(evaluation.release, evaluation.mark)),
        ("release id", evaluation.release_id),
        ("parts", ", ".join(evaluation.parts)),
        ("sealed parts evaluated", ", ".join(evaluation.sealed) or "none"),
        ("relevant", f"grade {evaluation.relevant_grade} and above"),
        ("seed", str(evaluation.seed)),
        ("resamples", f"{evaluation.resamples:,}"),
        *((f"version of {name}", version) for name, version in evaluation.versions.items()),
    ]
    return [
        Section(
            "Method",
            "Lists are ordered by score in double precision, as in trec_eval 10. Equal scores are ordered by "
            "document id, descending.",
            (),
            (
                Table("Measures", ("measure", "what it computes"), measures, words=True),
                Table("To compute it again", ("what", "value"), tuple(facts), words=True),
            ),
        )
    ]
