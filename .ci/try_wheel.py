"""Try an installed goldgrade, from an empty folder and with nothing of the repository: see .ci/wheel.

Usage: try_wheel.py                           without the app, as a pipeline has it
       try_wheel.py README.md docs/path.md    with the app; the pages' commands are run in their order
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor as Cookies
from urllib.request import Request, build_opener

GOLDGRADE = str(Path(sys.executable).with_name("goldgrade"))
COMMAND = re.compile(r"^\$ goldgrade (.+)$", re.MULTILINE)
PORT = 8599
ADDRESS = f"http://localhost:{PORT}"


def say(sentence: str) -> None:
    print(f"wheel: {sentence}", flush=True)


def run(command: list[str]) -> str:
    """What a command prints; it must succeed."""
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, f"{shlex.join(command)}\n{done.stdout}{done.stderr}"
    return done.stdout


def a_module_app_is_the_users_alone() -> None:
    assert find_spec("app") is None, "an installed goldgrade must have no module app"
    Path("app.py").write_text("OWNER = 'the user'\n")
    Path("theirs.py").write_text("import curation, goldgrade, app\nprint(app.OWNER)\n")
    assert run([sys.executable, "theirs.py"]) == "the user\n"


def a_pipeline_needs_no_app() -> None:
    """Without the extra `app`: an evaluation runs, and the app says what it lacks."""
    assert [name for name in ("streamlit", "starlette", "uvicorn", "pandas") if find_spec(name)] == []
    Path("qrels.txt").write_text("q1 0 d1 3\nq1 0 d2 0\nq2 0 d1 1\n")
    Path("a.trec").write_text("q1 Q0 d1 1 2.0 a\nq2 Q0 d1 1 1.0 a\n")
    started = time.monotonic()
    assert "success@10" in run([GOLDGRADE, "evaluate", "qrels.txt", "--run", "a.trec"])
    say(f"an evaluation without the app: {time.monotonic() - started:.1f} s")
    refused = subprocess.run([GOLDGRADE, "app"], capture_output=True, text=True)
    assert (refused.returncode, "pip install '.[app]'" in refused.stderr) == (1, True), refused.stderr


def the_path_of_the_readme_runs(pages: list[Path]) -> None:
    readme, path = (COMMAND.findall(page.read_text(encoding="utf-8")) for page in pages)
    Path("runs").mkdir()
    for command in [*path, "baseline v1 --systems bm25 --out runs", *readme]:
        run([GOLDGRADE, *shlex.split(command)])
    say(f"{len(path)} commands of {pages[1].name} and {len(readme)} of {pages[0].name}")


def a_guide_has_a_name() -> None:
    assert "Binary relevance" in run([GOLDGRADE, "--project", "binary.duckdb", "init", "--guide", "binary"])


@contextmanager
def served(*command: str) -> Iterator[None]:
    """The app while it is served, in a folder with a module app that Python would find."""
    environment = os.environ | {"PYTHONPATH": str(Path.cwd())}
    process = subprocess.Popen([GOLDGRADE, *command, "--port", str(PORT)], env=environment)
    try:
        opener, end = build_opener(), time.monotonic() + 120
        while True:
            try:
                opener.open(f"{ADDRESS}/health").close()
                break
            except OSError:
                assert process.poll() is None, "the app ended"
                assert time.monotonic() < end, "the app did not start"
                time.sleep(0.1)
        yield
    finally:
        process.terminate()
        process.wait()


def the_demo_opens() -> None:
    """A sign-in, then a run of the page that comes first, as a browser asks for it."""
    from streamlit.proto.BackMsg_pb2 import BackMsg
    from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
    from websockets.sync.client import connect

    assert find_spec("torch") is None
    started = time.monotonic()
    subprocess.run([GOLDGRADE, "init", "--demo", "data/demo"], check=True)
    with served("--project", "data/demo/goldgrade.duckdb", "app"):
        say(f"the demo: {time.monotonic() - started:.1f} s until it answers")
        cookies = Cookies()
        form = urlencode({"name": "lead", "password": "gold-standard"}).encode()
        build_opener(cookies).open(Request(f"{ADDRESS}/sign-in", form, {"Origin": ADDRESS})).close()
        cookie = "; ".join(f"{one.name}={one.value}" for one in cookies.cookiejar)
        message, said = BackMsg(), ForwardMsg()
        message.rerun_script.query_string = ""
        stream = f"ws://localhost:{PORT}/_stcore/stream"
        with connect(
            stream, additional_headers={"Cookie": cookie}, origin=ADDRESS, subprotocols=["streamlit"]
        ) as page:
            page.send(message.SerializeToString())
            offered: list[str] = []
            while said.WhichOneof("type") != "script_finished":
                said.ParseFromString(page.recv(timeout=60))
                offered += [one.url_pathname for one in said.navigation.app_pages]
        assert "releases" in offered, f"the first page offered {offered}"
        say(f"the lead is offered {len(set(offered))} pages")


if __name__ == "__main__":
    os.environ["GOLDGRADE_PROJECT"] = "data/python.duckdb"
    if not sys.argv[1:]:
        a_pipeline_needs_no_app()
        sys.exit()
    a_module_app_is_the_users_alone()
    a_guide_has_a_name()
    the_demo_opens()
    the_path_of_the_readme_runs([Path(page) for page in sys.argv[1:]])
    say("passed")
