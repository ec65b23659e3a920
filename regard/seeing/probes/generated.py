"""Sentences of the demo's grammar that suit a model: in its languages, and none that it learnt from."""

from regard.base.faults import Fault
from regard.data.corpora.languages import find_language
from regard.data.corpora.options import PairData
from regard.data.demo import DEMO
from regard.data.demo.labels import CORPORA, ENGLISH, labelled_pairs
from regard.data.generated.corpora import generator_of
from regard.data.word_labels import LabelledSentence
from regard.loading import Loaded
from regard.seeing.training_texts import first_texts

_LANGUAGES = (ENGLISH, *CORPORA)


def unlearnt_pairs(corpus: str, count: int) -> list[tuple[LabelledSentence, LabelledSentence]]:
    """Return labelled pairs of the splits that no model learns from."""
    pairs = labelled_pairs("valid", corpus, count)
    return pairs if len(pairs) == count else [*pairs, *labelled_pairs("test", corpus, count - len(pairs))]


def corpus_for(model: Loaded, language: str | None, side: str) -> tuple[str, bool]:
    """Return the generated corpus for a model, and whether the model reads (or writes from) its target side.

    A translator of a generated corpus gets that one; others are chosen by language.
    """
    data = getattr(model.recipe, "data", None)
    if isinstance(data, PairData):
        return _for_translator(data, language, side)
    chosen = language or _language_of(model)
    return CORPORA.get(chosen, CORPORA["pt"]), chosen != ENGLISH


def _for_translator(data: PairData, language: str | None, side: str) -> tuple[str, bool]:
    reads, writes = data.source_language, data.target_language
    generators = {generator_of(corpus.pairs) if corpus.pairs else None for corpus in data.train}
    if language is None and len(generators) == 1 and (generator := generators.pop()) in DEMO:
        return str(generator), False
    if side == "decoder":
        if language is None and ENGLISH in (reads, writes) and (corpus := CORPORA.get(reads) or CORPORA.get(writes)):
            return corpus, reads != ENGLISH
        raise Fault(
            f"The grammar translates between English and Portuguese or Russian, but this model translates {reads} to "
            f"{writes}; only its encoder can be probed, with --tagged."
        )
    chosen = language or reads
    if chosen not in _LANGUAGES:
        raise _other_language(f"this model reads {chosen}")
    return CORPORA.get(chosen) or CORPORA.get(writes, CORPORA["pt"]), chosen != ENGLISH


def _language_of(model: Loaded) -> str:
    """Return the language of the text that a model learnt from; English if that is gone or cannot be told."""
    try:
        found = find_language(first_texts(model))
    except Fault:
        return ENGLISH
    if found is not None and found not in _LANGUAGES:
        raise _other_language(f"this model has learnt from text in another language ({found})")
    return found or ENGLISH


def _other_language(clause: str) -> Fault:
    return Fault(
        f"The grammar has English, Portuguese and Russian sentences, but {clause}; give tagged sentences with "
        "--tagged, or choose one of these with --language."
    )
