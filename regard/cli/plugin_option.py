"""The option --plugin, which every command accepts before and after its name."""

import warnings
from functools import cache
from typing import Annotated, Any, TextIO

import typer
from typer.main import get_command

from regard.base.plugins import PluginWarning, name_plugin
from regard.console import remark


def _name_plugins(places: list[str] | None) -> list[str] | None:
    for place in places or []:
        name_plugin(place)
    return places


Plugins = Annotated[
    list[str] | None,
    typer.Option(
        "--plugin",
        metavar="MODULE",
        help="A module whose function plugin() adds families and more; repeatable.",
        callback=_name_plugins,
        is_eager=True,
    ),
]


def take_plugins(command: Any) -> None:
    """Let a command, or each command of a group, accept --plugin after its name too."""
    for inner in getattr(command, "commands", {}).values():
        take_plugins(inner)
    command.params.append(_plugin_option())


@cache
def _plugin_option() -> Any:
    def take(plugin: Plugins = None) -> None: ...

    app = typer.Typer(add_completion=False)
    app.command()(take)
    (option,) = (parameter for parameter in get_command(app).params if parameter.name == "plugin")
    option.expose_value = False
    return option


def remark_on_plugins() -> None:
    """Print each warning about plugins once, as a remark; other warnings are shown as before."""
    show, remarks = warnings.showwarning, set[str]()

    def showwarning(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        if not issubclass(category, PluginWarning):
            show(message, category, filename, lineno, file, line)
        elif str(message) not in remarks:
            remarks.add(str(message))
            remark(str(message))

    warnings.simplefilter("always", PluginWarning)
    warnings.showwarning = showwarning
