"""Validating a translator: by its loss, and by really translating."""

from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from regard.base.model_folder import CERTAINTY
from regard.base.recipe import Recipe
from regard.engines.translated import Translated
from regard.measuring import Validator, measure_split, scores_of, seconds_of
from regard.metrics import METRICS
from regard.metrics.text import BETTER, is_metric
from regard.protocols import Measure
from regard.seeing.head_reports import log_entries
from regard.seeing.pair_reports import inspect
from regard.training.ranks import ALONE, Ranks
from regard.training.snapshot import Validation
from regard.verbs.translate.certainty import FEWEST, Certainty, find_certainty
from regard.verbs.translate.evaluation import from_pairs, score_outputs
from regard.verbs.translate.model import TranslationModel, load_translation_model
from regard.verbs.translate.plan import Plan, whole_texts
from regard.verbs.translate.run import runner

WATCHED = 64  # validation pairs on which heads are watched, where that is asked for
FIRST_TIMED, TIMED = 8, 64  # validation pairs translated to know what a validation costs
LONGER = 1.5  # than its reference an output may be, of a model that has learnt little
SAMPLES = 2  # outputs shown at each validation
CERTAIN = 200  # validation pairs by which a run whose validations translate nothing finds how sure its model is
TRANSLATED = ("bleu", "chrf")  # what a validation measures by really translating, beside what `best_by` names


class TranslationValidator(Validator):
    """Measures a translator on its validation data: by loss, and by really translating."""

    def __init__(self, task: Any, recipe: Any, ranks: Ranks = ALONE) -> None:
        super().__init__(task, recipe, ranks)
        self.model = TranslationModel(task, recipe)

    @classmethod
    def names(cls, recipe: Recipe) -> list[str]:
        own, wanted = super().names(recipe), recipe.training.best_by
        if not recipe.training.validation_beam:
            return own
        return [*own, *METRICS.named(), *([wanted] if is_metric(wanted, own) else [])]

    def __call__(self) -> Validation:
        recipe, task = self.model.recipe, self.model.task
        pairs, beam = task.pairs.corpus.valid, recipe.training.validation_beam
        measures = measure_split(task, "valid", self.ranks)
        (perplexity,) = scores_of({"perplexity": measures["perplexity"]}, "valid")
        scores = [perplexity.as_dict() | {"n": len(pairs)}]
        samples: list[tuple[str, str, str]] = []
        certainty: Certainty | None = None
        if beam:
            data = from_pairs(pairs, "valid", recipe.data.merge_references)
            plan = self.model.plan(beam=beam, n_best=1)
            found = self._translate(data.sources, plan)
            outputs, certainty = [each.text for each in found], find_certainty(found)
            wanted = recipe.training.best_by
            for metric in dict.fromkeys([*TRANSLATED, *([wanted] if is_metric(wanted, task.MEASURES) else [])]):
                score = score_outputs(outputs, data.references, metric, "valid", plan)
                measures[metric] = Measure.of_value(score.value, BETTER[metric], score.signature)
                scores.append(score.as_dict())
            shown = zip(data.sources, outputs, data.references[0], strict=True)
            samples = [(source, output, target or "") for source, output, target in islice(shown, SAMPLES)]
        details = log_entries(task, inspect(task, pairs[:WATCHED])) if recipe.training.log_attention else {}
        kept = None if certainty is None else certainty.to_bytes()
        return Validation(measures, scores, samples, details, kept)

    def _translate(self, texts: Sequence[str], plan: Plan) -> list[Translated]:
        """Translations of all texts, in as many shares as batches have pieces, which ranks take in turn.

        A text's mates in a search decide its last bits, and so the shares are the same however many ranks there are.
        """
        shares, ranks, run = self.model.recipe.training.pieces, self.ranks, runner(self.model, plan)
        if shares == 1:
            return run(whole_texts(texts))
        own = {
            share: [
                (each.text, each.score, each.tokens, each.token_scores)
                for each in run(whole_texts(texts[share::shares]))
            ]
            for share in range(ranks.rank, shares, ranks.size)
        }
        found: list[Translated | None] = [None] * len(texts)
        for share, outputs in ((share, each) for of_rank in ranks.gather(list(own.items())) for share, each in of_rank):
            found[share::shares] = [
                Translated(text, score, tokens, scores, [(text, score)], _align=list)
                for text, score, tokens, scores in outputs
            ]
        return [each for each in found if each is not None]

    def timed(self, most: float) -> tuple[float, float]:
        """Return about how many seconds a validation takes, by loss and by translating, from a few of its sentences.

        A model that has learnt nothing writes to the limit; one that has learnt a little ends of itself, if late.
        """
        task, recipe = self.model.task, self.model.recipe
        pairs, beam = task.pairs.corpus.valid, recipe.training.validation_beam
        if not pairs:
            return 0.0, 0.0
        batch = task.pair_up(pairs[:TIMED])
        measuring = len(pairs) / len(pairs[:TIMED]) * seconds_of(lambda: task.measure(batch), most)
        if not beam:
            return measuring, 0.0
        writing = self._time_translating(pairs[:FIRST_TIMED], beam, most)
        if writing * FIRST_TIMED / len(pairs) < most:  # where those take long, more are not needed
            writing = self._time_translating(pairs[:TIMED], beam, most)
        return measuring, writing

    def _time_translating(self, sample: Sequence[tuple[str, str]], beam: int, most: float) -> float:
        task, outputs = self.model.task, list[Translated]()

        def translate() -> None:
            run = runner(self.model, self.model.plan(beam=beam, n_best=1))
            outputs[:] = run(whole_texts([source for source, _ in sample]))

        seconds = seconds_of(translate, most)
        written = sum(len(output.tokens) + 1 for output in outputs)
        wanted = sum(len(tokens) + 1 for tokens in task.target.encode_all([target for _, target in sample]))
        times = len(task.pairs.corpus.valid) / len(sample)
        return times * seconds * min(1.0, LONGER * wanted / written)

    def closing_files(self, folder: Path, device: str) -> dict[str, bytes]:
        recipe = self.model.recipe
        if recipe.training.validation_beam:
            return {}  # the validation of these very weights has found it
        model = load_translation_model(folder, device)
        pieces = whole_texts([source for source, _ in self.model.task.pairs.corpus.valid[:CERTAIN]])
        run = runner(model, model.plan(n_best=1))
        certainty = find_certainty(run(pieces)) if len(pieces) >= FEWEST else None
        return {CERTAINTY: certainty.to_bytes()} if certainty else {}
