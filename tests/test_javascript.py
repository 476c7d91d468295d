"""The modules of the annotating loops: unit tests in node, and how they are joined for the browser."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from app.annotating import join_modules, read_script

ROOT = Path(__file__).parents[1]
NODE = shutil.which("node")


@pytest.mark.slow
@pytest.mark.skipif(NODE is None, reason="node is not installed: .ci/node")
def test_the_unit_tests_in_node_pass() -> None:
    ran = subprocess.run(
        [str(NODE), "--test", *map(str, (ROOT / "tests/javascript").glob("*.test.js"))],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout
    assert int(re.findall(r"^# pass (\d+)", ran.stdout, re.MULTILINE)[0]) > 8


def test_a_joined_module_sees_no_name_of_another(tmp_path: Path) -> None:
    (tmp_path / "a.js").write_text("const OWN = 1;\nexport function first() { return OWN; }\n")
    (tmp_path / "b.js").write_text(
        'import { first } from "./a.js";\nconst OWN = 2;\nexport class Second { own = [first(), OWN]; }\n'
    )
    source = 'import { first } from "./a.js";\nimport { Second } from "./b.js";\nconst OWN = 3;'
    text = join_modules(source, tmp_path)
    assert text.count("function first") == 1, "a module that is imported twice is there once"
    assert text.index("function first") < text.index("class Second"), "each after those that it imports"
    assert not re.search(r"^(import|export)\b", text, re.MULTILINE)
    if NODE:
        said = f"{text}\nconsole.log(JSON.stringify([...new Second().own, OWN]))"
        assert subprocess.check_output([NODE, "-e", said], text=True).strip() == "[1,2,3]"


@pytest.mark.parametrize("entry", ["grading/grading.js", "grading/panel.js", "deciding/deciding.js"])
def test_a_component_is_one_module_with_one_default_export(entry: str) -> None:
    text = read_script(ROOT / "app" / entry)
    assert len(re.findall(r"^export default ", text, re.MULTILINE)) == 1
    assert not re.search(r"^(import|export (?!default))", text, re.MULTILINE)
