"""The request to move work within a round, as a reassignment or an extension."""

from __future__ import annotations

from curation.core.errors import InputError
from curation.labeling.requests import MoveRequest
from curation.labeling.rounds.extension import extend_round
from curation.labeling.rounds.reassignment import reassign
from curation.labeling.rounds.transfer import Transfer
from curation.store import COMMAND_LINE, Store


def move_work(store: Store, request: MoveRequest, author: str = COMMAND_LINE) -> Transfer:
    """Move an annotator's untouched items to other members, or add candidates and annotators to a round.

    Raises
    ------
    InputError: the request has both a reassignment and an extension, or neither; also as `reassign`.
    NotFoundError, RefusedError: as `reassign` and `extend_round`.
    """
    extends = bool(request.join or request.new)
    if (request.from_ is not None) == extends:
        raise InputError(
            "Either name the annotator whose items move, or add annotators or candidates, but not both.",
            command="--from names whose items move, --join names new annotators, --new adds candidates.",
        )
    if request.from_ is not None:
        return reassign(store, request.round, request.from_, request.to, author)
    return extend_round(store, request.round, request.join, request.new, author)
