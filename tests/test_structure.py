"""What the layout of the code promises: names that exist once, modules of one idea, layers that hold."""

from __future__ import annotations

import ast
import re
import tomllib
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest
from packaging.requirements import Requirement

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[1]
MODULES = sorted([*ROOT.glob("curation/**/*.py"), *ROOT.glob("app/**/*.py")])


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imported(path: Path) -> set[str]:
    """The top-level packages that a module imports anywhere."""
    names = set()
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            names.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module.partition(".")[0])
    return names


@pytest.mark.costly("every module is parsed")
def test_a_class_name_exists_once() -> None:
    places = defaultdict(list)
    for path in MODULES:
        for node in tree(path).body:
            if isinstance(node, ast.ClassDef):
                places[node.name].append(str(path.relative_to(ROOT)))
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_every_module_says_what_it_owns() -> None:
    assert [str(path.relative_to(ROOT)) for path in MODULES if not ast.get_docstring(tree(path))] == []


def test_no_name_is_a_word_that_says_nothing_of_what_it_holds() -> None:
    empty = {"told", "beside", "loner", "deed", "whoever", "stands", "mended"}
    found = {
        f"{path.relative_to(ROOT)}: {name}"
        for path in MODULES
        for node in ast.walk(tree(path))
        for name in (getattr(node, field, None) for field in ("id", "arg", "name", "attr"))
        if isinstance(name, str) and name.strip("_").lower() in empty
    }
    assert found == set(), "use the term of the field: sentences, others, parameters"


def test_curation_never_imports_streamlit() -> None:
    curation = [path for path in MODULES if path.is_relative_to(ROOT / "curation")]
    assert [str(path) for path in curation if "streamlit" in imported(path)] == []


def test_the_app_never_talks_to_the_database_itself() -> None:
    app = [path for path in MODULES if path.is_relative_to(ROOT / "app")]
    assert [str(path) for path in app if "duckdb" in imported(path)] == []
    assert [str(path) for path in app if ".execute(" in path.read_text(encoding="utf-8")] == []


def test_uploads_are_read_in_the_server_by_one_module_and_only_where_a_page_can_wait() -> None:
    """Their bytes in app/uploads.py alone; their rows by `read_if_small`, else by a job.

    The page Import also looks at the first rows of a lead's file. Whatever a variable is called, a method
    that reads a file may read an upload: elsewhere only readers of cookies may have a method of that name.
    """
    file_methods = {"read", "read1", "readinto", "readline", "readlines", "getvalue", "getbuffer"}
    cookie_readers = {"cookie_codec()", "PENDING_COOKIE", "PROVIDER_COOKIE"}
    of_files = {"dry_run": "app/views/importing/dry_run.py", "submit": "app/views/evaluate/submit.py"}
    first_rows = {"preview_file", "guess_kind"}
    bytes_read, outside, looking = set(), set(), set()
    for path in (ROOT / "app").rglob("*.py"):
        name = path.relative_to(ROOT).as_posix()
        calls = [node for node in ast.walk(tree(path)) if isinstance(node, ast.Call)]
        bytes_read |= {
            name
            for node in ast.walk(tree(path))
            if isinstance(node, ast.Attribute)
            and node.attr in file_methods
            and ast.unparse(node.value) not in cookie_readers
        }
        waited_for = {
            inner
            for call in calls
            if isinstance(call.func, ast.Name) and call.func.id == "read_if_small"
            for inner in ast.walk(call)
        }
        for call in calls:
            if isinstance(call.func, ast.Name) and call.func.id in first_rows:
                looking.add(name)
            elif (
                isinstance(call.func, ast.Name)
                and of_files.get(call.func.id) == name
                and call not in waited_for
            ):
                outside.add(f"{name} {ast.unparse(call)}")
        from_curation = {
            alias.name
            for node in ast.walk(tree(path))
            if isinstance(node, ast.ImportFrom)
            and node.module in {"curation.operations.import_jobs", "curation.evaluation.evaluate"}
            for alias in node.names
        }
        outside |= {f"{name} {one}" for one in from_curation & of_files.keys() if of_files[one] != name}
    assert bytes_read == {"app/uploads.py"}
    assert outside == set()
    assert looking == {"app/views/importing/__init__.py", "app/views/evaluate/run_files.py"}


def test_the_duckdb_that_is_tested_is_admitted_and_none_that_cannot_read_its_files() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    (duckdb,) = (found for found in map(Requirement, declared) if found.name == "duckdb")
    pins = (ROOT / ".ci/constraints.txt").read_text(encoding="utf-8").splitlines()
    (tested,) = (pin.partition("==")[2] for pin in pins if pin.startswith("duckdb=="))
    assert tested in duckdb.specifier
    assert not [other for other in ("1.5.5", "1.5.6", "3.0.0") if other in duckdb.specifier]


def test_no_function_of_the_store_gives_the_whole_corpus_as_a_list() -> None:
    lists = {
        node.name
        for node in tree(ROOT / "curation/store/documents.py").body
        if isinstance(node, ast.FunctionDef)
        and node.returns
        and ast.unparse(node.returns) == "list[Document]"
    }
    assert lists == {"first_documents"}  # which takes a number


def test_no_text_advises_to_install_goldgrade_from_an_index_where_another_project_has_its_name() -> None:
    texts = [*MODULES, *ROOT.glob("goldgrade/*.py"), *ROOT.glob("docs/**/*.md"), ROOT / "README.md"]
    advice = re.compile(r"pip install [^`\n]*gold(set|grade)\b|goldgrade\[")
    assert [str(path) for path in texts if advice.search(path.read_text(encoding="utf-8"))] == []
