"""Where there is no browser, the tests that need one say so, or fail if one was asked for."""

import os
import subprocess
import sys
from pathlib import Path


def run_without_browser(folder: Path, **settings: str) -> tuple[int, str]:
    one = f"{Path(__file__).with_name('test_page_in_browser.py')}::test_its_policy_is_in_force"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", "addopts=-ra", one]
    environment = {name: value for name, value in os.environ.items() if name != "REGARD_BROWSER"}
    environment |= {"PATH": str(folder), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", **settings}  # which take seconds
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout


def test_without_a_browser_they_are_passed_over_with_a_word(tmp_path: Path) -> None:
    status, said = run_without_browser(tmp_path)
    assert status == 0
    assert "browser tests not run: there is no Chromium" in said


def test_where_a_browser_is_required_they_fail(tmp_path: Path) -> None:
    status, said = run_without_browser(tmp_path, REGARD_BROWSER="required")
    assert status == 1
    assert "apt-get install chromium chromium-driver" in said
