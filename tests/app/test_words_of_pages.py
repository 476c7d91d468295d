"""The words of pages: sentences for people, without back-ticks, command lines or fragments."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from app import context
from app.app_page import AppPage
from app.navigation import all_pages
from docs import make_commands
from tests.support import ROOT
from tests.support.every_page import PEOPLE, build
from tests.support.page import LEE, unlinked_rows
from tests.support.projects import add_names, new_project

PARTS = {
    "queries": ("part", ("Sample", "All queries", "Pool", "Coverage")),
    "rounds": ("part", ("Progress", "Questions", "Manage", "Open a round")),
    "write": ("part", ("Queries", "Answers", "Decide", "Tasks", "Questions")),
    "settings": ("part", ("Guide", "Backup", "Notices")),
    "agreement": ("round", ("All rounds", "gulls")),
}
"""The parts of pages that have them, and what the address calls them."""


def parts_of(page: AppPage) -> list[tuple[str, str]]:
    parameter, parts = PARTS.get(page.address, ("", ("",)))
    return [(parameter, part) for part in parts]


SHOWN = [(page, *part) for page in all_pages() if page.address != "label" for part in parts_of(page)]
BACK_TICK = re.compile("`")
KEYS = re.compile(r"`(Ctrl|Enter|Esc)[ \w]*`")
"""Keys on a button, which Streamlit draws as such."""
COMMANDS = "|".join(sorted({name.split()[1] for name, _ in make_commands.commands() if " " in name}))
OPTION = r"(?<![-\w])--[a-z]"
COMMAND = re.compile(rf"\bgoldgrade ({COMMANDS})\b|{OPTION}")
ONE_OF_MANY = re.compile(
    r"(?<![\d.,:/×] )(?<![\d.,:/×–-])\b1 (?!is|was|has|this|its|as|less|supports)[a-z]+s\b"
)
"""One thing in the plural, such as "1 queries"."""
SENTENCES = re.compile(r'<p(?: class="gs-(?:quiet|lead|done)"[^>]*)?>(.*?)</p>', re.DOTALL)
NAMES = {*PEOPLE, "gulls", "soar", "wings", "noted", "test", "first"}
"""What the project calls people, rounds, tasks, parts and releases: a sentence may begin with a name."""
NO_PAGE = (
    "queries/coverage/language_model/",
    "evaluation/answers/",
    "evaluation/fail_conditions.py",
    "evaluation/condition_checks.py",
    "evaluation/llm_judges/",
    "labeling/pairs_file.py",
    "negatives/assumed_negatives.py",
    "negatives/audit",
    "operations/doctor",
    "releases/packed.py",
    "evaluation/scoring/baseline",
    "evaluation/scoring/chunk_map.py",
    "evaluation/scoring/splitters.py",
)
"""Where errors are raised that no page shows: what they do is done by commands alone."""
FILES = (
    "evaluation/scoring/run_",
    "evaluation/scoring/system_",
    "labeling/import",
    "ingest/",
    "operations/import_file.py",
    "operations/import_jobs.py",
    "operations/import_wording.py",
    "operations/import_collection.py",
)
"""Where sentences name options that a page calls by its own labels (`operations.import_jobs`,
`submission`).
"""
COMMAND_LINES = (
    "operations/demo.py",
    "evaluation/coverage_report.py",
    "evaluation/report/answers.py",
    "evaluation/report/condition_results.py",
    "labeling/rounds/create_practice.py",
    "operations/workflow/",
    "labeling/rounds/round_states.py",
    "releases/card.py",
    "releases/seal.py",
    "splits/refusals.py",
    "splits/groups.py",
    "operations/registry",
    "store/",
)
"""Where texts are commands by themselves: of reports, cards, files that no page reads, and `command`."""


@pytest.fixture(scope="session")
def every_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("words"), "soar", "noted")


@pytest.fixture(scope="session")
def empty_with_people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    store = new_project(tmp_path_factory.mktemp("people") / "project.duckdb")
    add_names(store, "lee", role="lead")
    store.close()
    return store.path


def texts_of(page: AppTest) -> Iterator[tuple[str, str]]:
    """The kind and the text of all that a page says: messages, labels, help, and the text of its HTML."""
    for element in page.main:  # with all that is within
        for field in ("label", "help", "placeholder", "body", "value"):
            text = getattr(getattr(element, "proto", None), field, None)
            if isinstance(text, str) and text:
                yield f"{element.type} {field}", text


def sentences(kind: str, text: str) -> list[str]:
    """What of a text are sentences: messages whole, and the paragraphs of HTML."""
    if kind.startswith("html"):
        return [unescape(re.sub(r"<[^>]+>", "", found)).strip() for found in SENTENCES.findall(text)]
    return text.split("\n\n") if kind.split()[0] in ("alert", "error", "warning", "info", "success") else []


def faults(page: AppTest) -> list[str]:
    found = [f"a row that does not open its query: {row}" for row in unlinked_rows(page)]
    for kind, text in texts_of(page):
        said = unescape(re.sub(r"<(style|svg).*?</\1>|<[^>]+>", " ", text, flags=re.DOTALL))
        said = KEYS.sub("", said).replace("\\", "")
        for fault in (BACK_TICK, COMMAND, ONE_OF_MANY):
            if wrong := fault.search(said):
                found.append(f"{kind}: {said[max(0, wrong.start() - 80) : wrong.end() + 80].strip()}")
        found += [
            f"{kind}: {one[:200]}"
            for one in sentences(kind, text)
            if re.match(r"[a-z]", one) and one.split()[0].strip(",:") not in NAMES
        ]
    return found


def run(page: AppPage, parameter: str, part: str) -> AppTest:
    def script(annotator, page):  # type: ignore[no-untyped-def]  # its text alone is run
        from app.navigation import _show_page

        _show_page(page, annotator)

    shown = AppTest.from_function(script, kwargs={"annotator": LEE, "page": page}, default_timeout=60)
    if parameter:
        shown.query_params[parameter] = part
    shown.run()
    assert not shown.exception, shown.exception
    return shown


@pytest.mark.costly("draws every page and part")
@pytest.mark.parametrize("project", ["empty_with_people", "every_page"])
def test_pages_speak_in_sentences_without_commands(
    project: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(context.PROJECT, str(request.getfixturevalue(project)))
    said = {f"{page.title} {part}": faults(run(page, name, part)) for page, name, part in SHOWN}
    assert not [f"{where}: {one}" for where, found in said.items() for one in found]


def test_the_check_finds_what_it_looks_for() -> None:
    def script() -> None:
        import streamlit as st

        from app import ui

        st.error("expected a number.")
        st.info("Make one with `goldgrade freeze NAME`.")
        ui.note("goldgrade pool builds one.")
        ui.sentences("a fragment\nA sentence.")
        st.button("Send `Ctrl Enter`")
        st.checkbox("All", help="Or --all.")
        st.info("There are 1 queries. In 21 queries, 1 is.")

    shown = AppTest.from_function(script).run()
    assert [found.partition(": ")[2].strip() for found in faults(shown)] == [
        "expected a number.",
        "Make one with `goldgrade freeze NAME`.",
        "Make one with `goldgrade freeze NAME`.",
        "goldgrade pool builds one.",
        "goldgrade pool builds one.",
        "a fragment",
        "Or --all.",
        "There are 1 queries. In 21 queries, 1 is.",
    ]


@pytest.mark.slow
def test_errors_that_pages_show_name_commands_apart() -> None:
    """A page shows what an error found, without its `command`; reasons have no options at all."""
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in sorted((ROOT / "curation").rglob("*.py"))
        if "/cli/" not in str(path) and not _within(path, NO_PAGE)
        for line in _with_commands(path)
    ]
    assert not found


def _within(path: Path, places: tuple[str, ...]) -> bool:
    return str(path.relative_to(ROOT / "curation")).startswith(places)


def _with_commands(path: Path) -> Iterator[int]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or not node.args:
            continue
        if re.fullmatch(r"(Curation|Input|NotFound|Refused|Store\w*)Error|refuse_problems", node.func.id):
            said = [node.args[0], *(one.value for one in node.keywords if one.arg == "way_out")]
            if any(
                re.search("`" if _within(path, FILES) else f"`|{OPTION}", _constants(one)) for one in said
            ):
                yield node.lineno
    if not _within(path, (*FILES, *COMMAND_LINES)):
        yield from (text.lineno for text in _texts(tree) if re.search(f"`goldgrade |{OPTION}", text.value))


def _texts(node: ast.AST) -> Iterator[ast.Constant]:
    """The texts of a module, without docstrings, names of options, and what a `command` is made of."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Constant) and isinstance(child.value, str):
            if not re.fullmatch(r"--[a-z0-9-]+( [a-z]+)?", child.value):
                yield child
        elif not _is_command(child):
            yield from _texts(child)


def _is_command(node: ast.AST) -> bool:
    if isinstance(node, ast.Assign):
        return bool(re.search("HOW_TO|command", ast.unparse(node.targets[0])))
    docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return docstring or (isinstance(node, ast.keyword) and node.arg == "command")


def _constants(node: ast.expr) -> str:
    return "".join(
        one.value for one in ast.walk(node) if isinstance(one, ast.Constant) and isinstance(one.value, str)
    )
