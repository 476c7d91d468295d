"""`goldgrade consensus`: the rule by which votes become grades, and the grades of the pairs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

from typer import Context, Option

from curation.cli.invocation import actor, find_given_flags, open_seal, project_store, refuse_unused
from curation.cli.options import switch, with_options_of
from curation.cli.output import emit, print_table, print_tables, say
from curation.cli.program import app
from curation.labeling.consensus.rule import ConsensusRule

if TYPE_CHECKING:
    from curation.labeling.consensus.consensus import ConsensusCounts, PairConsensus
    from curation.labeling.consensus.dawid_skene import AnnotatorErrors
    from curation.store import Store


PAIR_FIELDS = ("query_id", "document_id", "grade", "votes", "cannot_tell", "confidence", "how", "changed")
"""The fields of a pair in the JSON of --pairs."""
CountedRound = Annotated[
    str | None, Option("--round", help="Count only the pairs of this round.", show_default="all")
]
ListPairs = Annotated[bool, switch("--pairs", "Also list every pair with its grade and its votes.")]


@app.command()
@with_options_of(ConsensusRule)
def consensus(
    request: ConsensusRule, context: Context, round_name: CountedRound = None, pairs: ListPairs = False
) -> None:
    """Show or set the rule by which votes become a grade. The command also shows the estimated errors of
    annotators.

    A reviewer's decision always overrides the rule. Majority needs more than half of the votes. Median takes
    the middle vote, and gives no grade if the two middle votes differ. Dawid-Skene estimates how often each
    annotator confuses which grades, and takes the most probable grade. A pair without a grade is disputed.

    With --pairs, `how` is `adjudicated`, `single` (one vote), the name of the rule, or the reason for a
    missing grade: `disputed` or `unjudgeable`. `changed` marks pairs whose votes are about an older text of
    the document. Pairs that a release seals are marked `sealed`; their grade is shown with --reason only.

    \b
    Examples:
      goldgrade consensus
      goldgrade consensus --rule median
      goldgrade consensus --rule dawid-skene --min-probability 0.7 --json
      goldgrade consensus --pairs --json
      goldgrade consensus --pairs --json --reason "Which labels does the new guide change?"
    """
    from curation.labeling.consensus.consensus import compute_consensus
    from curation.labeling.consensus.dawid_skene import estimate_errors
    from curation.labeling.consensus.rule import describe_replaced_rule
    from curation.labeling.consensus.votes import read_votes
    from curation.labeling.rounds.rounds import find_round

    if not pairs:
        refuse_unused(context, "only --pairs lists pairs; add --pairs", "reason")
    store = project_store()
    with store.reading() as cursor:
        round_id = find_round(cursor, round_name).round_id if round_name else None
    _change_rule(store, request, context)
    with store.reading() as cursor:
        votes, replaced_rule = read_votes(cursor, round_id), describe_replaced_rule(cursor)
    project_consensus, errors = compute_consensus(votes), estimate_errors(votes)
    counts = project_consensus.counts
    result = {"settings": votes.rule.settings, "consensus": counts, "errors": errors}
    listed = _hide_sealed_pairs(store, project_consensus) if pairs else []
    if pairs:
        rows = [{name: getattr(pair, name) for name in PAIR_FIELDS} for pair in listed]
        result |= {"pairs": rows, "sealed": _count_sealed_pairs(listed)}
    emit(result, lambda: _print_consensus(counts, errors, replaced_rule, listed))


def _change_rule(store: Store, request: ConsensusRule, context: Context) -> None:
    """Store the rule settings given on the command line; other settings stay unchanged."""
    from curation.labeling.consensus.rule import read_rule, set_rule

    rule = store.read(read_rule)
    changes = {name: getattr(request, name) for name in vars(request).keys() & find_given_flags(context)}
    if changes:
        set_rule(store, replace(rule, **changes), actor())


def _hide_sealed_pairs(store: Store, pairs: Iterable[PairConsensus]) -> list[PairConsensus]:
    """List the pairs, without the votes and grades of pairs that stay sealed."""
    from curation.people.seal_access import SEALED

    access = open_seal(store, "list the consensus on pairs")
    hidden: dict[str, Any] = {"grade": None, "how": SEALED, "votes": {}, "cannot_tell": 0, "confidence": None}
    return [pair if access.can_show(pair.query_id) else pair._replace(**hidden) for pair in pairs]


def _count_sealed_pairs(pairs: Iterable[PairConsensus]) -> int:
    from curation.people.seal_access import SEALED

    return sum(pair.how == SEALED for pair in pairs)


def _print_consensus(
    counts: ConsensusCounts, errors: AnnotatorErrors | None, replaced: str, pairs: Sequence[PairConsensus]
) -> None:
    from curation.core.reports.terminal import show_sections
    from curation.labeling.consensus.dawid_skene import build_error_section
    from curation.people.seal_access import describe_withheld_pairs

    if replaced:
        say(replaced)
    print_tables(counts.table)
    if errors is not None:
        show_sections([build_error_section(errors)])
    if pairs:
        columns = ["query", "document", "grade", "votes", "cannot tell", "confidence", "how", "about"]
        print_table("Pairs", columns, [_build_pair_row(pair) for pair in pairs])
        if sealed := _count_sealed_pairs(pairs):
            say(describe_withheld_pairs(sealed) + ' --reason "why" shows these pairs; the reason is logged.')


def _build_pair_row(pair: PairConsensus) -> tuple[object, ...]:
    votes = ", ".join(f"{grade}: {count}" for grade, count in pair.votes.items())
    text = "an older text" if pair.changed else ""
    grading = (pair.grade, votes, pair.cannot_tell, pair.confidence, pair.how)
    return (pair.query_id, pair.document_id, *grading, text)
