"""`goldset sample` and `goldset pool`: which queries, and which documents for them, will be judged."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from curation.cli import app, project_store
from curation.cli.output import Json, Seed, left_out, print_json, progress_bar, say, table, write_page
from curation.errors import InputError

if TYPE_CHECKING:
    from curation.pooling import PoolReport
    from curation.sampling import SampleReport


@app.command()
def sample(
    context: typer.Context,
    size: Annotated[
        int | None,
        typer.Option(help="How many distinct queries to draw, exactly; needed unless topping up to quotas."),
    ] = None,
    seed: Seed = 0,
    strata: Annotated[
        str,
        typer.Option(
            help="What the strata are made of, by commas: band, segment, length, tag:NAME, field:NAME."
        ),
    ] = "band",
    design: Annotated[
        str, typer.Option(help="stratified, or pps: probability proportional to traffic.")
    ] = "stratified",
    allocation: Annotated[
        str | None,
        typer.Option(
            help="The strata's shares: equal, or as their traffic: proportional, or its square-root; or "
            "neyman, as figures vary in a release.",
            show_default="equal",
        ),
    ] = None,
    from_release: Annotated[
        str | None, typer.Option(help="For neyman: the release that tells how much figures vary.")
    ] = None,
    run: Annotated[
        str | None,
        typer.Option(
            help="For neyman: the imported run whose nDCG@10 on that release varies.",
            show_default="the share of judged candidates that are relevant",
        ),
    ] = None,
    quota: Annotated[
        list[str] | None,
        typer.Option(help="STRATUM=N: exactly N from this stratum; the others share the rest. Repeatable."),
    ] = None,
    head: Annotated[
        float, typer.Option(help="The head is the most asked queries, up to this share of the traffic.")
    ] = 1 / 3,
    torso: Annotated[
        float, typer.Option(help="The torso reaches from there to this share; the rest is tail.")
    ] = 2 / 3,
    since: Annotated[str | None, typer.Option(help="Only traffic from this time on, UTC.")] = None,
    until: Annotated[
        str | None, typer.Option(help="Only traffic before this time, UTC: 2026-04-01 ends with March.")
    ] = None,
    min_count: Annotated[int, typer.Option(help="Only queries asked at least so often.")] = 1,
    exclude_judged: Annotated[
        bool,
        typer.Option("--exclude-judged", help="Leave out queries that a round shows or a release holds."),
    ] = False,
    exclude_released: Annotated[
        bool, typer.Option("--exclude-released", help="Leave out queries that any release holds.")
    ] = False,
    exclude_release: Annotated[
        list[str] | None, typer.Option(help="Leave out queries that this release holds. Repeatable.")
    ] = None,
    group_spellings: Annotated[
        bool, typer.Option(help="Draw spellings that are one slip apart as one query, with all its traffic.")
    ] = True,
    model: Annotated[
        str, typer.Option(help="Embedding model of the tag synonym: a name or a folder.")
    ] = "all-MiniLM-L6-v2",
    top_up: Annotated[
        bool,
        typer.Option(
            "--top-up",
            help="Add queries to the current sample and keep all of it: up to each --quota, or to --size.",
        ),
    ] = False,
    html: Annotated[
        Path | None, typer.Option(help="Also write a page with a chart of sample against traffic here.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Draw the queries to be judged from all imported traffic, without replacement.

    Without further options head, torso and tail get equal shares of the sample; what a small stratum
    cannot use goes to the others. Strata of several dimensions are crossed and named like
    `head · docs-site · short`. Length is short up to 2 words, long from 6. A tag makes two strata, such as
    `question` and `not question`; a field is a further field of the log (`import traffic --metadata-field`).
    Queries asked equally often stay in one band. Each query keeps the probability with which it was drawn.
    The sample becomes the current one; earlier samples stay stored.

    Neyman's allocation gives more to strata with many queries and varying figures: in a release that was
    sampled by the same strata, and with a run that was imported, it makes the error of a mean over searches
    smallest. With `--top-up` a slice that came out too small gets more queries: each `--quota` is then a
    least number, no earlier query is lost, and all keep right probabilities; seed, strata and limits are the
    current sample's.

    \b
    Examples:
      goldset sample --size 200 --seed 7
      goldset sample --size 200 --seed 7 --head 0.5 --torso 0.8 --json
      goldset sample --size 300 --strata band,segment --allocation square-root --html sample.html
      goldset sample --size 200 --strata band,tag:question,field:country
      goldset sample --size 200 --design pps --since 2026-01-01 --until 2026-04-01
      goldset sample --size 260 --seed 7 --quota head=67 --quota torso=67
      goldset sample --top-up --quota tail=40 --quota torso=40
      goldset sample --top-up --size 300
      goldset sample --size 200 --allocation neyman --from-release v1 --run bm25-tuned --exclude-release v1
      goldset sample --size 50 --seed 8 --min-count 2 --exclude-judged --exclude-released
    """
    from curation import sampling
    from curation.sampling.chart import sample_page

    store = project_store(context)
    _refuse_no_page(html, store.path)
    if top_up:
        _refuse_other_options(context)
        with progress_bar() as progress:
            report = sampling.top_up(store, sampling.read_quotas(quota or []), size, progress)
    else:
        if size is None:
            raise InputError(
                "No --size was given; expected how many queries to draw, for instance --size 200."
            )
        plan = sampling.Plan(
            *(_listed(strata), design, allocation, sampling.read_quotas(quota or []), head, torso),
            *(from_release, run),
        )
        limits = sampling.Limits(
            *(_time("--since", since), _time("--until", until), min_count, exclude_judged, group_spellings),
            *(exclude_released, tuple(exclude_release or ())),
        )
        with progress_bar() as progress:
            report = sampling.draw_sample(store, size, seed, plan, limits, progress, model)
    if html is not None:
        page = sample_page(
            report.sample_id, report.strata, report.parameters, report.left_out, report.warnings
        )
        write_page(html, page, "the sample was drawn, but ")
    if as_json:
        print_json(report)
    else:
        _show_sample(report)
        if html is not None:
            say(f"The chart is in {html}.")


@app.command()
def pool(
    context: typer.Context,
    systems: Annotated[
        str,
        typer.Option(help="Systems that propose documents, by commas: bm25, dense, hybrid, run:NAME."),
    ] = "bm25,dense,hybrid",
    depth: Annotated[int, typer.Option(help="How many documents to take from the top of each system.")] = 10,
    random_negatives: Annotated[
        int, typer.Option(help="Random documents for each query from outside every system's first 1,000.")
    ] = 5,
    budget: Annotated[
        int | None,
        typer.Option(
            help="At most so many pairs of the systems, evenly over queries.", show_default="no limit"
        ),
    ] = None,
    seed: Seed = 0,
    model: Annotated[
        str, typer.Option(help="Embedding model of dense and hybrid: a name or a folder.")
    ] = "all-MiniLM-L6-v2",
    as_json: Json = False,
) -> None:
    """Find the documents to be judged for each query: the union of the systems' top and random negatives.

    Every candidate keeps the systems, ranks and scores that proposed it. Embeddings are computed once and
    stored; an interrupted run goes on where it was. A budget goes round: each query's best-ranked candidate,
    each one's second, and so on until it is used; random negatives come on top.

    \b
    Examples:
      goldset pool --systems bm25 --depth 10 --random-negatives 5 --seed 7
      goldset pool --systems bm25,dense,hybrid --depth 20 --seed 7 --json
      goldset pool --systems bm25,run:splade,run:shop --depth 20 --budget 2000
      goldset pool --systems dense --model ./models/my-finetuned-encoder
    """
    from curation.pooling import build_pool

    names = _listed(systems)
    store = project_store(context)
    with progress_bar() as progress:
        report = build_pool(store, names, depth, random_negatives, seed, model, progress, budget)
    if as_json:
        print_json(report)
    else:
        _show_pool(report)


_TOPPED_UP_WITH = frozenset({"size", "quota", "html", "as_json", "top_up"})


def _refuse_other_options(context: typer.Context) -> None:
    """A top-up is drawn as the sample was: other options would be ignored, so they are refused."""
    given = [
        f"--{name.replace('_', '-')}"
        for name in context.params
        if name not in _TOPPED_UP_WITH
        and (source := context.get_parameter_source(name)) is not None
        and source.name == "COMMANDLINE"
    ]
    if given:
        raise InputError(
            f"--top-up draws as the current sample was drawn, and takes --size and --quota alone; "
            f"leave {', '.join(given)} out."
        )


def _listed(names: str) -> list[str]:
    return [name.strip() for name in names.split(",") if name.strip()]


def _time(option: str, text: str | None) -> datetime | None:
    from curation.sources.times import parse_time

    time = parse_time(text)
    if text is not None and time is None:
        raise InputError(
            f"{option} {text!r} is no time; expected for instance 2026-01-31 or 2026-01-31T08:00."
        )
    return time


def _refuse_no_page(html: Path | None, project: Path) -> None:
    if html is None:
        return
    problems = {
        "it is a folder": html.is_dir(),
        "its folder does not exist": not html.resolve().parent.is_dir(),
        "it is the project itself": html.resolve() == project,
    }
    for problem, found in problems.items():
        if found:
            raise InputError(f"--html {html}: {problem}; expected the name of a page in an existing folder.")


def _show_sample(report: SampleReport) -> None:
    table(
        f"Sample {report.sample_id[:8]}",
        ["stratum", "queries", "traffic", "drawn", "probability"],
        [tuple(stratum) for stratum in report.strata],
    )
    if report.drawn_before:
        say("This sample was drawn before; it is the current one, and nothing was added.")
    else:
        say(f"Drew {report.size:,} queries; {report.added:,} of them are new to the project.")
    if report.grouped:
        say(f"{report.grouped:,} queries were grouped with a more frequent spelling of theirs.")
    left_out(report.left_out, "rows of traffic")
    say(*report.warnings)


def _show_pool(report: PoolReport) -> None:
    table(
        f"Pool {report.pool_id[:8]}",
        ["system", "candidates", "of these alone"],
        [(system.system, system.candidates, system.alone) for system in report.systems],
    )
    if report.built_before:
        say("This pool was built before from the same inputs; nothing was added.")
    else:
        say(
            f"{report.candidates:,} candidates for {report.queries:,} queries, "
            f"{report.random_negatives:,} of them random negatives; {report.added:,} are new to the project."
        )
    for system in report.systems:
        for reason, count in system.no_hit.items():
            say(f"{system.system} found nothing for {count:,} queries: {reason}")
    for reason, count in report.left_out.items():
        say(f"{count:,} {reason}")
