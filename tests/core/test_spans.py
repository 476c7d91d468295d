"""Sets of characters against Python's own sets."""

from hypothesis import given
from hypothesis import strategies as st

from curation.core.spans import count_characters, covered_by_at_least, difference, intersection, union

_SPAN = st.tuples(st.integers(0, 30), st.integers(0, 30))
_SPANS = st.lists(_SPAN, max_size=6)


def characters(spans: list[tuple[int, int]]) -> set[int]:
    return {place for start, end in spans for place in range(start, end)}


def test_a_set_of_characters_has_one_form() -> None:
    assert union([(5, 7), (0, 3), (3, 4), (6, 9), (2, 2)]) == ((0, 4), (5, 9))


@given(_SPANS, _SPANS, _SPANS, st.integers(1, 3))
def test_union_intersection_and_size_are_those_of_sets(one, other, third, least) -> None:
    a, b, c = characters(one), characters(other), characters(third)
    assert characters(list(union(one))) == a
    assert characters(list(intersection(one, other))) == a & b
    assert difference(one, other) == union(difference(one, other))
    assert characters(list(difference(one, other))) == a - b
    assert count_characters(one) == len(a)
    held = {place for place in a | b | c if (place in a) + (place in b) + (place in c) >= least}
    assert characters(list(covered_by_at_least([one, other, third], least))) == held
    assert covered_by_at_least([one, other, third], least) == union(
        covered_by_at_least([one, other, third], least)
    )
