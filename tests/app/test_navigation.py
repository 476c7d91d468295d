"""The navigation: which pages there are, in which order, and who has them."""

from __future__ import annotations

import pytest

from app.navigation import all_pages, pages_of

EVERYONE = ["Label", "My consistency"]
LEAD = [*EVERYONE, "Adjudicate", "Curate", "Rounds", "Agreement", "Re-label", "Releases"]


@pytest.mark.parametrize(
    ("role", "titles"),
    [("annotator", EVERYONE), ("reviewer", [*EVERYONE, "Adjudicate", "Agreement"]), ("lead", LEAD)],
)
def test_a_role_has_its_pages_in_order(role: str, titles: list[str]) -> None:
    """Of the pages that are named here: a new one has a test of its own."""
    assert [page.title for page in pages_of(role) if page.title in LEAD] == titles


def test_an_evaluator_has_no_page_about_labeling() -> None:
    assert [page.title for page in pages_of("evaluator")] == ["Evaluate"]


def test_labeling_comes_first_and_nothing_is_given_twice() -> None:
    assert all_pages()[0].title == "Label"
    for field in ("position", "title", "address"):
        values = [getattr(page, field) for page in all_pages()]
        assert len(set(values)) == len(values), field
