"""What `goldset evaluate --ladder` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curation.cli.output import say

if TYPE_CHECKING:
    from curation.evaluation.sealed.ladder_looks import LadderLooks


def show_ladder(found: LadderLooks) -> None:
    """The answer to each run, and which look it was."""
    for answer, look in zip(found.answers, found.looks, strict=True):
        if answer.improved:
            say(f"{answer.system}: {found.measure} {answer.best:.3f}, better than before by more than noise.")
        else:
            say(f"{answer.system}: no improvement beyond noise; the best shown is still {answer.best:.3f}.")
        say(look.sentence)
    say(f"{', '.join(found.parts)}: {found.queries:,} queries. Nothing else is shown of this look.")
