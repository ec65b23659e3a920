"""All models that are served, each with the thread that owns it: finding the one that is asked for."""

import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from regard import __version__
from regard.engines.fast import Choice
from regard.serving.languages import Detected, Detector, find_code, is_named, name_of
from regard.serving.metrics import Metrics
from regard.serving.options import ServingOptions
from regard.serving.questions import Question
from regard.serving.queue import Worker
from regard.serving.records import Language, ModelAnswer, ModelsAnswer
from regard.serving.refusals import Refusal
from regard.serving.served import Served, unique_names

AUTO = "auto"
_CLOSING = 2.0  # seconds for what all threads are still working on
_ALWAYS = ["translate", "sample", "force", "prefix", "constrain", "next", "beam"]


class Catalogue:
    """The models, in the order in which they were given."""

    def __init__(
        self,
        folders: Sequence[Path],
        options: ServingOptions,
        metrics: Metrics,
        engine: Choice = "auto",
    ) -> None:
        self.options, self.metrics = options, metrics
        named = zip(unique_names(folders), folders, strict=True)
        self.models = {name: Served(name, folder, engine) for name, folder in named}
        self.workers: dict[str, Worker] = {}
        for name, model in self.models.items():
            worker = Worker(name, options.batching, options.limits.waiting)
            worker.tell = metrics.watch(name, partial(_waiting, worker))
            model.others = self.models
            self.workers[name] = worker
        self.detector = Detector(self.codes)

    @property
    def sharing_shortlists(self) -> list[str]:
        """The models by whose engine an output may depend on the other sentences of its batch."""
        return [name for name, model in self.models.items() if model.fast is not None and model.fast.shares_shortlist]

    def close(self) -> None:
        """End every thread. All requests have been answered or given up by now, so none has much left to do."""
        until = time.monotonic() + _CLOSING
        for worker in self.workers.values():
            worker.close(0.0)  # all of them at the same time
        for worker in self.workers.values():
            worker.close(max(0.0, until - time.monotonic()))

    # Languages

    @property
    def codes(self) -> list[str]:
        """All languages, each once."""
        return list(dict.fromkeys(code for model in self.models.values() for code in (model.source, model.target)))

    def targets(self, source: str) -> list[str]:
        """What a language can be translated into."""
        return list(dict.fromkeys(model.target for model in self.models.values() if model.source == source))

    def sources(self, target: str) -> list[str]:
        """What can be translated into a language."""
        return list(dict.fromkeys(model.source for model in self.models.values() if model.target == target))

    def language(self, asked: str) -> str:
        """The language that a code means."""
        found = find_code(asked, self.codes)
        if found is None:
            raise Refusal(400, f"{asked[:40]} is not supported")
        return found

    def between(self, source: str, target: str) -> Served:
        """The first model from one language to another."""
        found = (model for model in self.models.values() if (model.source, model.target) == (source, target))
        model = next(found, None)
        if model is None:
            names = [f"{name_of(code)} ({code})" for code in (target, source)]
            raise Refusal(400, f"{names[0]} is not available as a target language from {names[1]}")
        return model

    # What is asked

    def chosen(self, question: Question, text: str) -> tuple[Served, Detected | None]:
        """The model that a question names, by its name or by its languages, and the language found for auto."""
        if question.model is not None:
            return self._named(question), None
        if question.target is None and question.source in (None, AUTO):
            return next(iter(self.models.values())), None
        target = None if question.target is None else self.language(question.target)
        detected = None
        if question.source in (None, AUTO):
            assert target is not None
            detected = next(iter(self.detector(text, self.sources(target))), None)
            source = detected.language if detected else next(iter(self.sources(target)), "")
        else:
            source = self.language(str(question.source))
        target = target or next(iter(self.targets(source)), source)
        return self.between(source, target), detected if question.source == AUTO else None

    def _named(self, question: Question) -> Served:
        model = self.models.get(question.model or "")
        if model is None:
            known = ", ".join(self.models)
            raise Refusal(400, f"There is no model {str(question.model)[:40]!r} here; there are {known}.")
        for asked, own in ((question.source, model.source), (question.target, model.target)):
            if asked not in (None, AUTO) and is_named(own) and find_code(str(asked), [own]) is None:
                raise Refusal(400, f"The model {model.name} goes from {model.source} to {model.target}.")
        return model

    def describe(self) -> ModelsAnswer:
        """All that a page needs to know."""
        models = [_described(model) for model in self.models.values()]
        return ModelsAnswer(version=__version__, limits=self.options.limits.model_dump(), models=models)


def _waiting(worker: Worker) -> int:
    return worker.waiting


def _described(model: Served) -> ModelAnswer:
    return ModelAnswer(
        name=model.name,
        source=_language(model.source),
        target=_language(model.target),
        family=model.recipe["family"],
        preset=model.recipe["model"].get("preset"),
        engine=model.engines[0],
        engines=list(model.engines),
        longest=model.longest,
        blocks=model.blocks,
        decoding=model.decoding.model_dump(),
        can=[*_ALWAYS, *(["attention"] if model.blocks else [])],
        scores=model.scores(),
    )


def _language(code: str) -> Language:
    return Language(code=code if is_named(code) else "", name=name_of(code))
