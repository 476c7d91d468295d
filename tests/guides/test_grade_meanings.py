"""Labels that are due after a change of the guide: whose words changed, and the neighbours of a new grade."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from curation.guides.grade_meanings import find_reworded_grades, group_equivalent_guides
from curation.guides.guide import current_guide
from curation.guides.guide_text import parse_guide, read_guide
from curation.labeling.rounds.use_guide import use_guide
from curation.store import Store

ALL = {0, 1, 2, 3, None}
SOURCE = read_guide().source
SECTIONS = """
## Grades

### 3 – Exactly it

Give it where the search ends here.

### Related

Give it where the subject alone fits.

#### An example

A kettle for a query about tea.

## Hints

1. Read the query.
2. Read the document.
"""


def due(store: Store, source: str) -> set[int | None]:
    """The grades of the guide in force that are due under another text."""
    new = parse_guide(source)
    with store.reading() as cursor:
        in_force = current_guide(cursor).guide_hash
        return set(find_reworded_grades(cursor, group_equivalent_guides(cursor, new), new)[in_force])


@pytest.mark.parametrize(
    ("change", "grades"),
    [
        (lambda text: text.replace("name: Useful", "name: Helpful"), {2}),
        (lambda text: text.replace("does not help somebody", "helps nobody"), {0}),
        (lambda text: text.replace("The document is about the same subject", "It is about the subject"), {1}),
        (lambda text: text.replace("Case for iPhone 14", "Case for iPhone 15"), {0}),
        (lambda text: text.replace("… gets no help", "… loses a minute"), {0}),
        (lambda text: text.replace("title: Graded relevance", "title: Relevance, graded"), set()),
        (lambda text: text.replace('colour: "#2b62a8"', 'colour: "#2b62a9"'), set()),
        (lambda text: text.replace("Most pairs take five", "Most pairs  take\nfive"), set()),
        (lambda text: text.replace("Most pairs take five", "Most pairs take six"), ALL),
        (lambda text: text.replace("1. Read the query", "1. Read the query aloud"), ALL),
    ],
)
def test_only_labels_whose_words_changed_are_due(
    store: Store, change: Callable[[str], str], grades: set[int | None]
) -> None:
    changed = change(SOURCE)
    assert changed != SOURCE
    assert due(store, changed) == grades


@pytest.mark.parametrize(
    ("old", "new", "grades"),
    [
        ("where the search ends here", "where nothing else is needed", {3}),
        ("where the subject alone fits", "where the subject fits", {1}),
        ("A kettle for", "A cup for", {1}),
        ("1. Read the query.", "1. Read the query twice.", ALL),
        ("### Related", "### Related (seldom)", {1}),
    ],
)
def test_a_section_of_a_grade_is_about_it_alone(
    store: Store, old: str, new: str, grades: set[int | None]
) -> None:
    text = SOURCE + SECTIONS
    use_guide(store, parse_guide(text))
    assert due(store, text.replace(old, new)) == grades


def test_a_new_grade_makes_its_neighbours_due_and_a_removed_one_itself(store: Store) -> None:
    front, body = SOURCE.split("scale:\n", 1)
    grade = '  - {value: %d, name: New, key: "9", colour: "#000000", definition: A new one.}\n'
    with_four, with_ten = (f"{front}scale:\n{grade % value}{body}" for value in (4, 10))
    assert due(store, with_four) == {3}
    use_guide(store, parse_guide(with_ten))
    assert due(store, SOURCE) == {10}
    five = (grade % 5).replace("New", "Newer").replace("9", "8")
    assert due(store, with_ten.replace("scale:\n", f"scale:\n{five}", 1)) == {3, 10}


def test_guides_that_mean_the_same_by_a_leads_word_count_as_one(store: Store) -> None:
    reworded = SOURCE.replace("does not help somebody", "helps nobody")
    use_guide(store, parse_guide(reworded), same_grades=True)
    assert due(store, SOURCE) == set()
    assert due(store, reworded.replace("name: Useful", "name: Helpful")) == {2}
