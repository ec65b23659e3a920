"""Validation of captioners: by their loss, and by scoring captions against those by people."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice, zip_longest
from typing import Any

import numpy as np

from regard.decoding.options import change_options
from regard.measuring import Validator, scores_of, seconds_of
from regard.metrics import METRICS, score
from regard.metrics.significance import Sums, summing
from regard.metrics.text import BETTER, OF_TREES, is_metric
from regard.protocols import Measure, Tally, mean
from regard.tasks.captioning.batches import MEASURED_ROWS
from regard.tasks.captioning.options import CaptioningRecipe
from regard.training.snapshot import Validation
from regard.verbs.caption.run import search_captions

QUICK = ("bleu", "cider")  # metrics of each validation, besides the one that `best_by` names
REPORTED = ("bleu1", "bleu2", "bleu3", "bleu", "meteor", "rougeL", "cider")  # metrics of a finished model
SHOWN = 2  # captions shown at each validation


class CaptionValidator(Validator):
    """Measures a captioner: by the loss on people's captions, and by its own captions."""

    recipe: CaptioningRecipe

    @classmethod
    def names(cls, recipe: Any) -> list[str]:
        measures, best_by = super().names(recipe), recipe.training.best_by
        metrics = [*METRICS.named(), *([best_by] if is_metric(best_by, measures) else [])]
        return [*measures, *(name for name in metrics if name not in OF_TREES)]

    def __call__(self) -> Validation:
        training = self.recipe.training
        measures, samples = super().measure("valid"), list[tuple[str, str, str]]()
        if training.validation_beam:
            outputs = self._write("valid", training.validation_beam)
            names = dict.fromkeys(
                [*QUICK, *([training.best_by] if is_metric(training.best_by, self.task.MEASURES) else [])]
            )
            measures |= self._score(outputs, "valid", list(names), training.validation_beam)
            rows = zip(self.task.source("valid").prepared.splits["valid"], outputs, strict=True)
            samples = [(picture.name, output, picture.captions[0]) for picture, output in islice(rows, SHOWN)]
        return Validation(measures, [score.as_dict() for score in scores_of(measures, "valid")], samples)

    def measure(self, split: str, names: Sequence[str] = ()) -> dict[str, Measure]:
        measures, beam = super().measure(split), self.recipe.decoding.beam
        if metrics := [name for name in names or REPORTED if is_metric(name, self.task.MEASURES)]:
            measures |= self._score(self._write(split, beam), split, metrics, beam)
        return measures

    def timed(self, most: float) -> tuple[float, float]:
        measuring, beam = self._time_measuring(most), self.recipe.training.validation_beam
        if not beam:
            return measuring, 0.0
        batches = self.task.source("valid").pictures(MEASURED_ROWS)
        first, others = next(batches), sum(1 for _ in batches)
        return measuring, (1 + others) * seconds_of(lambda: self._write_batch(first, beam), most)

    def sums(self, split: str, names: Sequence[str]) -> dict[str, Sums]:
        """Return each picture's share: of text scores by its caption, of other measures by all its captions."""
        measures = [name for name in names if not is_metric(name, self.task.MEASURES)]
        caption_sums = super().sums(split, measures) if measures else {}
        picture_sums = {name: self._sum_by_picture(split, sums) for name, sums in caption_sums.items()}
        if len(measures) < len(names):
            outputs, references = self._write(split, self.recipe.decoding.beam), self._references(split)
            picture_sums |= {name: summing(name)(outputs, references) for name in names if name not in measures}
        return picture_sums

    def _sum_by_picture(self, split: str, sums: Sums) -> Sums:
        """Add up the sums of captions for each picture."""
        source = self.task.source(split)
        place = {picture.name: row for row, picture in enumerate(source.prepared.splits[split])}
        rows = np.zeros((len(place), sums.rows.shape[1]))
        np.add.at(rows, [place[example.name] for example in source.examples], sums.rows)
        return replace(sums, rows=rows)

    def _write(self, split: str, beam: int) -> list[str]:
        """Return the model's caption of every picture of a split."""
        ranks, written = self.ranks, dict[int, list[str]]()
        for number, batch in enumerate(self.task.source(split).pictures(MEASURED_ROWS)):
            if number % ranks.size == ranks.rank:
                written[number] = self._write_batch(batch, beam)
        in_order = sorted(row for rows in ranks.gather(list(written.items())) for row in rows)
        return [caption for _, captions in in_order for caption in captions]

    def _write_batch(self, batch: Any, beam: int) -> list[str]:
        task, options = self.task, change_options(self.recipe.decoding, {"beam": beam, "n_best": 1}, None)
        results = search_captions(task, batch.to(task.device), options)
        return [task.write(hypotheses[0].tokens) for hypotheses in results]

    def _references(self, split: str) -> list[list[str | None]]:
        """Return people's captions as reference lists: the first of every picture, the second, and so on."""
        return [list(captions) for captions in zip_longest(*self.task.source(split).references())]

    def _score(self, outputs: Sequence[str], split: str, names: Sequence[str], beam: int) -> dict[str, Measure]:
        """Return scores of captions; the signatures say how the text is prepared and the search done."""
        how = f"text:plain words|beam:{beam}|lp:{self.recipe.decoding.length_penalty:g}"
        scores = [score(outputs, self._references(split), name) for name in names]
        return {
            result.metric: Measure(
                Tally((result.value * result.n, float(result.n)), mean),
                BETTER[result.metric],
                f"{result.signature}|{how}",
            )
            for result in scores
        }
