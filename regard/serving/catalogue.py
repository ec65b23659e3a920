"""All served models, each with the thread that owns it, and how a request finds its model."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from functools import partial
from pathlib import Path
from typing import TypeVar

from regard.base.doors import Job, LanguagesBody
from regard.base.faults import Fault
from regard.base.model_folder import read_recipe
from regard.base.version import __version__
from regard.engines.fast import Choice
from regard.families.abilities import ADDRESS
from regard.serving.http.refusals import Refusal
from regard.serving.languages import Detected, Detector, find_code, is_named, name_of
from regard.serving.metrics import Metrics
from regard.serving.options import ServingOptions
from regard.serving.queue.turns import Answer
from regard.serving.queue.worker import Worker
from regard.serving.records import ModelsAnswer
from regard.serving.served import Served, ServedModel, ServedTranslator, unique_names

T = TypeVar("T")
AUTO = "auto"
_AT_ONCE = 2000  # characters that are processed inside the event loop
_CLOSING = 2.0  # seconds for all threads to finish their work


async def beside(work: Callable[[], T], characters: int) -> T:
    """Return the result of work on text; long texts are processed in another thread, so that nobody else waits."""
    return work() if characters <= _AT_ONCE else await asyncio.to_thread(work)


class Catalogue:
    """The models, in the order given."""

    def __init__(self, models: Sequence[Served], options: ServingOptions, metrics: Metrics) -> None:
        self.options, self.metrics = options, metrics
        self.models = {model.name: model for model in models}
        self.translators = {model.name: model for model in models if isinstance(model, ServedTranslator)}
        self.workers: dict[str, Worker] = {}
        for name in self.models:
            worker = Worker(name, options.batching, options.limits.waiting, seconds=options.limits.seconds)
            worker.tell = metrics.watch(name, partial(_waiting, worker))
            self.workers[name] = worker
        for model in models:
            model.others = self.models
        for name, translator in self.translators.items():
            translator.waiting = partial(_waiting, self.workers[name])
        self.detector = Detector(self.codes)

    @property
    def dependences(self) -> list[str]:
        """For each model whose outputs may depend on other requests, a clause that says why."""
        clauses = []
        for name, model in self.translators.items():
            if any(engine.shares_shortlist for engine in model.exports):
                clauses.append(f"{name} has a shortlist, which the sentences of a batch share")
            if len(model.exports) > 1:
                clauses.append(
                    f"{name} translates single sentences with ONNX and several with CTranslate2, "
                    "which round differently"
                )
        return clauses

    def close(self) -> None:
        """End every thread. All requests are answered or cancelled by now, so little work is left."""
        until = time.monotonic() + _CLOSING
        for worker in self.workers.values():
            worker.close(0.0)  # all at the same time
        for worker in self.workers.values():
            worker.close(max(0.0, until - time.monotonic()))

    # Languages

    @property
    def codes(self) -> list[str]:
        """All languages, each once."""
        return list(dict.fromkeys(code for model in self.translators.values() for code in (model.source, model.target)))

    def targets(self, source: str) -> list[str]:
        """Return the languages that a language can be translated into."""
        return list(dict.fromkeys(model.target for model in self.translators.values() if model.source == source))

    def sources(self, target: str) -> list[str]:
        """Return the languages that can be translated into a language."""
        return list(dict.fromkeys(model.source for model in self.translators.values() if model.target == target))

    def language(self, asked: str) -> str:
        """Return the served language that a code means."""
        code = find_code(asked, self.codes)
        if code is None:
            raise Refusal(400, f"{asked[:40]} is not supported")
        return code

    def between(self, source: str, target: str) -> ServedTranslator:
        """Return the first model from one language to another."""
        matches = (model for model in self.translators.values() if (model.source, model.target) == (source, target))
        model = next(matches, None)
        if model is None:
            names = [f"{name_of(code)} ({code})" for code in (target, source)]
            raise Refusal(400, f"{names[0]} is not available as a target language from {names[1]}")
        return model

    # Requests

    @property
    def abilities(self) -> set[str]:
        """Everything that at least one model can do."""
        return {ability for model in self.models.values() for ability in model.can}

    def cannot(self, verb: str) -> str:
        """Return a sentence that no model has this verb, and which verbs they have."""
        if len(self.models) == 1:
            (model,) = self.models.values()
            return str(model.refuse(verb))
        abilities = "; ".join(f"{model.name} can {', '.join(model.verbs)}" for model in self.models.values())
        return f"No model here answers at {ADDRESS.format(verb)}: {abilities}."

    def able(self, verb: str, name: str | None) -> Served:
        """Return the model of that name, or else the first one, that has this verb."""
        if name is None:
            return next(model for model in self.models.values() if verb in model.can)
        model = self.named(name)
        if verb not in model.can:
            raise model.refuse(verb)
        return model

    def named(self, name: str) -> Served:
        """Return the model of that name."""
        if name not in self.models:
            raise Refusal(400, f"There is no model {name[:40]!r} here; there are {', '.join(self.models)}.")
        return self.models[name]

    def choose(self, body: LanguagesBody, text: str) -> tuple[ServedTranslator, Detected | None]:
        """Return the translator for a request, by name or by languages, and the detected language for auto."""
        if body.model is not None:
            return self._named(body), None
        if body.target is None and body.source in (None, AUTO):
            return next(iter(self.translators.values())), None
        target = None if body.target is None else self.language(body.target)
        detected = None
        if body.source in (None, AUTO):
            assert target is not None
            detected = next(iter(self.detector(text, self.sources(target))), None)
            source = detected.language if detected else next(iter(self.sources(target)), "")
        else:
            source = self.language(str(body.source))
        target = target or next(iter(self.targets(source)), source)
        return self.between(source, target), detected if body.source == AUTO else None

    def _named(self, body: LanguagesBody) -> ServedTranslator:
        model = self.named(str(body.model))
        if not isinstance(model, ServedTranslator):
            raise model.refuse("translate")
        for requested, code in ((body.source, model.source), (body.target, model.target)):
            if requested not in (None, AUTO) and is_named(code) and find_code(str(requested), [code]) is None:
                raise Refusal(400, f"The model {model.name} goes from {model.source} to {model.target}.")
        return model

    async def each(self, job: Job) -> AsyncGenerator[Answer, None]:
        """Yield the results of a job's items as they are finished."""
        if job.characters:
            self.metrics.characters.labels(job.model.name).inc(job.characters)
        costs = await beside(job.costs, job.characters)
        worker = self.workers[job.model.name]
        async with aclosing(worker.each(job.price, job.key, job.work, job.items, costs)) as answers:
            async for answer in answers:
                yield answer

    def describe(self) -> ModelsAnswer:
        """Return everything that the page needs to know."""
        return ModelsAnswer(
            version=__version__,
            limits=self.options.limits.model_dump(),
            needs_key=self.options.access.key is not None,
            models=[model.describe() for model in self.models.values()],
        )


def _waiting(worker: Worker) -> int:
    return worker.waiting


def open_models(folders: Sequence[Path], engine: Choice = "auto") -> list[Served]:
    """Load the models in some folders, each under a unique name."""
    return [_open(name, folder, engine) for name, folder in zip(unique_names(folders), folders, strict=True)]


def _open(name: str, folder: Path, engine: Choice) -> Served:
    is_translator = read_recipe(folder).get("task", "translation") == "translation"
    model = ServedTranslator(name, folder, engine) if is_translator else ServedModel(name, folder, engine)
    if not model.can:
        raise Fault(f"The model {model.name} cannot be served: it gives {model.gives}.")
    return model
