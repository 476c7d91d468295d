"""Calls to a language model by a command: options that allow them, and sentences on the calls that are
sent.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from curation.cli.output import emit, note
from curation.cli.progress import progress_bar
from curation.core.text import describe_left_out, pluralize

if TYPE_CHECKING:
    from curation.queries.coverage.language_model.answers import Check, ModelCall, ModelSpending, ModelWork
    from curation.store import Store

Send = Annotated[
    bool,
    typer.Option(
        "--send",
        help="Send texts to the language model of GOLDGRADE_LLM_URL. Without this option nothing is sent.",
    ),
]
MostCalls = Annotated[
    int | None, typer.Option("--calls", min=1, help="Maximum number of requests to send.", show_default="all")
]
Parallel = Annotated[int, typer.Option(min=1, max=64, help="Number of calls that are sent at the same time.")]
NOT_SENT = "Nothing was sent: add --send to send the calls."


class Sender:
    """Sends calls within one limit of requests; `spent` counts the requests that were sent."""

    def __init__(self, send: bool, most_calls: int | None, parallel: int) -> None:
        self._send, self._most, self._parallel = send, most_calls, parallel
        self.spent: ModelSpending | None = None

    def ask(self, store: Store, calls: Sequence[ModelCall], check: Check, cut: int = 0) -> bool:
        """Send the calls; without --send print how many calls would be sent, and return False."""
        from curation.queries.coverage.language_model import answers, chat

        work = answers.plan_calls(store, calls, chat.prices_set())
        sentence = f"{chat.model_at()}: {work_sentence(work)}"
        if cut:
            sentence += (
                f" Only the first {answers.MAX_TEXT_LENGTH:,} characters of a long document are sent; "
            )
            sentence += f"{cut:,} characters are not sent."
        if work.calls and not self._send:
            result = {"model": chat.model_name(), "would_send": work, "cut": cut}
            emit(result, f"{sentence} {NOT_SENT}")
        elif work.calls:
            note(sentence)
            most = self._most and max(0, self._most - (self.spent.requests if self.spent else 0))
            with progress_bar() as progress:
                spent = answers.ask(
                    store, calls, check, answers.Asking(chat.find_endpoint(), most, self._parallel), progress
                )
            note(*spending_sentences(spent))
            self.spent = answers.add_spending(self.spent, spent) if self.spent else spent
        return self._send or not work.calls


def work_sentence(work: ModelWork) -> str:
    """Say how many calls there are to send, how long their texts are, and their price."""
    price = "" if work.price is None else f", at least {work.price:.4f} by the prices set"
    return (
        f"{pluralize(work.calls, 'call')} to send with about {work.tokens:,} tokens{price}; "
        f"{work.stored:,} answered before."
    )


def spending_sentences(spent: ModelSpending) -> list[str]:
    """Say how many requests were sent, and how many calls have an answer."""
    price = "" if spent.price is None else f", {spent.price:.4f} by the prices set"
    sentences = [
        f"{pluralize(spent.requests, 'request')} sent: {spent.tokens_read:,} tokens read and "
        f"{spent.tokens_written:,} written{price}. {spent.answered:,} of {pluralize(spent.calls, 'call')} "
        f"have an answer, {spent.stored:,} of them from before."
    ]
    if spent.uncounted:
        sentences.append(f"The endpoint did not count the tokens of {pluralize(spent.uncounted, 'answer')}.")
    return sentences + describe_left_out(spent.left_out)
