"""`goldgrade consensus`: the rule that makes votes one grade."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from curation.cli.options import refuse_by_without, refuse_unused
from curation.cli.output import emit, say, say_withheld, table
from curation.cli.program import By, Json, SealReason, app, project_store
from curation.store import COMMAND_LINE

if TYPE_CHECKING:
    from curation.labeling.consensus.annotator_errors import AnnotatorErrors
    from curation.labeling.consensus.consensus import ConsensusCounts, PairConsensus
    from curation.people.seal_access import SealAccess


@app.command()
def consensus(
    context: typer.Context,
    rule: Annotated[
        str | None,
        typer.Option(
            help="The project's rule from now on. One of majority, median and dawid-skene.",
            show_default="as it is",
        ),
    ] = None,
    smoothing: Annotated[
        float | None,
        typer.Option(
            help="Cases that dawid-skene adds to each cell of a confusion.",
            show_default="0.1 or as it is",
        ),
    ] = None,
    min_probability: Annotated[
        float | None,
        typer.Option(
            help="Probability that a grade must exceed under Dawid-Skene. Else the pair is disputed.",
            show_default="0.5 or as it is",
        ),
    ] = None,
    round_name: Annotated[
        str | None, typer.Option("--round", help="Count only the pairs of this round.", show_default="all")
    ] = None,
    pairs: Annotated[
        bool, typer.Option("--pairs", help="Also list every pair with its grade and how it was settled.")
    ] = False,
    reason: SealReason = None,
    by: By = COMMAND_LINE,
    as_json: Json = False,
) -> None:
    """Show or set the rule by which votes become a grade. It shows annotators' estimated errors, too.

    A reviewer's decision comes before any rule. Majority needs more than half of the votes. Median takes the
    middle vote, and gives no grade where two middle votes differ. Dawid-Skene estimates how often each
    annotator confuses which grades, and takes the most probable grade. A pair without a grade is disputed.

    With --pairs, `settled_by` is `adjudicated`, `single` (one vote), the rule, or why there is no grade:
    `disputed` or `unjudgeable`. `changed` marks pairs about an older text of their document. Pairs that a
    release seals say `sealed`, and have their grade with --reason only.

    \b
    Examples:
      goldgrade consensus
      goldgrade consensus --rule median
      goldgrade consensus --rule dawid-skene --min-probability 0.7 --json
      goldgrade consensus --pairs --json
      goldgrade consensus --pairs --json --reason "Which labels does the new guide change?"
    """
    from curation.labeling.consensus.annotator_errors import errors
    from curation.labeling.consensus.consensus import settled
    from curation.labeling.consensus.rule import ConsensusRule, read_rule, replaced_rule, set_rule
    from curation.labeling.consensus.votes import read_votes
    from curation.labeling.rounds.rounds import find_round
    from curation.people.seal_access import SEALED, unseal

    if not pairs:
        refuse_unused(context, "no pair is listed; add --pairs", "reason", "by")
    refuse_by_without(context, reason)
    store = project_store()
    with store.reading() as cursor:
        now = read_rule(cursor)
        round_id = find_round(cursor, round_name).round_id if round_name else None
    wanted = ConsensusRule(
        now.name if rule is None else rule,
        now.smoothing if smoothing is None else smoothing,
        now.least if min_probability is None else min_probability,
    )
    if (rule, smoothing, min_probability) != (None, None, None):
        set_rule(store, wanted)
    with store.reading() as cursor:
        votes, replaced = read_votes(cursor, round_id), replaced_rule(cursor)
    counts, found = settled(votes).counts, errors(votes)
    result = {"settings": votes.rule.settings, "consensus": counts, "errors": found}
    listed = []
    if pairs:
        door = unseal(store, "list the consensus on pairs", reason, by)
        listed = [_pair(pair, door) for pair in settled(votes).pairs]
        result["pairs"] = listed
        result["sealed"] = sum(pair["settled_by"] == SEALED for pair in listed)
    emit(as_json, result, lambda: _show_consensus(counts, found, listed, replaced))


def _pair(pair: PairConsensus, door: SealAccess) -> dict[str, Any]:
    from curation.people.seal_access import SEALED

    if not door.shows(pair.query_id):
        pair = pair._replace(grade=None, how=SEALED, votes={}, cannot_tell=0, confidence=None)
    return {
        "query_id": pair.query_id,
        "document_id": pair.document_id,
        "grade": pair.grade,
        "votes": pair.votes,
        "cannot_tell": pair.cannot_tell,
        "confidence": pair.confidence,
        "settled_by": pair.how,
        "changed": pair.changed,
    }


def _show_pairs(listed: Sequence[Mapping[str, Any]]) -> None:
    columns = ["query", "document", "grade", "votes", "cannot tell", "confidence", "settled by", "about"]
    rows = []
    for pair in listed:
        votes = ", ".join(f"{grade}: {times}" for grade, times in pair["votes"].items())
        about = "an older text" if pair["changed"] else ""
        rows.append((*list(pair.values())[:3], votes, *list(pair.values())[4:7], about))
    table("Pairs", columns, rows)


def _show_consensus(
    counts: ConsensusCounts,
    annotator_errors: AnnotatorErrors | None,
    listed: Sequence[Mapping[str, Any]],
    replaced: str,
) -> None:
    from curation.core.reports.terminal import show_sections
    from curation.labeling.consensus.annotator_errors import error_section
    from curation.people.seal_access import SEALED

    say(*filter(None, [replaced]))
    columns = ["rule", "pairs", "by the rule", "single grade", "adjudicated", "disputed", "unjudgeable"]
    by_rule = counts.majority + counts.ruled
    row = (counts.rule, counts.pairs, by_rule, counts.single, counts.adjudicated, counts.disputed)
    table("Consensus", columns, [(*row, counts.unjudgeable)])
    if annotator_errors is not None:
        show_sections([error_section(annotator_errors)])
    if listed:
        _show_pairs(listed)
        say_withheld(sum(pair["settled_by"] == SEALED for pair in listed))
