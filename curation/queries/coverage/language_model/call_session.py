"""A session of language model calls that depend on the answers to earlier calls.

The session adds up the spending of its calls under one limit of requests, and ends once calls get no answer.
"""

from __future__ import annotations

from collections.abc import Sequence

from curation.core.progress import Progress, silent
from curation.queries.coverage.language_model import call_runs
from curation.queries.coverage.language_model.answers import MALFORMED, REFUSED, ModelCall, read_answers
from curation.queries.coverage.language_model.call_runs import CallLimits, Check, ModelSpending
from curation.queries.coverage.language_model.chat import is_rejection
from curation.queries.coverage.language_model.endpoint import ModelEndpoint
from curation.store import Store

ENDED_BY_ENDPOINT = "the language model gave no answer"
ENDED_BY_LIMIT = "the limit of calls is reached"


class CallSession:
    """A session of calls, with what it has spent, and the reason why it ended early (None if it has not).

    Parameters
    ----------
    limits: the endpoint, and the limits of the whole session.
    """

    def __init__(self, store: Store, limits: CallLimits) -> None:
        self._store, self._limits = store, limits
        self._rejected = 0  # requests, one after the other
        self.spent = ModelSpending()
        self.ended: str | None = None

    def ask(
        self,
        calls: Sequence[ModelCall],
        check: Check,
        endpoint: ModelEndpoint | None = None,
        progress: Progress = silent,
    ) -> list[str | None]:
        """Get the stored or new answer of each call, or None for a call without an answer.

        Parameters
        ----------
        endpoint: a different endpoint for these calls.
        """
        max_calls = self._limits.most_calls
        remaining_calls = None if max_calls is None else max(0, max_calls - self.spent.requests)
        limits = self._limits._replace(endpoint=endpoint or self._limits.endpoint, most_calls=remaining_calls)
        spending = call_runs.send_calls(self._store, calls, check, limits, progress)
        self.spent = call_runs.sum_spending(self.spent, spending)
        with self._store.reading() as cursor:
            stored = read_answers(cursor, calls)
        left_out = spending.left_out
        rejected = sum(left_out[reason] for reason in left_out if is_rejection(reason))
        self._rejected = 0 if spending.answered else self._rejected + min(rejected, spending.requests)
        unanswered = any(
            not is_rejection(reason) and not reason.startswith((REFUSED, MALFORMED)) for reason in left_out
        )
        if unanswered or self._rejected >= call_runs.MAX_CONSECUTIVE_FAILURES:
            self.ended = ENDED_BY_LIMIT if spending.requests == remaining_calls else ENDED_BY_ENDPOINT
        return [stored.find_answer(call) for call in calls]
