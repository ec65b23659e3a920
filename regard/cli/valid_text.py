"""Commands that refuse arguments whose text is not valid UTF-8."""

from functools import wraps
from typing import Any

from regard.base.valid_text import refuse_invalid


def refuse_invalid_text(command: Any) -> None:
    """Make a command, or each command of a group, refuse arguments whose text is not valid UTF-8."""
    for inner in getattr(command, "commands", {}).values():
        refuse_invalid_text(inner)
    plain = command.callback
    if plain is None:
        return

    @wraps(plain)
    def callback(**arguments: Any) -> Any:
        for parameter in command.params:
            refuse_invalid(arguments.get(parameter.name), _name_of(parameter))
        return plain(**arguments)

    command.callback = callback


def _name_of(parameter: Any) -> str:
    return str(parameter.metavar if parameter.param_type_name == "argument" else max(parameter.opts, key=len))
