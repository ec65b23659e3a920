"""`regard translate` by an export: everything here works without torch, so that an answer comes at once."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from regard.cli.lines import LineConstraints, Translator

if TYPE_CHECKING:
    from regard.engines.fast import Choice
    from regard.verbs.translate.outputs import Translated


def fast_translator(
    folder: Path, given: dict[str, Any], cutting: dict[str, bool], explained: bool, engine: "Choice"
) -> Translator | None:
    """Lines by an export in a model folder, searched for as its recipe says but for what is `given`.

    None if there is no export, or none that can search in this way, unless an `engine` other than auto is named.
    """
    from regard.decoding.options import changed
    from regard.engines.fast import load_fast
    from regard.engines.plain_beam import unsupported
    from regard.verbs.translate.outputs import Cutting

    fast = load_fast(folder, engine)
    if fast is None:
        return None
    options = changed(fast.decoding, given, None)
    if engine == "auto" and unsupported(options):
        return None

    def measure(text: str) -> int:
        return len(fast.source.encode(text)) + 1

    def translate(texts: list[str], keys: list[int], constraints: LineConstraints) -> "list[Translated]":
        return fast.translations(texts, options, scored=explained, explained=explained)

    return Translator(options.n_best, False, Cutting(fast.language, measure, fast.learnt, **cutting), translate)
