"""Run modules of the one-file page in Node, on JSON."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

MODULES = Path(__file__).parents[2] / "regard" / "page" / "onefile"
_FRAME = """
import {{ readFileSync }} from "node:fs";
const given = JSON.parse(readFileSync(0, "utf8"));
{imports}
const run = async () => {{ {body} }};
process.stdout.write(JSON.stringify(await run()));
"""

# Of the texts that a page and Python both split, `make test` reads one in eight, and `make test-long` the others.
PARTS = ["some", pytest.param("others", marks=pytest.mark.long)]


def some_of(texts: list[str], part: str) -> list[str]:
    """Return one text in eight, or the others."""
    return [text for place, text in enumerate(texts) if (place % 8 == 0) == (part == "some")]


def run_modules(body: str, given: Any, **names: str) -> Any:
    """Return what the body of a function gives for `given`; `names` are what it imports, by module."""
    if (node := shutil.which("node")) is None:
        pytest.skip("modules of the page not run: there is no node here (on Debian: apt-get install nodejs)")
    imports = "\n".join(f'import {{ {name} }} from "{MODULES / module}.js";' for module, name in names.items())
    script = _FRAME.format(imports=imports, body=body)
    done = subprocess.run(
        [node, "--input-type=module", "-e", script],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
