"""`goldgrade split`: split the graded queries into parts that share nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from curation.cli.leakage import NoTimeBlock, refuse_time_block
from curation.cli.options import with_options_of
from curation.cli.output import carry_out, emit, left_out, say
from curation.cli.program import Json, app, project_store
from curation.core.errors import InputError
from curation.core.text import amount, percent
from curation.splits.request import PARTS, NewSplit
from curation.store import Store

if TYPE_CHECKING:
    from curation.splits.assignment.by_time import ByTime
    from curation.splits.split import SplitReport


@app.command()
@with_options_of(NewSplit)
def split(
    request: NewSplit,
    dev: Annotated[
        float | None, typer.Option(help="Share of the queries for developing.", show_default="0.7")
    ] = None,
    test: Annotated[
        float | None, typer.Option(help="Share of the queries for testing.", show_default="0.3")
    ] = None,
    part: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=FRACTION", help="Part and its share. Repeatable."),
    ] = None,
    time_block: NoTimeBlock = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Ignore the parts that released queries have.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Split the graded queries so that nothing leaks. No text, intent or document ties queries of two parts.

    Two queries stay together when their texts are similar or paraphrases, when a document is relevant to
    both, or when documents relevant to them are near-duplicates. --same adds other ties.
    Whole groups of tied queries are assigned so that strata, sources and tags are spread evenly. Queries of a
    release keep their part.

    \b
    Examples:
      goldgrade split --dev 0.7 --test 0.3 --seed 1
      goldgrade split --part train=0.6 --dev 0.2 --test 0.2 --no-paraphrase
      goldgrade split --relevant-grade 2 --document-threshold 0.9 --json
      goldgrade split --cut "q3f2~q81c" --cut "ipad case~iphone case" --largest-group 0.1
      goldgrade split --by-time --same session --undated dev
      goldgrade split --numbers apart --fresh
    """
    from curation.operations.registry import OPERATIONS

    refuse_time_block(time_block)
    if fresh and request.options.keep is not None:
        raise InputError("--keep and --fresh contradict each other: expected one of them.")
    if fresh:
        request = replace(request, options=replace(request.options, keep=()))
    asked = replace(request, parts=_parts(dev, test, part or ()))
    report, _ = carry_out(OPERATIONS["split"], asked)
    emit(as_json, report, lambda: _show_split(report, _query_texts(project_store())))


def _parts(dev: float | None, test: float | None, named: Sequence[str]) -> tuple[tuple[str, float], ...]:
    """Parts and fractions; those named by --part first, in their order."""
    if dev is None and test is None and not named:
        return tuple(PARTS.items())
    given = [*(_part(text) for text in named), ("dev", dev), ("test", test)]
    return tuple((name, share) for name, share in given if share is not None and (share or name not in PARTS))


def _part(text: str) -> tuple[str, float]:
    name, _, fraction = text.partition("=")
    try:
        return name, float(fraction)
    except ValueError:
        raise InputError(f"--part {text}: expected NAME=FRACTION, such as train=0.6") from None


def _query_texts(store: Store) -> dict[str, str]:
    from curation.ingest.importers.queries import active_queries

    with store.reading() as cursor:
        return {query.query_id: query.text for query in active_queries(cursor)}


def _show_split(report: SplitReport, texts: dict[str, str]) -> None:
    from curation.cli.certificate import show_certificate
    from curation.splits.refusals import chain_lines, edge_sentence, remaining_lines

    if not report.created:
        say("Unchanged: the same split exists already and is the current one.")
    show_certificate(report.certificate)
    ties = ", ".join(f"{count:,} by {kind}" for kind, count in report.ties.items() if count)
    say(
        f"Ties between queries: {ties or 'none'}; {sum(report.edges.values()):,} of the strongest hold the "
        "groups together and are kept."
    )
    if report.cut:
        say("Cut by name:", *(f"  {edge_sentence(edge, texts)}" for edge in report.cut))
    for pair in report.remaining_ties:
        say(*remaining_lines(pair, texts))
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
            f"WARNING: one group holds {amount(len(group.queries), 'query', 'queries')} "
            f"({percent(group.share)} of all)"
            + (f", and {group.spoils}." if group.spoils else "; the parts are as asked for all the same."),
            group.most_ties,
            f"Its far ends are tied by a chain of {len(group.chain)}:",
            *chain_lines(group.chain, texts),
        )
    left_out(report.left_out, "×")
    say("Next: goldgrade freeze NAME")


def _show_by_time(by_time: ByTime) -> None:
    begins = "; ".join(f"{part} from {time:%Y-%m-%d %H:%M:%S}" for part, time in by_time.begins.items())
    say(
        f"By time: {begins}. {by_time.spanning:,} groups span a cut and went by their first query, with "
        f"{amount(by_time.late, 'query', 'queries')} that were first asked after the next part begins."
    )
    if by_time.undated:
        say(f"{amount(by_time.undated, 'query has', 'queries have')} no time and went where --undated says.")
    if by_time.against:
        say(
            f"{amount(by_time.against, 'group stays', 'groups stay')} where a release has them, against "
            "the cut."
        )
