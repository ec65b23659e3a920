"""Small plugins for tests: modules with rows, packages installed with entry points, and a way to unload them."""

import os
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from regard.base import plugins
from regard.families import recipe_class

ROWS = """
    from regard.plugins import Family, Kind, Plugin, Way

    FAMILY = dict(summary="a twin of the convolutional net", paper="-", tasks=("glimpses",), looks=False,
                  module="regard.models.convolution", model="ConvNet", options="ConvNetOptions")
"""


def write_module(folder: Path, name: str, text: str) -> Path:
    """Write a module with this text after the imports and the row that most tests need."""
    path = folder / f"{name}.py"
    path.write_text(textwrap.dedent(ROWS) + textwrap.dedent(text), encoding="utf-8")
    return path


def write_entry_point(folder: Path, package: str, value: str, version: str = "1.0") -> None:
    """Make a folder on Python's path look as if a package with this entry point were installed there."""
    info = folder / f"{package.replace('-', '_')}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(f"[regard.plugins]\n{package} = {value}\n", encoding="utf-8")


def forget_plugins() -> None:
    """Forget the loaded plugins, as if this process had just started."""
    for function in (plugins._load, plugins._call, plugins._installed, plugins.installed_entry_points, recipe_class):
        function.cache_clear()
    plugins._distribution_of.cache_clear()
    plugins._registered.clear()
    os.environ[plugins.VARIABLE] = ""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return an empty folder on Python's path, in a process that has no plugin loaded before or after."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setenv(plugins.VARIABLE, "")
    forget_plugins()
    yield folder
    forget_plugins()
    for name, module in [*sys.modules.items()]:
        if (getattr(module, "__file__", None) or "").startswith(str(tmp_path)):
            del sys.modules[name]
