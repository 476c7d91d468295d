"""`goldset leakage` and `goldset duplicates`: what would leak, before a split is made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from curation.cli import app, project_store
from curation.cli.output import Json, left_out, print_json, progress_bar, say, table
from curation.errors import InputError

if TYPE_CHECKING:
    from curation.splits.overview import Overview
    from curation.splits.rules import Rules

leakage = typer.Typer(
    no_args_is_help=True, help="See what ties queries, and where a threshold makes groups explode."
)
app.add_typer(leakage, name="leakage")

RelevantGrade = Annotated[
    int | None,
    typer.Option(help="Least grade of a relevant document; default: all above the scale's lowest."),
]
NoParaphrase = Annotated[
    bool, typer.Option("--no-paraphrase", help="Paraphrases tie nothing; no model is needed.")
]
NoShared = Annotated[
    bool, typer.Option("--no-shared-documents", help="A document relevant to both ties nothing.")
]
Same = Annotated[
    list[str] | None,
    typer.Option(metavar="KEY", help="Tie queries with the same session, group or field, as in split."),
]
NumbersOption = Annotated[
    str, typer.Option(help="Numbers and model names in queries: text, apart or tie, as in split.")
]
ModelOption = Annotated[str | None, typer.Option(help="Model for paraphrases.", show_default="as for pools")]


@leakage.command("sweep")
def leakage_sweep(
    context: typer.Context,
    kind: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KIND",
            help="'query text', 'paraphrase' or 'near-duplicate document'; may be given several times.",
            show_default="all three",
        ),
    ] = None,
    threshold: Annotated[
        list[float] | None,
        typer.Option(help="A threshold to try; may be given several times.", show_default="0.95 to 0.5"),
    ] = None,
    relevant_grade: RelevantGrade = None,
    no_paraphrase: NoParaphrase = False,
    no_shared: NoShared = False,
    same: Same = None,
    numbers: NumbersOption = "text",
    model: ModelOption = None,
    as_json: Json = False,
) -> None:
    """Show how leakage groups grow as a threshold falls: one kind of tie at a time, the others as in split.

    Groups explode at some threshold: choose one above it. Nothing is stored but embeddings.

    \b
    Examples:
      goldset leakage sweep
      goldset leakage sweep --kind "query text" --threshold 0.7 --threshold 0.65 --threshold 0.6
      goldset leakage sweep --no-paraphrase --numbers apart --json
    """
    from curation.splits.overview import project_material
    from curation.splits.sweep import KINDS, THRESHOLDS, sweep

    rules = _rules(no_paraphrase, no_shared, same, numbers, model)
    with progress_bar() as progress:
        material = project_material(project_store(context), rules, relevant_grade, progress)
        steps = sweep(material, rules, threshold or THRESHOLDS, kind or KINDS, progress)
    if as_json:
        print_json({"queries": len(material.queries), "steps": steps})
        return
    rows = [[*step[:4], f"{step.share:.1%}", step.single] for step in steps]
    columns = ["tied by", "from", "groups", "largest", "its share", "queries alone"]
    table(f"Groups of {len(material.queries):,} queries at each threshold", columns, rows)


@leakage.command("groups")
def leakage_groups(
    context: typer.Context,
    limit: Annotated[int, typer.Option(min=1, help="How many of the largest groups to show.")] = 5,
    relevant_grade: RelevantGrade = None,
    no_paraphrase: NoParaphrase = False,
    no_shared: NoShared = False,
    same: Same = None,
    numbers: NumbersOption = "text",
    model: ModelOption = None,
    cut: Annotated[
        list[str] | None,
        typer.Option(metavar="A~B", help="Two queries, by id or text, whose direct ties do not count."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show the largest leakage groups: the chain that made each, and the weakest links that could be cut.

    \b
    Examples:
      goldset leakage groups
      goldset leakage groups --limit 1 --cut "ipad case~iphone case" --json
    """
    from curation.splits.overview import overview, project_material

    rules = _rules(no_paraphrase, no_shared, same, numbers, model, cut)
    with progress_bar() as progress:
        material = project_material(project_store(context), rules, relevant_grade, progress)
        found = overview(material, rules, limit, progress=progress)
    if as_json:
        print_json(found)
    else:
        _show_groups(found, dict(material.queries))


@app.command()
def duplicates(
    context: typer.Context,
    threshold: Annotated[
        float, typer.Option(help="Least similarity (Jaccard of word 3-shingles) of two documents.")
    ] = 0.8,
    limit: Annotated[int, typer.Option(min=0, help="How many groups to list, largest first; 0: all.")] = 20,
    as_json: Json = False,
) -> None:
    """List the groups of documents in the corpus that are the same text, or nearly.

    Identical documents (same title and body) are shown to annotators as one item; nearly identical ones are
    judged each for itself.

    \b
    Examples:
      goldset duplicates
      goldset duplicates --threshold 0.9 --limit 0 --json
    """
    from dataclasses import replace

    from curation.splits.duplicates import corpus_duplicates

    with progress_bar() as progress:
        report = corpus_duplicates(project_store(context), threshold, progress)
    shown = replace(report, groups=report.groups[: limit or None])
    if as_json:
        print_json({**vars(shown), "all_groups": len(report.groups)})
        return
    rows = [
        [
            len(group.documents),
            "identical" if group.identical else "near",
            group.similarity,
            ", ".join(group.documents[:4]) + ", …" * (len(group.documents) > 4),
        ]
        for group in shown.groups
    ]
    say(
        f"{report.grouped:,} of {report.documents:,} documents are in {len(report.groups):,} groups of "
        f"near-duplicates (from {threshold:g} on; {report.method}).",
        f"In {report.identical_groups:,} of these groups all documents are identical.",
    )
    if rows:
        table(f"The {len(rows):,} largest", ["documents", "they are", "weakest tie", "ids"], rows)
    left_out(report.left_out, "documents")


def _rules(
    no_paraphrase: bool,
    no_shared: bool,
    same: list[str] | None,
    numbers: str,
    model: str | None,
    cut: list[str] | None = None,
) -> Rules:
    from curation.splits.named_cuts import parsed_cut
    from curation.splits.rules import Rules, problems

    standard = Rules()
    rules = Rules(
        paraphrase=None if no_paraphrase else standard.paraphrase,
        shared=not no_shared,
        keys=tuple(same or ()),
        numbers=numbers,  # type: ignore[arg-type]  # checked with the other rules
        model=model or standard.model,
        cut=tuple(map(parsed_cut, cut or ())),
    )
    wrong = problems(rules)
    if wrong:
        raise InputError(wrong)
    return rules


def _show_groups(found: Overview, texts: dict[str, str]) -> None:
    from curation.splits.refusals import chain_lines, edge_sentence, link_line, still_tied_lines

    say(
        f"{found.queries:,} graded queries form {sum(found.sizes.values()):,} leakage groups; "
        f"{found.sizes.get(1, 0):,} queries are tied to no other."
    )
    rows = [[kind, found.found[kind], found.methods[kind]] for kind in found.found]
    table("Ties", ["kind", "ties", "searched"], rows)
    left_out(found.left_out)
    for group in found.groups:
        say(f"A group of {len(group.queries):,} queries ({group.share:.1%}), from one far end to the other:")
        say(*chain_lines(group.chain, texts))
        if group.weakest:
            say("Its weakest links; cut together they split it:")
            say(*(link_line(link, texts) for link in group.weakest))
        elif group.weakest is None:
            say("It has too many ties to look for the weakest among them.")
        else:
            say("No few ties hold it together: a threshold is too low for these queries (`leakage sweep`).")
    for edge in found.cut:
        say(f"cut: {edge_sentence(edge, texts)}")
    for held in found.still_tied:
        say(*still_tied_lines(held, texts))
