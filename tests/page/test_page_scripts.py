"""The check of the page's scripts reports missing programs, and its lock file names no download address."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BASH = shutil.which("bash") or "/bin/bash"


def run(folder: Path, *programs: str, **settings: str) -> tuple[int, str]:
    """Run the checks of a page without scripts, with these programs present: npm fails, all others succeed."""
    script = folder / "tests" / "page" / "run"
    script.parent.mkdir(parents=True)
    shutil.copy(ROOT / "tests" / "page" / "run", script)
    shutil.copy(ROOT / "package-lock.json", folder)
    for name in programs:
        program = folder / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(f"#!{BASH}\necho {name} $*\n{'exit 1' if name == 'npm' else ''}\n")
        program.chmod(0o755)
    environment = {name: value for name, value in os.environ.items() if name != "REGARD_NODE"}
    environment |= {"PATH": str(folder / "bin"), **settings}
    done = subprocess.run([BASH, str(script)], env=environment, capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout + done.stderr


def test_without_node_the_scripts_are_passed_over_with_a_word(tmp_path: Path) -> None:
    status, message = run(tmp_path)
    assert (status, message.splitlines()) == (
        0,
        ["page scripts not checked: there is no node here (on Debian: apt-get install nodejs npm)"],
    )


@pytest.mark.parametrize("programs", [("node",), ("node", "npm")], ids=["no npm", "no network"])
def test_without_typescript_the_scripts_are_tested_and_their_types_passed_over(
    tmp_path: Path, programs: tuple[str, ...]
) -> None:
    status, message = run(tmp_path, *programs)
    assert status == 0
    assert "node --test tests/page/" in message
    assert "types of page scripts not checked" in message


@pytest.mark.parametrize("programs", [(), ("node",), ("node", "npm")])
def test_where_node_is_required_what_is_missing_fails(tmp_path: Path, programs: tuple[str, ...]) -> None:
    status, message = run(tmp_path, *programs, REGARD_NODE="required")
    assert status == 1
    assert "not checked" in message


def test_the_lock_file_fits_and_names_no_registry() -> None:
    versions = json.loads((ROOT / "package.json").read_text(encoding="utf-8"))["devDependencies"]
    text = (ROOT / "package-lock.json").read_text(encoding="utf-8")
    packages = json.loads(text)["packages"]
    assert "://" not in text
    assert packages[""]["devDependencies"] == versions
    assert {name: packages[f"node_modules/{name}"]["version"] for name in versions} == versions
    assert all(package["integrity"] for name, package in packages.items() if name)
