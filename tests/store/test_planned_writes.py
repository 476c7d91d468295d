"""Read, plan, write if nothing has changed: no plan that became stale is written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from curation.core.errors import RefusedError
from curation.store import Cursor, Store, get_setting, put_setting
from curation.store.planned_writes import MAX_TRIES, write_if_unchanged


def count(cursor: Cursor) -> int:
    return int(get_setting(cursor, "count") or 0)


def add(store: Store, amount: int) -> None:
    with store.transaction() as cursor:
        put_setting(cursor, "count", str(count(cursor) + amount))


def write(cursor: Cursor, planned: int) -> None:
    put_setting(cursor, "written", str(planned))


def written(store: Store) -> str | None:
    with store.reading() as cursor:
        return get_setting(cursor, "written")


def disturbed(store: Store, times: int) -> Callable[[int], int]:
    """Doubles what was read; others count on while it does, so many times."""
    left = iter(range(times))

    def plan(inputs: int) -> int:
        if next(left, None) is not None:
            add(store, 1)
        return 2 * inputs

    return plan


def write_planned(store: Store, plan: Callable[[int], int], **options: Any) -> int:
    steps = {"fingerprint": count, "read": count, "plan": plan, "write": write}
    return write_if_unchanged(store, **steps | options)


def test_an_undisturbed_plan_is_written_and_returned(store: Store) -> None:
    add(store, 3)
    planned = write_planned(store, lambda inputs: 2 * inputs)
    assert (planned, written(store)) == (6, "6")


def test_a_stale_plan_is_made_again_from_what_is_there_now(store: Store) -> None:
    planned = write_planned(store, disturbed(store, MAX_TRIES - 1), busy="busy")
    assert (planned, written(store)) == (2 * (MAX_TRIES - 1), str(2 * (MAX_TRIES - 1)))


def test_nothing_is_written_when_every_plan_is_stale(store: Store) -> None:
    with pytest.raises(RefusedError, match="busy"):
        write_planned(store, disturbed(store, MAX_TRIES), busy="busy")
    assert written(store) is None


def test_without_a_sentence_the_last_plan_is_made_while_others_wait(store: Store) -> None:
    planned = write_planned(store, disturbed(store, MAX_TRIES))
    assert (planned, written(store)) == (2 * MAX_TRIES, str(2 * MAX_TRIES))


def test_a_plan_that_no_longer_holds_is_made_again(store: Store) -> None:
    answers = iter([False, True])
    asked = []

    def still_holds(_: Cursor, planned: int) -> bool:
        asked.append(planned)
        return next(answers)

    planned = write_planned(store, disturbed(store, 1), fingerprint=lambda _: None, still_holds=still_holds)
    assert (asked, planned) == ([0, 2], 2)


def test_a_write_that_fails_leaves_nothing_behind(store: Store) -> None:
    def broken(cursor: Cursor, planned: int) -> None:
        write(cursor, planned)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write_planned(store, lambda inputs: inputs, write=broken)
    assert written(store) is None
