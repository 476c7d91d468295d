"""Access to sealed parts for evaluations: each evaluation needs permission and is logged.

A refusal must not reveal a sealed grade. The checks therefore use only the request, the person, the log of
earlier evaluations and public facts on the release, before any grade is read. Later refusals are about the
files of the request. Each refusal is logged and counted like a sealed evaluation.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np

from curation.core.errors import InputError, NotFoundError, RefusedError
from curation.core.statistics.arrays import Floats
from curation.evaluation.request import EvaluateRequest
from curation.evaluation.scoring.release import MIN_QUERIES, ONLY_SYNTHETIC, EvaluatedRelease, choose_parts
from curation.people.annotators import EVALUATING_ROLES, require_author
from curation.people.seal_access import list_sealed_parts
from curation.releases import sealed_log
from curation.releases.frozen_release import FrozenRelease, load_release
from curation.releases.sealed_log import SealedCount, SealedEvaluation
from curation.store import COMMAND_LINE, Cursor, Store, utc_now

LOGGED_FIELDS = ("value", "low", "high", "n", "judged")
"""Fields of a result in the log; a result may lack some of them."""


class SealedRequest(NamedTuple):
    """A request to evaluate systems on sealed parts.

    Attributes
    ----------
    sealed: the sealed parts of the request.
    evaluated: all parts of the request.
    systems: the name of each run or answer file.
    rounded: whether the request comes from an evaluator, who gets one rounded figure per system.
    """

    release: FrozenRelease
    sealed: tuple[str, ...]
    evaluated: tuple[str, ...]
    systems: tuple[str, ...]
    of_answers: bool
    reason: str
    actor: str
    rounded: bool

    @property
    def parts(self) -> str:
        """Return the names of the sealed parts as one string."""
        return ", ".join(self.sealed)

    def make_log_rows(
        self, figures: Sequence[Mapping[str, object]] | None, refused: str | None = None
    ) -> list[SealedEvaluation]:
        """Make the log's rows: each system's results, or the reason for the refusal."""
        now = utc_now()
        row = self.release.row
        texts = [None for _ in self.systems] if figures is None else list(map(_figures_as_json, figures))
        return [
            SealedEvaluation(
                evaluation_id="",
                release_id=row.release_id,
                name=row.name,
                parts=list(self.sealed),
                evaluated=list(self.evaluated),
                system=system,
                of_answers=self.of_answers,
                rounded=self.rounded,
                figures=text,
                reason=self.reason,
                evaluated_by=self.actor,
                evaluated_at=now,
                refused=refused,
            )
            for system, text in zip(self.systems, texts, strict=True)
        ]


def _figures_as_json(figures: Mapping[str, object]) -> str:
    rows = {name: [getattr(figure, key, None) for key in LOGGED_FIELDS] for name, figure in figures.items()}
    return json.dumps({name: dict(zip(LOGGED_FIELDS, row, strict=True)) for name, row in rows.items()})


def make_sealed_request(
    store: Store,
    release: str | FrozenRelease,
    request: EvaluateRequest,
    systems: Sequence[str],
    actor: str,
    of_answers: bool = False,
) -> SealedRequest | None:
    """Make a request to evaluate sealed parts of a project's release; None if no part is sealed.

    Raises
    ------
    InputError: the release lacks this part.
    NotFoundError: no release has this name.
    RefusedError: the release has changed since the freeze, or all parts are sealed and no part was named.
    """
    release = load_release(store, release)
    evaluated = choose_parts(release, request.part)
    evaluated = (*evaluated, ONLY_SYNTHETIC) if request.synthetic else evaluated
    sealed = tuple(part for part in evaluated if part in list_sealed_parts(release.header))
    if not sealed or release.file is not None:  # a packed release has no sealed grades
        return None
    with store.reading() as cursor:
        rounded = is_evaluator(cursor, actor)

    reason = (request.reason or "").strip()
    return SealedRequest(release, sealed, evaluated, tuple(systems), of_answers, reason, actor, rounded)


def is_evaluator(cursor: Cursor, actor: str) -> bool:
    """Return whether a person is an evaluator, who can see only rounded results on sealed parts."""
    rows = cursor.execute("SELECT role FROM annotators WHERE name = ?", [actor]).fetchall()
    return actor != COMMAND_LINE and rows == [("evaluator",)]


@contextmanager
def log_refusals(store: Store, request: SealedRequest | None) -> Iterator[None]:
    """Log once each refusal that is raised inside a `with` block."""
    try:
        yield
    except (InputError, NotFoundError, RefusedError) as error:
        if request is not None and request.systems and not error.logged:
            error.logged = True
            with store.transaction(appends=True) as cursor:
                sealed_log.log_sealed_evaluation(cursor, request.make_log_rows(None, refused=error.found))
        raise


def check_access(store: Store, request: SealedRequest, all_figures: bool = True) -> None:
    """Reject a person who may not evaluate these sealed parts, before any grade is read.

    Parameters
    ----------
    all_figures: whether the request asks for all figures, which only leads see.

    Raises
    ------
    NotFoundError: the project does not know the person.
    RefusedError: the person may not evaluate, gives no reason, or has no sealed evaluation left this month;
        the part has fewer than ten queries.
    """
    with store.reading() as cursor:
        _require_permission(cursor, request)
    name = request.release.row.name
    if request.rounded and all_figures:
        raise RefusedError(
            f"{request.actor} has the role evaluator. Only leads see full results on {request.parts} of the "
            f"release {name!r}, because they can reveal single grades of a sealed part. Evaluators get one "
            "rounded figure per system."
        )
    if request.rounded and request.evaluated != request.sealed[:1]:
        raise RefusedError(
            f"Evaluators evaluate one sealed part at a time, but this request is for "
            f"{', '.join(request.evaluated)}. Name one part.",
            command="Use --part.",
        )
    if not request.reason:
        raise RefusedError(
            f"{request.parts} of the release {name!r} is sealed. Evaluating a sealed part requires a "
            "reason, which is logged with name and time.",
            command='Use --reason "why".',
        )
    if sum(request.release.header["queries"][part] for part in request.sealed) < MIN_QUERIES:
        raise RefusedError(
            f"{request.parts} of the release {name!r} is sealed and has fewer than ten queries, so figures "
            "would reveal values of individual queries. Choose another part.",
            command="Use --part.",
        )


def _require_permission(cursor: Cursor, request: SealedRequest) -> None:
    """Reject a request that the person's role or monthly limit does not allow."""
    require_author(cursor, request.actor, *EVALUATING_ROLES)
    if request.rounded:
        sealed_log.refuse_over_limit(cursor, request.actor, request.sealed, len(request.systems), utc_now())


def log_figures(
    store: Store,
    request: SealedRequest,
    figures: Sequence[Mapping[str, object]],
    values: Sequence[Mapping[str, float | None]] = (),
) -> SealedCount:
    """Log the results of each system; call this before anybody sees the results.

    Raises
    ------
    RefusedError: the person may no longer evaluate, or other requests used up the monthly limit meanwhile.
    """
    with store.transaction(appends=True) as cursor:
        _require_permission(cursor, request)
        return sealed_log.log_sealed_evaluation(cursor, request.make_log_rows(figures), values)


def select_sealed_values(release: EvaluatedRelease, values: Floats) -> dict[str, float | None]:
    """Select the sealed queries' values from an array of shape (Q,); NaN becomes None."""
    ids = release.qrels.query_ids
    sealed = np.flatnonzero(release.sealed_queries).tolist()
    return {ids[query]: None if np.isnan(values[query]) else float(values[query]) for query in sealed}
