"""Translating on the CPU: our engine beside CTranslate2 driven by hand, and on demand Hugging Face's generate.

Without arguments the model is a base Transformer of random weights over 32,000 tokens that ends every output after 25
tokens, so that all contenders do the same work; with a model folder and a text it is that model. CTranslate2 by hand is
at its best setting, int8 and one replica of one thread for each core. Our engine of ONNX graphs translates a sentence a
core, whatever the size of a batch. All start and end with text.
Contenders take turns, so that a busy moment of the machine hits all of them.
"""

import argparse
import os
import shutil
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import ctranslate2
import numpy as np
import torch
from table import Contender, Ratio, against, in_turns, show

from regard.attention.positions import Learned
from regard.base.recipe import write
from regard.data.tokenisers.words import WordTokeniser
from regard.decoding.options import DecodingOptions
from regard.engines.ctranslate2.engine import CTranslate2Engine, load_engine
from regard.engines.ctranslate2.export import export_ctranslate2
from regard.engines.exported import CTRANSLATE2, ONNX, RECORD, SHORTLIST, is_export, origins, write_record
from regard.engines.onnx import engine as onnx_engine
from regard.engines.onnx.engine import OnnxEngine
from regard.engines.onnx.export import export_onnx
from regard.engines.shortlist import COMMON, TRANSLATIONS, Shortlist
from regard.families import check_recipe
from regard.models.transformer.network import Transformer
from regard.tasks.translation.building import build_translation
from regard.training import checkpoint
from regard.training.snapshot import named_weights
from regard.verbs.translate.model import load_translation_model

VOCABULARY, SOURCE, OUTPUT = 32_000, 25, 25
CORES, ROUNDS = len(os.sched_getaffinity(0)), 5
COLUMNS = {  # beam, rows of a batch, texts
    "greedy, batch 32": (1, 32, 32 * CORES),
    "greedy, batch 1": (1, 1, 4 * CORES),
    "beam 4, batch 1": (4, 1, 4 * CORES),
    "beam 4, batch 32": (4, 32, 32 * CORES),
}


def random_model(folder: Path) -> Path:
    """The base preset, its weights random but for this: from place 25 on, every state points to the end token."""
    recipe = check_recipe(
        {
            "data": {"train": "demo:train", "tokeniser": {"kind": "words", "vocabulary": VOCABULARY}},
            "model": {"preset": "base", "norm": "before", "positions": "learned"},
        }
    )
    tokeniser = WordTokeniser([f"w{number}" for number in range(VOCABULARY - 4)])
    task = build_translation(recipe, tokeniser, tokeniser)
    assert isinstance(task.model, Transformer)
    assert isinstance(task.model.target_places, Learned)
    with torch.no_grad():
        end = task.model.out.weight[tokeniser.end]
        task.model.target_places.places.weight[OUTPUT:] += 1000 * end / end.norm()
    files = {checkpoint.RECIPE: write(recipe, "random").encode(), **tokeniser.files("tokeniser")}
    files[checkpoint.WEIGHTS] = checkpoint.weights_to_bytes(named_weights(task))
    checkpoint.update_folder(folder, files)
    export_ctranslate2(folder, folder / CTRANSLATE2, "int8")
    export_onnx(load_translation_model(folder), folder / ONNX, "int8", origins(checkpoint.read_folder(folder)))
    return folder


def with_random_shortlist(model: Path, folder: Path) -> Path:
    """The same with a shortlist as large as learnt ones are.

    Translations are drawn as words are, by Zipf: some 1,060 candidates for a text and 2,600 for a batch of 32. Learnt
    on Tatoeba (English to Portuguese, 16,000 tokens) they are 1,094 and 2,612.
    """
    shutil.copytree(model, folder)
    generator, names = np.random.default_rng(0), load_engine(model).source.pieces(range(VOCABULARY))
    order = 4 + generator.permutation(VOCABULARY - 4)
    drawn = order[np.minimum(generator.zipf(1.4, (VOCABULARY, TRANSLATIONS)), VOCABULARY - 4) - 1]
    found = Shortlist(order[:COMMON].tolist(), {token: sorted({*row.tolist()}) for token, row in enumerate(drawn)})
    (folder / CTRANSLATE2 / SHORTLIST).write_text(found.text(names, names), encoding="utf-8")
    (folder / CTRANSLATE2 / RECORD).unlink()
    made_from = origins(checkpoint.read_folder(folder))
    write_record(folder / CTRANSLATE2, "int8", made_from)
    export_onnx(load_translation_model(folder), folder / ONNX, "int8", made_from, found)
    return folder


def random_texts(count: int) -> list[str]:
    words = np.random.default_rng(1).integers(0, VOCABULARY - 4, (count, SOURCE))
    return [" ".join(f"w{word}" for word in row) for row in words]


def by_engine(engine: CTranslate2Engine | OnnxEngine, texts: list[str], beam: int) -> Contender:
    options = DecodingOptions(beam=beam, stop="first")

    def translate() -> float:
        found = [row[0].tokens for row in engine.translate(texts, options, scored=False)]
        written = [engine.target.decode(tokens) for tokens in found]
        assert len(written) == len(texts)
        return sum(map(len, found))

    return translate


def by_hand(model: Path, texts: list[str], beam: int, rows: int) -> Contender:
    engine = load_engine(model, workers=1)
    source, target = engine.source, engine.target
    tokens = {piece: token for token, piece in enumerate(target.pieces(range(target.size)))}
    longest = max(map(len, source.encode_all(texts)))
    search = {"beam_size": beam, "length_penalty": 0.5, "max_decoding_length": DecodingOptions().limit(longest, 2**16)}
    translator = ctranslate2.Translator(str(model / CTRANSLATE2), inter_threads=CORES, intra_threads=1)

    def translate() -> float:
        cut = [source.pieces(each) for each in source.encode_all(texts)]
        found = [result.hypotheses[0] for result in translator.translate_batch(cut, max_batch_size=rows, **search)]
        written = [target.decode([tokens[piece] for piece in pieces]) for pieces in found]
        assert len(written) == len(texts)
        return sum(map(len, found))

    return translate


def by_generate(texts: list[str], beam: int, rows: int) -> Contender:
    """A Marian model of the same sizes by Hugging Face, made to write as many tokens, with torch's own threads.

    It cannot have the same weights: Marian has no learned positions, by which the model knows when to end.
    """
    from transformers import MarianConfig, MarianMTModel

    sizes = {"d_model": 512, "encoder_ffn_dim": 2048, "decoder_ffn_dim": 2048, "vocab_size": VOCABULARY}
    layers = {
        f"{side}_{what}": count
        for side in ("encoder", "decoder")
        for what, count in (("layers", 6), ("attention_heads", 8))
    }
    special = {"pad_token_id": 0, "eos_token_id": 3, "decoder_start_token_id": 2, "forced_eos_token_id": None}
    network = MarianMTModel(MarianConfig(**sizes, **layers, **special)).eval()
    tokens = torch.randint(4, VOCABULARY, (len(texts), SOURCE), generator=torch.Generator().manual_seed(1))

    def translate() -> float:
        with torch.inference_mode():
            for batch in tokens.split(rows):
                network.generate(batch, num_beams=beam, min_new_tokens=OUTPUT, max_new_tokens=OUTPUT, do_sample=False)
        return len(texts) * OUTPUT

    return translate


def ratios_of(model: Path, listed: Path | None, texts: list[str] | None, generate: bool) -> Iterator[Ratio]:
    """Ours, with and without a shortlist, beside each of the peers, in every column."""
    torch.set_num_threads(CORES)  # which a benchmark before this one may have changed
    for column, (beam, rows, count) in COLUMNS.items():
        own = random_texts(count) if texts is None else texts[:count]
        contenders = {
            "ours": by_engine(load_engine(model, rows=rows), own, beam),
            "CTranslate2 by hand": by_hand(model, own, beam, rows),
        }
        if listed is not None:
            contenders["ours with a shortlist"] = by_engine(load_engine(listed, rows=rows), own, beam)
        for folder, more in ((model, ""), (listed, " with a shortlist")):
            if folder is not None and is_export(folder / ONNX):
                contenders[f"ours by ONNX graphs{more}"] = by_engine(onnx_engine.load_engine(folder), own, beam)
        if generate:
            contenders["HF generate"] = by_generate(own, beam, rows)
        rates = in_turns(contenders, ROUNDS)
        mine = {name: rates.pop(name) for name in list(rates) if name.startswith("ours")}
        for name, rate in mine.items():
            what = f"translating, {column}{name.removeprefix('ours')}"
            yield from against(what, rate, rates, "output tokens")


def ratios(generate: bool = find_spec("transformers") is not None) -> Iterator[Ratio]:
    """Those of the base model with random weights."""
    with tempfile.TemporaryDirectory() as place:
        model = random_model(Path(place) / "model")
        yield from ratios_of(model, with_random_shortlist(model, Path(place) / "listed"), None, generate)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--model", type=Path, help="a model folder with an export")
    parser.add_argument("--listed", type=Path, help="the same model with an export that has a shortlist")
    parser.add_argument("--text", type=Path, help="lines to translate")
    parser.add_argument("--generate", action="store_true", help="Hugging Face's generate too; needs transformers")
    given = parser.parse_args()
    print(f"{CORES} cores, CTranslate2 {ctranslate2.__version__}, medians of {ROUNDS} rounds")
    if given.model:
        texts = given.text.read_text(encoding="utf-8").splitlines()
        show(ratios_of(given.model, given.listed, texts, given.generate))
    else:
        show(ratios(given.generate))


if __name__ == "__main__":
    main()
