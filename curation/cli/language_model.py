"""The calls that a command sends to a language model if the command's options allow it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from typer import Option

from curation.cli.output import emit, note
from curation.cli.progress import progress_bar

if TYPE_CHECKING:
    from curation.queries.coverage.language_model.answers import ModelCall
    from curation.queries.coverage.language_model.call_runs import Check, ModelSpending
    from curation.store import Store

Send = Annotated[
    bool,
    Option(
        "--send",
        help="Send texts to the language model of GOLDGRADE_LLM_URL. Without this option nothing is sent.",
    ),
]
MaxCalls = Annotated[
    int | None, Option("--calls", min=1, help="Maximum number of requests to send.", show_default="all")
]
Parallel = Annotated[int, Option(min=1, max=64, help="Number of calls sent at the same time.")]
NOT_SENT = "Nothing was sent: add --send to send the calls."


class CallSender:
    """Sends calls to a language model if --send was given; `spending` says what was sent.

    max_calls: the maximum number of requests; None for no limit.
    parallel: number of calls that are sent at the same time.
    """

    def __init__(self, send: bool, max_calls: int | None, parallel: int) -> None:
        self._send = send
        self._max_calls = max_calls
        self._parallel = parallel
        self.spending: ModelSpending | None = None

    def send(self, store: Store, calls: Sequence[ModelCall], check: Check, cut: int = 0) -> bool:
        """Send the calls; without --send, print how many calls would be sent and return False.

        cut: number of characters of long documents that the calls leave out.
        """
        from curation.queries.coverage.language_model import answers, call_runs, endpoint

        work = call_runs.plan_calls(store, calls, endpoint.read_prices())
        sentence = f"{endpoint.name_model()}: {work.sentence}"
        if cut:
            sentence += f" Only the first {answers.MAX_TEXT_LENGTH:,} characters of a long document are "
            sentence += f"sent; {cut:,} characters are not sent."
        if work.calls and not self._send:
            result = {"model": endpoint.read_model(), "would_send": work, "cut": cut}
            emit(result, f"{sentence} {NOT_SENT}")
        elif work.calls:
            note(sentence)
            limits = call_runs.CallLimits(endpoint.find_endpoint(), self._max_calls, self._parallel)
            with progress_bar() as progress:
                self.spending = call_runs.send_calls(store, calls, check, limits, progress)
            note(*self.spending.sentences)
        return self._send or not work.calls
