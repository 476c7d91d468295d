"""`goldset split`: split the graded queries into parts that share nothing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated

import typer

from curation.cli.goldset import Json, Seed, app, project_store
from curation.cli.output import emit, left_out, progress_bar, say
from curation.errors import InputError
from curation.store import Store
from curation.text import amount, percent

if TYPE_CHECKING:
    from curation.splits.assignment.by_time import ByTime
    from curation.splits.split import SplitReport

RelevantGrade = Annotated[
    int | None,
    typer.Option(help="Lowest grade of a relevant document; default: all above the scale's lowest."),
]
NoParaphrase = Annotated[
    bool, typer.Option("--no-paraphrase", help="Paraphrases make no ties; needs no model.")
]
NoSharedDocuments = Annotated[
    bool, typer.Option("--no-shared-documents", help="A document relevant to both queries makes no tie.")
]
ParaphraseModel = Annotated[
    str | None,
    typer.Option(
        help="Model for paraphrases; for other languages than English a multilingual one: docs/languages.md.",
        show_default="as for pools",
    ),
]

USUAL = ("dev", "test")
SPANS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}


@app.command()
def split(
    dev: Annotated[
        float | None, typer.Option(help="Share of the queries for developing.", show_default="0.7")
    ] = None,
    test: Annotated[
        float | None, typer.Option(help="Share of the queries for testing.", show_default="0.3")
    ] = None,
    part: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=FRACTION", help="A part and its share. Repeatable."),
    ] = None,
    seed: Seed = 0,
    query_threshold: Annotated[
        float,
        typer.Option(help="Minimum similarity (Jaccard of character 3-grams) that ties two query texts."),
    ] = 0.65,
    paraphrase_threshold: Annotated[
        float | None,
        typer.Option(help="Minimum cosine of embeddings that ties two queries.", show_default="0.8"),
    ] = None,
    document_threshold: Annotated[
        float,
        typer.Option(help="Minimum similarity (Jaccard of word 3-shingles) that ties relevant documents."),
    ] = 0.8,
    no_query_text: Annotated[
        bool, typer.Option("--no-query-text", help="Similar query texts make no ties.")
    ] = False,
    no_paraphrase: NoParaphrase = False,
    no_shared: NoSharedDocuments = False,
    no_near_duplicates: Annotated[
        bool, typer.Option("--no-near-duplicates", help="Near-duplicate relevant documents make no ties.")
    ] = False,
    same: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY",
            help="Tie queries with the same session, the same group of a relevant document, or the same "
            "value of a field of the query. Repeatable.",
        ),
    ] = None,
    time_block: Annotated[
        str | None,
        typer.Option(metavar="SPAN", help="Tie queries first asked within the same block: 30m, 1h, 7d, 2w."),
    ] = None,
    numbers: Annotated[
        str,
        typer.Option(
            help="Numbers and model names in queries: text (compared like other words), apart (queries with "
            "different ones are not tied by their words), tie (left out of the comparison)."
        ),
    ] = "text",
    model: ParaphraseModel = None,
    relevant_grade: RelevantGrade = None,
    cut: Annotated[
        list[str] | None,
        typer.Option(
            metavar="A~B",
            help="Two queries, by id or text, whose direct ties do not count; reported as residual leakage; "
            "may be given several times.",
        ),
    ] = None,
    largest_group: Annotated[
        float | None,
        typer.Option(
            help="Largest share of the queries that one leakage group may have.",
            show_default="any, unless a group over 0.05 spoils the parts",
        ),
    ] = None,
    by_time: Annotated[
        bool,
        typer.Option(
            "--by-time",
            help="Split by the time when queries were first asked: the parts of --part in order, then dev, "
            "then test.",
        ),
    ] = False,
    undated: Annotated[
        str | None,
        typer.Option(
            metavar="PART", help="With --by-time: the part for queries without a time.", show_default="refuse"
        ),
    ] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(
            metavar="RELEASE",
            help="Release whose queries keep their parts. Repeatable.",
            show_default="all releases",
        ),
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Ignore the parts that released queries have.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Split the graded queries so that nothing leaks. No text, intent or document ties queries of two parts.

    Two queries stay together when their texts are similar or paraphrases, when a document is relevant to
    both, or when documents relevant to them are near-duplicates. --same and --time-block add other ties.
    Whole groups of tied queries are assigned so that strata, sources and tags are spread evenly. Queries of a
    release keep their part.

    \b
    Examples:
      goldset split --dev 0.7 --test 0.3 --seed 1
      goldset split --part train=0.6 --dev 0.2 --test 0.2 --no-paraphrase
      goldset split --relevant-grade 2 --document-threshold 0.9 --json
      goldset split --cut "q3f2~q81c" --cut "ipad case~iphone case" --largest-group 0.1
      goldset split --by-time --same session --undated dev
      goldset split --numbers apart --time-block 1d --fresh
    """
    from curation.splits.groups.named_cuts import parsed_cut
    from curation.splits.request import AssignmentOptions
    from curation.splits.rules import Rules
    from curation.splits.split import make_split

    standard = Rules()
    paraphrase = standard.paraphrase if paraphrase_threshold is None else paraphrase_threshold
    rules = Rules(
        query=None if no_query_text else query_threshold,
        paraphrase=None if no_paraphrase else paraphrase,
        document=None if no_near_duplicates else document_threshold,
        shared=not no_shared,
        keys=tuple(same or ()),
        time_block=None if time_block is None else _seconds(time_block),
        numbers=numbers,  # type: ignore[arg-type]  # checked with the other rules
        model=model or standard.model,
        cut=tuple(map(parsed_cut, cut or ())),
    )
    if keep and fresh:
        raise InputError("--keep and --fresh contradict each other: expected one of them.")
    kept_releases = tuple(keep) if keep else None
    options = AssignmentOptions(by_time, undated, () if fresh else kept_releases, largest_group)
    store = project_store()
    with progress_bar() as progress:
        report = make_split(
            store, _parts(dev, test, part or ()), seed, rules, relevant_grade, options, progress
        )
    emit(as_json, report, lambda: _show_split(report, _query_texts(store)))


def _parts(dev: float | None, test: float | None, named: list[str] | tuple[str, ...]) -> dict[str, float]:
    """Part → fraction; those named by --part first, in their order."""
    from curation.splits.request import named_parts

    if dev is None and test is None and not named:
        return {"dev": 0.7, "test": 0.3}
    given = [*(_part(text) for text in named), ("dev", dev), ("test", test)]
    return named_parts(
        [(name, share) for name, share in given if share is not None and (share or name not in USUAL)]
    )


def _part(text: str) -> tuple[str, float]:
    name, _, fraction = text.partition("=")
    try:
        return name, float(fraction)
    except ValueError:
        raise InputError(f"--part {text}: expected NAME=FRACTION, such as train=0.6") from None


def _seconds(span: str) -> int:
    found = re.fullmatch(r"([1-9]\d*)([smhdw])", span)
    if found is None:
        raise InputError(f"--time-block {span}: expected a number and s, m, h, d or w, such as 30m or 7d")
    return int(found[1]) * SPANS[found[2]]


def _query_texts(store: Store) -> dict[str, str]:
    from curation.sources.queries import active_queries

    with store.reading() as cursor:
        return {query.query_id: query.text for query in active_queries(cursor)}


def _show_split(report: SplitReport, texts: dict[str, str]) -> None:
    from curation.cli.certificate import show_certificate
    from curation.splits.refusals import chain_lines, edge_sentence, still_tied_lines

    if not report.created:
        say("Unchanged: the same split exists already and is the current one.")
    show_certificate(report.certificate)
    ties = ", ".join(f"{count:,} by {kind}" for kind, count in report.ties.items() if count)
    say(
        f"Ties between queries: {ties or 'none'}; {sum(report.edges.values()):,} of the strongest hold the "
        "groups together and are kept."
    )
    if report.missed:
        say(f"{report.missed:,} of them were missed by the search and found by the exhaustive check.")
    if report.cut:
        say("Cut by name:", *(f"  {edge_sentence(edge, texts)}" for edge in report.cut))
    for held in report.still_tied:
        say(*still_tied_lines(held, texts))
    if report.groups_across:
        groups = "1 group" if report.groups_across == 1 else f"{report.groups_across:,} groups"
        say(
            f"{groups} of documents (`--group-field` of the corpus) are relevant in several parts. If the "
            "documents of a group answer the same question, keep them together: --same group."
        )
    if report.kept:
        say(f"{amount(report.kept, 'query keeps', 'queries keep')} the part that a release has them in.")
    if report.disagreeing:
        say(f"{report.disagreeing:,} of them are in different parts of releases: the newest counts.")
    if report.by_time is not None:
        _show_by_time(report.by_time)
    for group in report.large_groups:
        say(
            "",
            f"WARNING: one group holds {amount(group.queries, 'query', 'queries')} "
            f"({percent(group.share)} of all)"
            + (f", and {group.spoils}." if group.spoils else "; the parts are as asked for all the same."),
            group.most_ties,
            f"Its far ends are tied by a chain of {len(group.chain)}:",
            *chain_lines(group.chain, texts),
        )
    left_out(report.left_out, "×")
    say("Next: goldset freeze NAME")


def _show_by_time(found: ByTime) -> None:
    begins = "; ".join(f"{part} from {time:%Y-%m-%d %H:%M:%S}" for part, time in found.begins.items())
    say(
        f"By time: {begins}. {found.spanning:,} groups span a cut and went by their first query, with "
        f"{amount(found.late, 'query', 'queries')} that were first asked after the next part begins."
    )
    if found.undated:
        say(f"{amount(found.undated, 'query has', 'queries have')} no time and went where --undated says.")
    if found.against:
        say(
            f"{amount(found.against, 'group stays', 'groups stay')} where a release has them, against "
            "the cut."
        )
