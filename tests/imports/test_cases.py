"""Files of ../shared/cases, and their cousins: each once went wrong in silence."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from curation.errors import InputError
from curation.files.fields import JudgmentFields
from curation.files.formats import FileLayout
from curation.labeling.judgments.imported import import_judgments
from curation.sources.corpus import import_corpus
from curation.sources.traffic.traffic_import import import_traffic
from curation.store import Store
from tests.support import ROOT
from tests.support.projects import rows_of

CASES = ROOT.parent / "shared" / "cases"
BY_ANN = JudgmentFields(annotator_name="ann")


def case(name: str) -> Path:
    """A file of cases/; the test is skipped where the folder is not there."""
    if not CASES.is_dir():
        pytest.skip("../shared/cases is not there")
    return CASES / name


def test_characters_that_nobody_sees_make_no_other_query(store: Store) -> None:
    log = import_traffic(store, case("writings/invisible_log.csv"))
    assert (log.queries, log.traffic) == (5, 74)
    asked = rows_of(store, "SELECT sum(count)::INT FROM traffic WHERE normalised = 'tv'")
    assert asked == [(60,)]


def test_one_person_gives_a_query_one_grade_whatever_nobody_sees_in_its_text(store: Store) -> None:
    import_corpus(store, case("writings/invisible_corpus.jsonl"))
    with pytest.raises(InputError) as refused:
        import_judgments(store, case("writings/invisible_judgments.csv"), BY_ANN)
    assert [problem.split(":")[0] for problem in refused.value.problems] == ["line 3", "line 4"]
    assert "gives the pair" in refused.value.problems[0]


# The kinds of characters that Unicode calls default ignorable; none has a glyph of its own.
COUSINS = {
    "zero width space": "t\u200bv",
    "byte order mark": "\ufefftv",
    "soft hyphen": "t\u00adv",
    "left-to-right mark": "tv\u200e",
    "right-to-left override": "\u202etv\u202c",
    "isolates": "\u2068tv\u2069",
    "word joiner": "t\u2060v",
    "invisible separator": "t\u2063v",
    "joiners": "t\u200d\u200cv",
    "variation selector": "tv\ufe0f",
    "far variation selector": "tv\U000e0101",
    "combining grapheme joiner": "t\u034fv",
    "Mongolian vowel separator": "t\u180ev",
    "Hangul filler": "t\u3164v",
    "halfwidth Hangul filler": "t\uffa0v",
    "Khmer inherent vowel": "t\u17b5v",
    "tag": "tv\U000e0041",
    "Arabic letter mark": "\u061ctv",
    "annotation": "\ufff9tv\ufffb",
    "musical format": "t\U0001d173v",
    "spaced": " \u200b tv \u200b ",
}


@pytest.mark.parametrize("text", COUSINS.values(), ids=COUSINS)
def test_each_kind_of_invisible_character_is_folded(
    store: Store, write: Callable[..., Path], text: str
) -> None:
    log = import_traffic(store, write("log.csv", f"query,count\ntv,2\n{text},3\n\u200b,7\n"))
    assert (log.queries, log.traffic, log.left_out) == (1, 5, {"empty query": 1})


def test_an_unknown_id_is_said_to_differ_from_a_known_one_by_its_form(store: Store) -> None:
    import_corpus(store, case("writings/nfc_corpus.jsonl"))
    with pytest.raises(InputError) as refused:
        import_judgments(store, case("writings/nfd.qrels"), BY_ANN, FileLayout("qrels"))
    assert "it differs from the known 'Café-Über_5' by its Unicode form" in " ".join(refused.value.problems)
    assert "write those of the file as the project has them" in refused.value.way_out
