"""`regard translate` by CTranslate2: everything here works without torch, so that an answer comes at once."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from regard.cli.lines import LineWishes, Translator

if TYPE_CHECKING:
    from regard.translated import Translated


def fast_translator(
    folder: Path, given: dict[str, Any], cutting: dict[str, bool], explained: bool, demanded: bool
) -> Translator | None:
    """Lines by the export in a model folder, searched for as its recipe says but for what is `given`.

    None if there is no export, or none that can search in this way, unless it is `demanded`.
    """
    from regard.decoding.options import changed
    from regard.engines.ctranslate2 import has_export, load_engine
    from regard.engines.ctranslate2_search import unsupported
    from regard.translated import Cutting

    if not demanded and not has_export(folder):
        return None
    engine = load_engine(folder)
    options = changed(engine.decoding, given, None)
    if not demanded and unsupported(options):
        return None

    def measure(text: str) -> int:
        return len(engine.source.encode(text)) + 1

    def translate(texts: list[str], keys: list[int], wishes: LineWishes) -> "list[Translated]":
        return engine.translations(texts, options, scored=explained, explained=explained)

    return Translator(options.n_best, False, Cutting(engine.language, measure, engine.longest, **cutting), translate)
