"""Validate a translator: by its loss, and by translating."""

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

WATCHED = 64  # validation pairs on which heads are watched, if requested
FIRST_TIMED, TIMED = 8, 64  # validation pairs translated to estimate the time of a validation
LONGER = 1.5  # how many times longer than its reference an output of a barely trained model may be
SAMPLES = 2  # outputs shown at each validation
CERTAIN = 200  # validation pairs that determine the certainty if validations do not translate
TRANSLATED = ("bleu", "chrf")  # metrics of each validation, besides the one that `best_by` names


class TranslationValidator(Validator):
    """Measures a translator on its validation data: by loss, and by translating."""

    def __init__(self, task: Any, recipe: Any, ranks: Ranks = ALONE) -> None:
        super().__init__(task, recipe, ranks)
        self.model = TranslationModel(task, recipe)

    @classmethod
    def names(cls, recipe: Recipe) -> list[str]:
        measures, best_by = super().names(recipe), recipe.training.best_by
        if not recipe.training.validation_beam:
            return measures
        return [*measures, *METRICS.named(), *([best_by] if is_metric(best_by, measures) else [])]

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
            translations = self._translate(data.sources, plan)
            outputs, certainty = [translation.text for translation in translations], find_certainty(translations)
            best_by = recipe.training.best_by
            for metric in dict.fromkeys([*TRANSLATED, *([best_by] if is_metric(best_by, task.MEASURES) else [])]):
                score = score_outputs(outputs, data.references, metric, "valid", plan)
                measures[metric] = Measure.of_value(score.value, BETTER[metric], score.signature)
                scores.append(score.as_dict())
            rows = zip(data.sources, outputs, data.references[0], strict=True)
            samples = [(source, output, target or "") for source, output, target in islice(rows, SAMPLES)]
        details = log_entries(task, inspect(task, pairs[:WATCHED])) if recipe.training.log_attention else {}
        content = None if certainty is None else certainty.to_bytes()
        return Validation(measures, scores, samples, details, content)

    def _translate(self, texts: Sequence[str], plan: Plan) -> list[Translated]:
        """Translate all texts in as many shares as batches have pieces; the ranks take them in turn.

        The other texts in a search affect the last bits, so the shares do not depend on the number of ranks.
        """
        shares, ranks, run = self.model.recipe.training.pieces, self.ranks, runner(self.model, plan)
        if shares == 1:
            return run(whole_texts(texts))
        results = {
            share: [
                (output.text, output.score, output.tokens, output.token_scores)
                for output in run(whole_texts(texts[share::shares]))
            ]
            for share in range(ranks.rank, shares, ranks.size)
        }
        translations: list[Translated | None] = [None] * len(texts)
        for share, outputs in (
            (share, output) for rows in ranks.gather(list(results.items())) for share, output in rows
        ):
            translations[share::shares] = [
                Translated(text, score, tokens, scores, [(text, score)], _align=list)
                for text, score, tokens, scores in outputs
            ]
        return [output for output in translations if output is not None]

    def timed(self, most: float) -> tuple[float, float]:
        """Estimate the seconds that a validation takes by loss and by translating, from a few of its sentences.

        An untrained model writes up to the limit; one with a little training ends its outputs by itself, if late.
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
        if writing * FIRST_TIMED / len(pairs) < most:  # if those took long, no more are needed
            writing = self._time_translating(pairs[:TIMED], beam, most)
        return measuring, writing

    def _time_translating(self, sample: Sequence[tuple[str, str]], beam: int, most: float) -> float:
        task, outputs = self.model.task, list[Translated]()

        def translate() -> None:
            run = runner(self.model, self.model.plan(beam=beam, n_best=1))
            outputs[:] = run(whole_texts([source for source, _ in sample]))

        seconds = seconds_of(translate, most)
        written = sum(len(output.tokens) + 1 for output in outputs)
        expected = sum(len(tokens) + 1 for tokens in task.target.encode_all([target for _, target in sample]))
        times = len(task.pairs.corpus.valid) / len(sample)
        return times * seconds * min(1.0, LONGER * expected / written)

    def closing_files(self, folder: Path, device: str) -> dict[str, bytes]:
        recipe = self.model.recipe
        if recipe.training.validation_beam:
            return {}  # the validation of these weights has determined it
        model = load_translation_model(folder, device)
        pieces = whole_texts([source for source, _ in self.model.task.pairs.corpus.valid[:CERTAIN]])
        run = runner(model, model.plan(n_best=1))
        certainty = find_certainty(run(pieces)) if len(pieces) >= FEWEST else None
        return {CERTAINTY: certainty.to_bytes()} if certainty else {}
