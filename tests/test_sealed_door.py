"""No command, route or page shows what people said of a sealed pair, unless somebody said why they want it.

All commands and routes are taken from their registries. One that is not in the tables below fails the tests:
say there how it is called. Every command is called for people and with --json, on a project whose sealed
pairs have a grade and words that nothing else has. All that it prints and writes is searched for these.
"""

from __future__ import annotations

import gzip
import json
import re
import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.parquet as pq
import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.testclient import TestClient

from app import context
from app.front.guard import Guard
from app.navigation import all_pages
from app.serve import list_routes
from app.signin import cookies, current_user
from app.views.releases.relabel import PARTS as RELABEL_PARTS
from app.views.releases.release import VIEWS
from curation.core.characters import ISOLATES, show_controls
from curation.core.reports import terminal
from curation.core.reports.page import Section
from curation.core.reports.tables import Table
from curation.labeling.consensus import claims
from curation.releases.export.formats import FORMATS
from curation.releases.overview import read_overview
from curation.releases.sealed_log import set_monthly_limit
from curation.store import Annotator, open_store
from docs import make_commands
from tests.support.command_line import invoke
from tests.support.page import page_at, unlinked_rows
from tests.support.projects import rows_of
from tests.support.sealed_project import CANARY, MARKED, PEOPLE, WORD, SealedProject, build_sealed_project
from tests.support.signed_in import cookie_of
from tests.support.terminal import broken, drawn

pytestmark = pytest.mark.slow


class Call(NamedTuple):
    """How a command is called; `$` is the folder, `@` a sealed query, `%` an open one, `#` a or b.

    Attributes
    ----------
    pairs: it lists pairs whatever their grades, so documents of sealed pairs may be there.
    exit: with which status it ends.
    reason: with a reason, it shows what is sealed.
    """

    line: str
    pairs: bool = False
    exit: int = 0
    reason: bool = False


class Ran(NamedTuple):
    """How a command ended with what it printed and wrote, for people and with --json, and its tables."""

    text: tuple[int, str]
    json: tuple[int, str]
    tables: list[Table]


COMMANDS = {
    "init": Call("--guide $/guide.md", exit=1),
    "status": Call(""),
    "pool --contributions": Call("last"),
    "agreement": Call("--html $/out/agreement#.html", reason=True),
    "agreement --round": Call("first"),
    "consensus": Call("--pairs", pairs=True, reason=True),
    "agreement --breakdown": Call("annotator"),
    "gate": Call(""),
    "split": Call("--no-paraphrase --part dev=0.5 --part test=0.5 --seed 1"),
    "split --dry-run": Call("--no-paraphrase"),
    "split --certificate": Call("--html $/out/certificate#.html"),
    "verify": Call("v1"),
    "export": Call("v2 --format csv --without-grades test --out $/out/csv#", pairs=True),
    "evaluate": Call(
        'v2 --run old=$/old.trec --part all --reason why --fail-if "mrr&10 below 0.9" '
        "--out $/out/report#.html --out $/out/summary#.md --out $/out/conditions#.xml",
        exit=1,
    ),
    "baseline": Call("v2 --out $/out/run#", pairs=True),
    "judge show": Call("robot"),
    "judge plan": Call("robot --people 2 --annotators new --dry-run", exit=1),
    "judge ask": Call("other --model m"),
    "releases --card": Call("v2"),
    "diff": Call("v1 v2", reason=True),
    "doctor": Call(""),
    "status --notify": Call(""),
    "coverage": Call("--html $/out/map#.html", exit=1),
    "queries write": Call(""),
    "queries check": Call("--against $/corpus.jsonl"),
    "answers open": Call("more# --annotators ada,ben --overlap 1 --queries 9"),
    "round open": Call("more# --annotators fay,ben --again"),
    "round status": Call("try"),
    "round set": Call("again open", exit=1),
    "round move": Call("morea --from fay --to ada"),
    "import corpus": Call("$/corpus.jsonl"),
    "import traffic": Call("$/traffic.jsonl --map query=query --map count=count --dry-run"),
    "import queries": Call("$/queries.jsonl"),
    "import answers": Call("$/answers.jsonl --dry-run"),
    "import judgments": Call("$/judge.jsonl --annotator new --dry-run"),
    "import run": Call("$/old.trec --name other#"),
    "import collection": Call("$ --dry-run"),
    "import engine": Call("shop --try words", exit=1),
    "answers status": Call("faq"),
    "answers status --query": Call("@ faq", exit=1, reason=True),
    "answers close": Call("faq"),
    "answers open --reopen": Call("faq"),
    "disputes": Call("--decided --limit 99", reason=True),
    "answers nuggets": Call("", exit=1),
    "answers nuggets --proposed": Call(""),
    "answers to-grade": Call("v2 --answers robot=$/answers.jsonl --for correctness --out $/out/grade#"),
    "queries add": Call('"a new query #"'),
    "tags": Call("@ --set question"),
    "negatives": Call("", reason=True),
    "negatives audit": Call("", reason=True),
    "people add": Call("gus# --role annotator --password-stdin"),
    "people set": Call("gusa --role reviewer"),
    "people list": Call(""),
    "practice": Call("warm-up"),
    "guide use": Call("$/guide.md --reason same"),
    "guide show": Call(""),
    "guide show --versions": Call(""),
    "guide show --questions": Call(""),
    "guide show --against": Call("$/guide.md"),
    "guide use --dry-run": Call("$/guide.md"),
    "guide answer": Call("00 words", exit=1),
    "decide": Call("@ z@-b --grade 1 --reason again#", pairs=True),
    "decide --task": Call('faq @ --merged "words" --reason "so"'),
    "decide --second-opinion": Call("@ z@-a", exit=1),
    "decide --unclear": Call("unclear @ z@-a"),
    "disputes --reference-answers": Call(""),
    "releases": Call("v2"),
    "releases --json": Call(""),
    "releases --sealed-limit": Call("100"),
    "export --out": Call("$/out/v2#.goldgrade v2", pairs=True),
    "relabel plan --due": Call("", pairs=True),
    "relabel plan --seed": Call("9 --today 2028-01-04"),
    "relabel plan": Call("2028-Q1", pairs=True),
    "relabel again": Call("grade=1 --annotators fay,ben --reason why#"),
    "relabel open": Call("--annotators fay,ben", exit=1),
    "relabel report": Call("--html $/out/drift#.html"),
    "freeze": Call("v3# --allow-disputed --override why"),
    "pool": Call("--systems bm25 --depth 3 --random-negatives 1", pairs=True),
    "start": Call("", exit=1),
    "sample": Call("--size 9"),
}
"""All commands in the order in which they are tried: those that change what others read come last."""
NOT_CALLED = {
    "app": "it serves until it is stopped; its routes and pages are below",
    "backup": "it copies the whole file, which the docs say no seal can keep",
    "restore": "it puts such a copy back, and prints counts of rows",
}

PAGES: dict[str, list[dict[str, str]]] = {
    "home": [{}],
    "label": [{}, {"show": "consistency"}],
    "adjudicate": [{}],
    "agreement": [{}, {"round": "again"}, {"round": "try"}],
    "judges": [{}],
    "write": [{"part": part} for part in ("Queries", "Answers", "Decide", "Tasks", "Questions")],
    "import": [{}],
    "queries": [{"part": part} for part in ("Sample", "All queries", "Pool", "Coverage")],
    "rounds": [
        {"round": name, "part": part}
        for name in ("again", "try")
        for part in ("Progress", "Questions", "Manage", "Open a round")
    ],
    "settings": [
        *({"part": "Guide", "show": part} for part in ("Document", "Versions", "Questions")),
        *({"part": part} for part in ("Backup", "Notices")),
    ],
    "team": [{}],
    "releases": [
        *({"view": view} for view in VIEWS),
        *({"stage": one} for one in ("Rule", "Gate", "Split", "Freeze")),
        *({"stage": "Re-label", "quarter": part} for part in RELABEL_PARTS),
    ],
    "evaluate": [{}],
    "query": [{"id": query} for query in ("@0", "@2", "@4", "@7", "%")],
}
"""All pages, and the parameters with which they show their parts; `@2` is a sealed query, `%` an open one.

The project has most of the first two sealed queries, and more of the next two than of the rest; `@0` and `@7`
were judged again.
"""
REVIEWERS_READ = {"write"}
"""Pages on which a reviewer reads what they decide; that is in the log of the seal."""

GETS = {
    "/sign-in": "/sign-in",
    "/join": "/join",
    "/password": "/password",
    "/api/presentations": "/api/presentations?limit=20",
    "/api/presentations/previous": "/api/presentations/previous",
    "/api/presentations/{presentation_id}/document": "/api/presentations/{item}/document",
    "/api/guides/{guide_hash}": "/api/guides/{guide}",
    "/api/history": "/api/history",
    "/api/skipped": "/api/skipped",
    "/api/palette": "/api/palette?words=@",
    "/api/worked": "/api/worked?since=2026-01-01T00:00:00Z",
    "/api/questions": "/api/questions",
    "/api/disputes/next": "/api/disputes/next?limit=10",
    "/api/disputes/one": "/api/disputes/one?query=@&document=z@-b",
    "/api/disputes/document": "/api/disputes/document?query=@&document=z@-b",
    "/api/disputes/context": "/api/disputes/context?query=@&document=z@-b",
    "/api/decisions/recent": "/api/decisions/recent",
    "/exports/{job_id}/{folder}": "/exports/none/none",
    "/health": "/health",
}
POSTS: dict[str, dict[str, Any]] = {
    "/api/judgments": {"submissions": [], "holding": [], "limit": 20, "explain": ["{practised}"]},
    "/api/answers": {"answers": []},
    "/api/questions": {"words": "What is this?"},
    "/api/decisions": {
        "submissions": [
            {
                "query_id": "@",
                "document_id": "z@-b",
                "kind": "decide",
                "client_key": "overtaken",
                "revision": 0,
                "grade": 1,
                "words": "no",
            }
        ]
    },
}
NOT_ASKED = {
    "/help": "it leads to the documentation",
    "/help/{path:path}": "the documentation, which is the same for every project",
    "/sign-out": "it ends the session",
    "/sign-ins": "it ends sign-ins, and leads to the account page",
    "/sign-in/with": "an identity provider signs in",
    "/oauth2callback": "an identity provider signs in",
    "/tab-ended": "one sentence, the same for everybody",
}
REVIEWERS_ASK = {"/api/disputes/next", "/api/disputes/one", "/api/decisions/recent", "/api/decisions"}
"""Routes by which a reviewer reads what they decide."""


@pytest.fixture(scope="module")
def planted() -> Iterator[SealedProject]:
    """The project; the tests change it, in ways that do not matter to one another."""
    folder = Path(tempfile.mkdtemp())
    project = build_sealed_project(folder)
    project.store.close()
    (folder / "out").mkdir()
    (folder / "tags.csv").write_text(f"query,tag\n{project.sealed[0]},question\n")
    store = open_store(project.store.path)
    yield project._replace(store=store)
    store.close()
    shutil.rmtree(folder)


def test_every_command_route_and_page_is_in_a_table_here() -> None:
    names = {
        name.removeprefix("goldgrade ")
        for name, command in make_commands.commands()
        if not hasattr(command, "commands") or getattr(command, "invoke_without_command", False)
    } - {"goldgrade"}
    assert names == {*(name.partition(" --")[0] for name in COMMANDS), *NOT_CALLED}
    assert {page.address for page in all_pages()} == set(PAGES)
    asked = {(route.path, method) for route in list_routes() for method in route.methods or ()}
    known = {(path, method) for path in GETS for method in ("GET", "HEAD")} | {
        (path, "POST") for path in POSTS
    }
    rest = {path for path, _ in asked - known}
    assert rest <= {*NOT_ASKED, "/sign-in", "/join", "/password"}, rest


@pytest.fixture(scope="module")
def ran(planted: SealedProject) -> dict[str, Ran]:
    """Every command, once for people and once with --json."""
    found: dict[str, Ran] = {}
    with pytest.MonkeyPatch.context() as patch:
        draw = terminal.show_table
        for name, call in COMMANDS.items():
            tables: list[Table] = []

            def recorded(
                table: Table, screen: terminal.Screen | None = None, to: list[Table] = tables
            ) -> None:
                to.append(table)
                draw(table, screen)

            patch.setattr(terminal, "show_table", recorded)
            text = run(planted, name, call, "a", [])
            found[name] = Ran(text, run(planted, name, call, "b", ["--json"]), tables)
    return found


def test_no_command_shows_a_sealed_grade_without_a_reason(
    planted: SealedProject, ran: dict[str, Ran]
) -> None:
    found: list[str] = []
    for name, call in COMMANDS.items():
        for more, (_, text) in (("", ran[name].text), ("--json", ran[name].json)):
            found += [f"{name} {more}: {leak}" for leak in leaks(planted, text, call.pairs)]
        ends = {ran[name].text[0], ran[name].json[0]}
        if call.exit not in ends:
            found.append(f"{name} ended with {ends}, expected {call.exit}: {ran[name].json[1][:600]}")
    assert not found, "\n".join(found)


RELEVANT_ALONE = ("ragas", "deepeval", "langsmith")
"""Formats in which a document of a sealed pair is relevant to it: others have judged ones of open queries."""


@pytest.mark.parametrize("format", FORMATS)
def test_no_export_shows_a_sealed_grade_without_a_reason(planted: SealedProject, format: str) -> None:
    line = f"v2 --format {format} --without-grades test --out $/out/{format}"
    more = ["--negatives", "1"] if FORMATS[format].takes_negatives else []
    ends, text = run(planted, "export", Call(line), "", more)
    assert (ends, leaks(planted, text, pairs=format not in RELEVANT_ALONE)) == (0, [])


def test_no_table_of_a_command_breaks_a_figure_a_name_or_an_id(ran: dict[str, Ran]) -> None:
    shown = [(name, Section("", "", tables=tuple(one.tables))) for name, one in ran.items() if one.tables]
    assert len(shown) > 30, "most commands have tables"
    for width in (110, 80, 60):
        assert [(name, parts) for name, section in shown if (parts := broken([section], width))] == []
    piped = {name: drawn([section], terminal.PIPE_WIDTH, terminal=False) for name, section in shown}
    ids = [
        (name, cell)
        for name, one in ran.items()
        for table in one.tables
        for row in table.rows
        for cell in row
    ]
    assert [
        (name, cell)
        for name, cell in ids
        if isinstance(cell, str)
        and " " not in cell
        and show_controls(ISOLATES.sub("", cell)) not in piped[name]
    ] == []


@pytest.mark.parametrize("name", [name for name, call in COMMANDS.items() if call.reason])
def test_with_a_reason_a_command_shows_them_and_the_log_says_so(planted: SealedProject, name: str) -> None:
    before = len(read_overview(planted.store, "v1").log)
    _, text = run(planted, name, COMMANDS[name], "c", ["--reason", f"why {name}", "--json"])
    assert leaks(planted, text, pairs=False), "then this test would not see a leak, either"
    log = read_overview(planted.store, "v1").log
    assert [one.reason for one in log[before:]] == [f"why {name}"]
    assert [one.opened_by for one in log[before:]] == ["command line"]


REFUSED = [
    "--part all --reason why",
    "--part test --reason why --measures precision&1",
    "--part test --reason why --breakdown grid,stratum",
    "--part test --reason why --relevant-grade 97",
    "--part test --reason why --out $/out/queries.txt",
    '--part test --reason why --fail-if "mrr&10 below 0.9"',
    "--part test --reason why --hard-negatives",
    "--part test --reason why --judge robot",
    "--part test --reason why --run bad=$/answers.jsonl",
    "--part test --reason why --answers bad=$/old.trec",
    "--part test --reason why --out $/out/report.html",
    "--part test",
]
"""What an evaluator is refused of a sealed part."""


def test_no_refusal_tells_a_sealed_grade_and_the_log_has_each(planted: SealedProject) -> None:
    set_monthly_limit(planted.store, 1_000)
    before = len(read_overview(planted.store, "v2").sealed_evaluations)
    for who in ("vera", "ada"):
        for line in REFUSED:
            run_file = "" if "--answers" in line else "--run old=$/old.trec"
            call = Call(f"v2 {run_file} --as {who} {line}", exit=1)
            for more in ([], ["--json"]):
                exit, text = run(planted, "evaluate", call, "a", more)
                assert exit in (1, 2), f"{line} by {who}: {text}"
                assert not leaks(planted, text, pairs=False), f"{line} by {who}"
    log = read_overview(planted.store, "v2").sealed_evaluations[before:]
    assert all(row.refused and not row.shown for row in log)
    assert len(log) >= 2 * 2 * len(REFUSED)
    assert not leaks(planted, "\n".join(row.refused or "" for row in log), pairs=False)


def test_an_evaluator_gets_one_rounded_figure_of_a_sealed_part(planted: SealedProject) -> None:
    set_monthly_limit(planted.store, 1_000)
    call = Call("v2 --run old=$/old.trec --as vera --part test --reason why")
    exit, text = run(planted, "evaluate", call, "a", [])
    assert exit == 0, text
    assert not leaks(planted, text, pairs=False)
    figures = re.findall(r"\d\.\d+", text)
    assert len(figures) == 2, f"the figure and its step: {text}"


FROM_FILE = {
    "verify": Call("$/v2.goldgrade"),
    "evaluate": Call("$/v2.goldgrade --run old=$/old.trec --out $/out/report#.html"),
    "evaluate all": Call("$/v2.goldgrade --run old=$/old.trec --part all --reason why", exit=1),
    "export": Call("$/v2.goldgrade --format csv --out $/out/csv# --reason why", exit=1),
    "export full": Call("$/v2.goldgrade --format full --out $/out/full#", pairs=True),
    "diff": Call("v1 $/v2.goldgrade"),
    "releases": Call("$/v2.goldgrade --card"),
    "baseline": Call("$/v2.goldgrade --out $/out/run#", pairs=True),
}
"""What takes a packed release: the command's first word, and how it is called."""


def test_a_packed_release_tells_no_sealed_grade_and_one_with_them_is_logged(planted: SealedProject) -> None:
    path, project = planted.folder / "v2.goldgrade", ["--project", str(planted.store.path)]
    pack = [*project, "export", "v2", "--out"]
    assert invoke([*pack, str(path)]).exit_code == 0
    found = leaks(planted, content(path), pairs=True)
    for name, call in FROM_FILE.items():
        exit, text = run(planted, name.split()[0], call, "a", [])
        assert exit == call.exit, f"{name}: {text[:600]}"
        found += [f"{name}: {leak}" for leak in leaks(planted, text, call.pairs)]
    assert not found, "\n".join(found)
    whole = planted.folder / "whole.goldgrade"
    assert invoke([*pack, str(whole), "--reason", "archive"]).exit_code == 0
    assert leaks(planted, content(whole), pairs=True), "then this test would not see a leak, either"
    assert MARKED.search(content(whole)), "evidence is among what is sealed"
    assert read_overview(planted.store, "v2").log[-1].reason == "archive"


def test_practice_takes_sealed_pairs_from_nowhere_without_a_reason(planted: SealedProject) -> None:
    for more in ([], ["--file", str(planted.folder / "known.jsonl")]):
        arguments = ["practice", "early", "--annotators", "gil", *more]
        done = invoke(["--project", str(planted.store.path), *arguments])
        told = str(done.exception)
        assert done.exit_code == 1
        assert "a release seals" in told
        assert WORD not in told
    reason = ["--reason", "They wrote the guide", "--as", "lee"]
    opened = invoke(["--project", str(planted.store.path), *arguments, *reason])
    assert opened.exit_code == 0, opened.exception
    last = read_overview(planted.store, "v1").log[-1]
    assert (last.opened_by, last.purpose, last.reason) == ("lee", "practice in early", "They wrote the guide")


def test_an_import_of_guesses_does_not_tell_which_are_right(planted: SealedProject) -> None:
    pair = f"{planted.sealed[0]},z{planted.sealed[0]}-a"
    told = set()
    for guess in (0, 1, CANARY):
        path = planted.folder / "guess.csv"
        path.write_text(f"query_id,document_id,grade\n{pair},{guess}\n", encoding="utf-8")
        line = ["import", "judgments", str(path), "--annotator", "cyd", "--dry-run", "--json"]
        told.add(invoke(["--project", str(planted.store.path), *line]).output)
    assert len(told) == 1
    assert '"sealed": 1' in told.pop()


def test_a_pool_of_one_document_does_not_tell_whether_it_is_relevant(planted: SealedProject) -> None:
    query, told = planted.sealed[0], []
    for letter in "ac":  # one is relevant, the other one is not
        path = planted.folder / "one.trec"
        path.write_text(f"{query} Q0 z{query}-{letter} 1 1 one\n", encoding="utf-8")
        project = ["--project", str(planted.store.path)]
        for line in (
            ["import", "run", str(path), "--name", f"one{letter}"],
            ["pool", "--systems", f"run:one{letter}", "--depth", "1", "--random-negatives", "0"],
        ):
            assert invoke([*project, *line]).exit_code == 0
        found = json.loads(invoke([*project, "pool", "--contributions", "last", "--json"]).output)
        told.append([found["graded"], found["relevant"], found["sealed"], found["systems"][0]["lost"]])
    assert told == [[1, 0, 1, 0]] * 2


def test_a_split_does_not_tell_how_many_documents_are_relevant(planted: SealedProject) -> None:
    line = "split --fresh --no-paraphrase --part dev=0.5 --part test=0.5 --seed 5 --json".split()
    found = json.loads(invoke(["--project", str(planted.store.path), *line]).output)
    checks = {check["kind"]: check["compared"] for check in found["certificate"]["checks"]}
    assert checks["near-duplicate document"] is None
    assert None not in [count for kind, count in checks.items() if kind != "near-duplicate document"]


@pytest.fixture
def client(planted: SealedProject, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    """The app's own routes, behind its guard."""
    monkeypatch.setenv(context.PROJECT, str(planted.store.path))
    for cached in (cookies.cookie_codec, current_user.sign_in_cache):
        cached.cache_clear()
    claims._claims_by_project.clear()
    application = Starlette(routes=list_routes(), middleware=[Middleware(Guard)])
    headers = {"Origin": "http://testserver"}
    with TestClient(application, follow_redirects=False, headers=headers) as asking:
        yield asking
    for cached in (cookies.cookie_codec, current_user.sign_in_cache):
        cached.cache_clear()


@pytest.mark.parametrize("who", ["ada", "vera", "rosa", "lee"])
def test_no_route_shows_a_sealed_grade_but_to_a_reviewer_whom_the_log_names(
    planted: SealedProject, client: TestClient, who: str
) -> None:
    client.cookies.set(*cookie_of(planted.store, who))
    known, query = ids(planted, who), planted.sealed[0]
    found, before = [], len(read_overview(planted.store, "v1").log)
    for path, address in GETS.items():
        asked = address.replace("@", query).format_map(known)
        answer = client.get(asked)
        assert answer.status_code != 401
        found += [(path, leak) for leak in leaks(planted, answer.text, pairs=True)]
    for path, body in POSTS.items():
        sent = json.loads(json.dumps(body).replace("@", query).replace("{practised}", known["practised"]))
        answer = client.post(path, json=sent)
        found += [(path, leak) for leak in leaks(planted, answer.text, pairs=True)]
    seen, log = {path for path, _ in found}, read_overview(planted.store, "v1").log[before:]
    if who in ("ada", "vera"):
        assert not found
        assert not log
    else:
        assert seen <= REVIEWERS_ASK, found
        assert "/api/disputes/next" in seen, "then this test would not see a leak, either"
        assert [(one.opened_by, one.purpose) for one in log] == [(who, "adjudication")], "once a day"


def ids(project: SealedProject, who: str) -> dict[str, str]:
    """What the addresses of routes name: an item of somebody, the guide, and an answered practice item."""
    item = "SELECT presentation_id FROM live_presentations WHERE annotator = ? ORDER BY 1 LIMIT 1"
    practised = """
        SELECT presentation_id FROM live_presentations p JOIN rounds USING (round_id)
        WHERE kind = 'practice' AND annotator = 'ada' AND query_id = ?
    """
    return {
        "item": next((row[0] for row in rows_of(project.store, item, who)), "none"),
        "guide": rows_of(project.store, "SELECT guide_hash FROM guides")[0][0],
        "practised": rows_of(project.store, practised, project.sealed[0])[0][0],
    }


@pytest.mark.costly("every page in every state")
@pytest.mark.parametrize("address", PAGES)
def test_no_page_shows_a_sealed_grade(
    planted: SealedProject, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.setenv(context.PROJECT, str(planted.store.path))
    page = next(one for one in all_pages() if one.address == address)
    queries = {f"@{place}": query for place, query in enumerate(planted.sealed)} | {"%": planted.open}
    for name, role in PEOPLE.items():
        if role not in page.roles or name in ("ben", "fay", "gil"):
            continue
        for parameters in PAGES[address]:
            drawn = draw(address, name, role, {key: queries.get(one, one) for key, one in parameters.items()})
            found = leaks(planted, drawn, pairs=True)
            if found and role != "annotator" and address in REVIEWERS_READ:
                log = read_overview(planted.store, "v1").log
                assert (name, "adjudication") in {(one.opened_by, one.purpose) for one in log}
                continue
            assert not found, f"{address} {parameters} as {name}: {found}"


def draw(address: str, name: str, role: str, parameters: dict[str, str]) -> str:
    """All that Streamlit sends to a browser for a page."""
    page = page_at(address, Annotator(name, role, False))
    for key, value in parameters.items():
        page.query_params[key] = value
    page.run()
    assert not page.exception, page.exception
    assert not unlinked_rows(page), "every row that names a query opens it"
    return "\n".join(str(getattr(element, "proto", "")) for element in elements(page.main))


def elements(block: Any) -> Iterator[Any]:
    for child in block.children.values():
        yield child
        if hasattr(child, "children"):
            yield from elements(child)


def run(project: SealedProject, name: str, call: Call, letter: str, more: list[str]) -> tuple[int, str]:
    """How a command ended, and all that it printed and wrote."""
    line = call.line.replace("$", str(project.folder)).replace("@", project.sealed[0]).replace("&", "@")
    words = shell_words(line.replace("%", project.open).replace("#", letter))
    out = project.folder / "out"
    for old in [*out.iterdir()]:
        shutil.rmtree(old) if old.is_dir() else old.unlink()
    arguments = ["--project", str(project.store.path), *name.split(), *words, *more]
    done = invoke(arguments, input="a long password\n")
    told = "" if done.exception is None else str(done.exception)
    written = [content(path) for path in sorted(out.rglob("*")) if path.is_file()]
    return done.exit_code, "\n".join([done.output, told, *written])


def shell_words(line: str) -> list[str]:
    return [word.strip('"') for word in re.findall(r'"[^"]*"|\S+', line)]


def content(path: Path) -> str:
    """The text of a file that a command wrote."""
    if path.suffix == ".parquet":
        return "\n".join(map(str, pq.read_table(path).to_pylist()))
    if path.suffix == ".goldgrade":
        with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(path) as packed:
            packed.extractall(folder)
            return "\n".join(map(content, sorted(Path(folder).iterdir())))
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as packed:
            return "\n".join(packed.read(name).decode(errors="replace") for name in packed.namelist())
    return (gzip.decompress if path.suffix == ".gz" else bytes)(path.read_bytes()).decode(errors="replace")


GRADE = re.compile(rf"(?<![\w.,:-]){CANARY}(?![\w.,:%-])")


def leaks(project: SealedProject, text: str, pairs: bool) -> list[str]:
    """What in an output tells what was said of a sealed pair."""
    found = [f"words: {text[max(0, at.start() - 150) : at.end() + 40]!r}" for at in re.finditer(WORD, text)][
        :2
    ]
    found += [
        f"evidence: {text[max(0, at.start() - 150) : at.end() + 40]!r}" for at in MARKED.finditer(text)
    ][:2]
    names = {*project.sealed, *project.documents, *(f"wort{query[1:]}" for query in project.sealed)}
    known = re.compile("|".join(sorted(map(re.escape, names), key=len, reverse=True)))
    documents = re.compile("|".join(rf"\b{re.escape(name)}\b" for name in sorted(project.documents)))
    if not pairs and (at := documents.search(text)):
        found.append(f"a document: {text[max(0, at.start() - 150) : at.end() + 40]!r}")
    for line in re.split(r"\n(?=\S)|</tr>|</p>|</li>|\}(?=,)", text):
        if GRADE.search(line) and known.search(line):
            found.append(f"a grade: {line[:300]!r}")
    return found[:4]
