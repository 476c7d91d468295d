"""Numbers instead of names: what people and rounds are called must not show."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from curation.releases.freeze.pseudonyms import assign_pseudonyms

Judged = dict[tuple[str, str], str]

VOICES = st.dictionaries(
    st.tuples(st.sampled_from("abcd"), st.sampled_from("wxyz")), st.sampled_from(["one", "two"]), max_size=10
)


def released(judged: Judged) -> list[tuple[str, str, str]]:
    """What a release would say: judgments with the numbers of annotator and round."""
    annotators, rounds = assign_pseudonyms(
        dict.fromkeys("abcd", "same"), dict.fromkeys("wxyz", "same"), judged
    )
    return sorted((annotators[a], rounds[r], said) for (a, r), said in judged.items())


@given(VOICES, st.permutations("abcd"), st.permutations("wxyz"))
def test_exchanged_names_change_nothing_in_what_is_released(
    judged: Judged, people: list[str], rounds: list[str]
) -> None:
    renamed = {
        (people["abcd".index(annotator)], rounds["wxyz".index(name)]): said
        for (annotator, name), said in judged.items()
    }
    assert released(renamed) == released(judged)


def test_everyone_has_a_number_of_their_own() -> None:
    annotators, rounds = assign_pseudonyms(
        {"a": "x", "b": "x", "c": "y"}, {"r": "", "s": ""}, {("a", "r"): "one"}
    )
    assert sorted(annotators.values()) == ["a1", "a2", "a3"]
    assert sorted(rounds.values()) == ["r1", "r2"]
