"""Translating on a GPU: our plain and our captured search beside Hugging Face's generate, in one process.

The model is a Transformer of random weights over 32,000 tokens that Marian can express, made so that its outputs end
after 25 to 30 tokens; Hugging Face runs the same weights, exported. All get the same batches of tokens, lying on the
device, and give lists of tokens; the last two lines are ours from text to text, and from file to file as
`regard translate FILE -o FILE` goes, the model loaded. Output tokens a second count no padding.
"""

import argparse
import cProfile
import pstats
import random
import statistics
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
from device import DEVICE, seconds_of, wait
from torch import Tensor

from regard.attention.positions import sinusoids
from regard.base.model_folder import RECIPE, update_folder
from regard.base.progress import silent
from regard.base.recipe import write
from regard.console.lines import TextInput
from regard.data.tokenisers.subwords import SubwordTokeniser, train_subwords
from regard.decoding.beam import beam_search
from regard.decoding.fixed_beam import fixed_beam_search
from regard.decoding.options import DecodingOptions
from regard.decoding.output import Hypothesis
from regard.decoding.step_graphs import CapturedSteps
from regard.engines.translated import Translated
from regard.families import check_recipe
from regard.hardware.cuda_graphs import CapturedStep
from regard.models.transformer.network import Transformer
from regard.tasks.translation.batches import PairBatch
from regard.tasks.translation.building import build_translation
from regard.tasks.translation.reserving import Reserving
from regard.verbs.translate.folder_translator import FolderTranslator
from regard.verbs.translate.line_translator import ConstraintsByLine, LineTranslator, Portion, Stream, translate_lines
from regard.verbs.translate.model import TranslationModel
from regard.verbs.translate.plan import Plan, whole_texts
from regard.verbs.translate.request import TranslateRequest
from regard.verbs.translate.run import runner

VOCABULARY, OUTPUT, ROUNDS = 32_000, 26, 3
DTYPES = {"bf16": torch.bfloat16, "float32": torch.float32}
BEAMS = {"greedy": 1, "beam 4": 4}
OURS = ["plain", "captured", "text to text", "file to file"]

Found = list[list[int]] | list[Translated]  # the tokens of each output, or the output itself
Contender = Callable[[], Found]  # translates everything


def random_words(count: int) -> list[str]:
    """Words of up to four syllables, the same in every run."""
    chance = random.Random(1)
    syllables = [consonant + vowel for consonant in "bcdfglmnprstvz" for vowel in "aeiou"]
    return ["".join(chance.choices(syllables, k=chance.randint(1, 4))) for _ in range(count)]


def random_model(preset: str, vocabulary: int) -> TranslationModel:
    """Random weights, but that the longer an output is, the more likely is its end."""
    tokeniser = SubwordTokeniser(train_subwords("bpe", vocabulary, False, _lines(random_words(60_000), 25)), "bpe", 0.0)
    recipe = check_recipe(
        {
            "data": {"train": "demo:train", "tokeniser": {"kind": "bpe", "vocabulary": tokeniser.size}},
            "model": {"preset": preset, "tied": False, "longest": 512},
        }
    )
    task = build_translation(recipe, tokeniser, tokeniser)
    assert isinstance(task.model, Transformer)
    with torch.no_grad():
        _make_it_end(task.model, tokeniser.end)
    return TranslationModel(task, recipe)


def _make_it_end(network: Transformer, end: int) -> None:
    """Let a direction of the states grow with the place of a token, and the end's logit with that direction."""
    width = network.options.width
    for block in network.decoder:  # then what the embeddings say is still to be seen behind the last block
        for projection in (block.self_look.out, block.cross.out, block.feed_forward.outer):
            projection.weight.mul_(0.1)
    places = torch.arange(64)
    wanted = ((places - OUTPUT) / 6.0).clamp(-1, 1).double()
    growing = torch.linalg.pinv(sinusoids(places, width).double(), rcond=1e-3) @ wanted
    unit = (growing / growing.norm()).float()
    # Tokens differ a little in how much they hasten the end, so that not all outputs are of one length.
    hastening = 0.15 * torch.randn(network.target_embedding.weight.shape[0]) / growing.norm() * width**-0.5
    for embedding in {network.source_embedding, network.target_embedding}:
        weight = embedding.weight
        weight += torch.outer(hastening - weight @ unit, unit)
    network.out.weight.mul_(2.0)
    network.out.weight[end] = 40 * growing.float()


def _lines(words: Sequence[str], length: int) -> list[str]:
    return [" ".join(words[first : first + length]) for first in range(0, len(words), length)]


def random_texts(count: int) -> list[str]:
    """Of 14 to 28 words, the longest first."""
    words, chance = random_words(60_000), random.Random(2)
    texts = [" ".join(chance.choices(words, k=chance.randint(14, 28))) for _ in range(count)]
    return sorted(texts, key=len, reverse=True)


class Noting(LineTranslator):
    """Also notes the translations of each portion by its first line."""

    def __init__(self, translator: FolderTranslator, request: TranslateRequest) -> None:
        super().__init__(translator, request)
        self.noted: dict[int, list[Translated]] = {}

    def __call__(self, portions: Iterable[Portion], ahead: bool) -> Iterator[tuple[Portion, list[Translated]]]:
        for portion, translations in super().__call__(portions, ahead):
            self.noted[portion.first] = translations
            yield portion, translations


@dataclass(frozen=True)
class Work:
    """A model on the device, the texts in batches, and a way to search."""

    model: TranslationModel
    texts: list[list[str]]
    options: DecodingOptions

    @property
    def batches(self) -> list[PairBatch]:
        return [self.model.task.read(texts) for texts in self.texts]

    def limits(self, batch: PairBatch) -> Tensor:
        return self.model.task.limits(batch, self.options)

    def plain(self) -> Contender:
        task, batches = self.model.task, self.batches
        return lambda: _tokens(
            each for batch in batches for each in beam_search(task, batch, self.limits(batch), self.options)
        )

    def steady(self, captures: CapturedSteps) -> Contender:
        task, batches = self.model.task, self.batches
        writer = Reserving(task)

        def search(batch: PairBatch) -> list[list[Hypothesis]]:
            return fixed_beam_search(writer, batch, self.limits(batch), self.options, captures)

        return lambda: _tokens(each for batch in batches for each in search(batch))

    def text_to_text(self) -> Contender:
        run = runner(self.model, Plan(self.options))
        return lambda: [each for texts in self.texts for each in run(whole_texts(texts))]

    def tokens(self, found: Found) -> list[list[int]]:
        """The tokens of outputs, which translations have by their names."""
        target = self.model.task.target
        numbers = {piece: token for token, piece in enumerate(target.pieces(range(target.size)))}
        return [[numbers[piece] for piece in each.tokens] if isinstance(each, Translated) else each for each in found]

    def file_to_file(self, folder: Path) -> Contender:
        """What the command does once its model is loaded."""
        update_folder(folder, {RECIPE: write(self.model.recipe, "random").encode()})
        source, out = folder / "texts", folder / "outputs"
        source.write_text("".join(f"{text}\n" for texts in self.texts for text in texts), encoding="utf-8")
        search = {"length_penalty_kind": self.options.length_penalty_kind}
        request = TranslateRequest(
            text=[""], beam=self.options.beam, length_penalty=1.0, search=search, explain=False, split_sentences=False
        )
        translator = FolderTranslator(folder, "torch")
        translator.__dict__["_model"] = self.model  # on its device and in its precision already
        lines = Noting(translator, request)

        def translate() -> list[Translated]:
            constraints = ConstraintsByLine(None, None, None)
            with out.open("w", encoding="utf-8") as file:
                translate_lines(lines, TextInput(file=source), constraints, Stream(file), silent)
            return [each for _, portion in sorted(lines.noted.items()) for each in portion]

        return translate

    def generate(self, network: Any) -> Contender:
        """Hugging Face's search, with nothing asked of it beyond ours."""
        from transformers import GenerationConfig

        task, options = self.model.task, self.options
        special = {"pad_token_id": task.target.pad, "eos_token_id": task.end, "decoder_start_token_id": task.begin}
        settings = {"num_beams": options.beam, "length_penalty": options.length_penalty, "early_stopping": False}
        batches = [
            (batch.source, batch.source != task.source.pad, int(self.limits(batch).max())) for batch in self.batches
        ]
        if options.beam == 1:
            settings = {"num_beams": 1}

        def translate() -> list[list[int]]:
            found: list[list[int]] = []
            for source, real, limit in batches:
                asked = GenerationConfig(do_sample=False, max_new_tokens=limit, **settings, **special)
                rows = network.generate(source, attention_mask=real.long(), generation_config=asked)
                found += [_cut(row[1:], task.end) for row in rows.tolist()]
            return found

        return translate


def _tokens(found: Any) -> list[list[int]]:
    return [hypotheses[0].tokens for hypotheses in found]


def _cut(row: list[int], end: int) -> list[int]:
    return row[: row.index(end)] if end in row else row


def exported(model: TranslationModel, dtype: torch.dtype) -> Any:
    """The same weights in Hugging Face's hands."""
    from transformers import GenerationConfig, MarianMTModel
    from transformers.utils import logging

    from regard.engines.marian.export import export_marian

    logging.disable_progress_bar()
    logging.set_verbosity_error()
    with tempfile.TemporaryDirectory() as place:
        export_marian(model, Path(place) / "marian")
        network = MarianMTModel.from_pretrained(Path(place) / "marian").to(DEVICE, dtype).eval()
    network.generation_config = GenerationConfig()  # what the exported one adds to a search would only slow it down
    return network


def compare(contenders: dict[str, tuple[Contender, int]], title: str, work: Work) -> None:
    """One line for each contender, which take turns; the ratio is to Hugging Face's."""
    times: dict[str, list[float]] = {name: [] for name in contenders}
    found: dict[str, list[list[int]]] = {}
    for number in range(ROUNDS + 1):
        for name, (contender, rounds) in contenders.items():
            if number == 0:
                found[name] = work.tokens(contender())  # the first round warms up
            elif number <= rounds:
                times[name].append(seconds_of(contender))
    rates = {name: sum(map(len, found[name])) / statistics.median(times[name]) for name in contenders}
    base = rates.get("HF generate", float("nan"))
    first = next(iter(found.values()))
    for name, rate in rates.items():
        outputs, took = found[name], 1000 * statistics.median(times[name]) / len(work.texts)
        length = sum(map(len, outputs)) / len(outputs)
        same = sum(one == other for one, other in zip(first, outputs, strict=True)) / len(outputs)
        print(
            f"{title:16} {name:22} {rate:11,.0f} {rate / base:7.2f} {took:9.1f} {length:8.1f} {same:8.0%}", flush=True
        )


def check(work: Work, title: str) -> None:
    """How much of what the plain search finds the captured one finds, and the steady one without graphs."""
    task = work.model.task
    plain = [beam_search(task, batch, work.limits(batch), work.options) for batch in work.batches]
    for name, captures in (("without graphs", CapturedSteps(graphs=False)), ("captured", CapturedSteps())):
        found = [
            fixed_beam_search(Reserving(task), batch, work.limits(batch), work.options, captures)
            for batch in work.batches
        ]
        pairs = [
            (one[0], other[0])
            for each, others in zip(plain, found, strict=True)
            for one, other in zip(each, others, strict=True)
        ]
        same = sum(one.tokens == other.tokens for one, other in pairs)
        apart = max(abs(one.score - other.score) for one, other in pairs)
        print(
            f"{title:16} {name:22} {same} of {len(pairs)} outputs as plain, scores at most {apart:.2g} apart",
            flush=True,
        )


def rewind(captured: CapturedStep) -> None:
    """Back to the first step, for there is room for so many only."""
    captured.held.sentence.place.zero_()
    captured.held.standing.time.zero_()


def profile(work: Work, title: str) -> None:
    """Where the time of a batch goes, by stage and by kernel."""
    from torch.profiler import ProfilerActivity
    from torch.profiler import profile as profiled

    captures, task, batch = CapturedSteps(), work.model.task, work.batches[0]
    writer, limits = Reserving(task), work.limits(batch)

    def search() -> Any:
        return fixed_beam_search(writer, batch, limits, work.options, captures)

    once = seconds_of(search)
    again = statistics.median(seconds_of(search) for _ in range(5))
    with torch.no_grad():
        reading = statistics.median(seconds_of(lambda: writer.start(batch)) for _ in range(5))
    captured = next(iter(captures))
    rewind(captured)
    many = seconds_of(lambda: [captured() for _ in range(20)]) / 20
    print(
        f"{title}: a batch {1000 * again:.2f} ms, the first {1000 * once:.0f}; reading {1000 * reading:.2f}; a step"
        f" {1000 * many:.3f}; {len(captures)} graphs",
        flush=True,
    )
    activities = [ProfilerActivity.CPU] + ([ProfilerActivity.CUDA] if DEVICE.type == "cuda" else [])
    rewind(captured)
    with profiled(activities=activities) as seen:
        captured()
        wait()
    order = "self_cuda_time_total" if DEVICE.type == "cuda" else "self_cpu_time_total"
    print(
        "one step, captured:",
        seen.key_averages().table(sort_by=order, row_limit=30, max_name_column_width=90),
        sep="\n",
    )
    with profiled(activities=activities) as seen:
        search()
        wait()
    order = "self_cpu_time_total"
    print(
        "a batch, on the host:",
        seen.key_averages().table(sort_by=order, row_limit=20, max_name_column_width=60),
        sep="\n",
    )
    with tempfile.TemporaryDirectory() as place:
        translate = work.file_to_file(Path(place))
        translate()
        host = cProfile.Profile()
        host.runcall(translate)
    print("from file to file, on the host:")
    pstats.Stats(host).sort_stats("tottime").print_stats(30)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--preset", default="base", help="sizes of the model")
    parser.add_argument("--vocabulary", type=int, default=VOCABULARY, help="tokens")
    parser.add_argument("--batch", type=int, default=64, help="texts of a batch")
    parser.add_argument("--lines", type=int, default=256, help="texts in all")
    parser.add_argument("--precision", choices=DTYPES, help="only this one")
    parser.add_argument("--search", choices=BEAMS, help="only this one")
    parser.add_argument("--check", action="store_true", help="compare what is found instead")
    parser.add_argument("--profile", action="store_true", help="show where the time goes instead")
    parser.add_argument("--no-generate", action="store_true", help="leave Hugging Face out")
    parser.add_argument("--only", nargs="+", choices=OURS, default=OURS, help="of ours only these")
    parser.add_argument("--no-graphs", action="store_true", help="search in fixed shapes, but capture nothing")
    return parser.parse_args()


def main() -> None:
    given = arguments()
    if DEVICE.type == "cuda":
        torch.backends.cuda.enable_cudnn_sdp(False)  # it plans anew for every length, to the loss of all contenders
        print(torch.cuda.get_device_name(), "torch", torch.__version__)
    texts = random_texts(given.lines)
    texts_in_batches = [texts[first : first + given.batch] for first in range(0, len(texts), given.batch)]
    if not (given.check or given.profile):
        columns = f"{'tokens/s':>11} {'to HF':>7} {'ms/batch':>9} {'length':>8} {'same':>8}"
        print(f"{given.preset}, batches of {given.batch}\n{'':16} {'':22} {columns}", flush=True)
    for precision in [given.precision] if given.precision else DTYPES:
        model = random_model(given.preset, given.vocabulary)
        _run(given, model, precision, texts_in_batches)


def _run(given: argparse.Namespace, model: TranslationModel, precision: str, texts: list[list[str]]) -> None:
    compared = not (given.check or given.profile)
    theirs = None if given.no_generate or not compared else exported(model, DTYPES[precision])
    model.task.to(DEVICE, DTYPES[precision])
    for search in [given.search] if given.search else BEAMS:
        title = f"{precision}, {search}"
        options = DecodingOptions(beam=BEAMS[search], length_penalty=1.0, length_penalty_kind="average")
        work = Work(model, texts, options)
        if given.check:
            check(work, title)
        elif given.profile:
            profile(work, title)
        else:
            with tempfile.TemporaryDirectory() as place:
                ours = {
                    "plain": (work.plain, 1),
                    "captured": (partial(work.steady, CapturedSteps(graphs=not given.no_graphs)), ROUNDS),
                    "text to text": (work.text_to_text, ROUNDS),
                    "file to file": (partial(work.file_to_file, Path(place)), ROUNDS),
                }
                contenders = {} if theirs is None else {"HF generate": (work.generate(theirs), ROUNDS)}
                for name in given.only:
                    make, rounds = ours[name]
                    contenders[f"ours, {name}"] = make(), rounds
                compare(contenders, title, work)


if __name__ == "__main__":
    main()
