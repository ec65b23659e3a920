"""All models that are served, each with the thread that owns it: finding the one that is asked for."""

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
_AT_ONCE = 2000  # characters that are worked on without leaving the event loop
_CLOSING = 2.0  # seconds for what all threads are still working on


async def beside(work: Callable[[], T], characters: int) -> T:
    """Return what work on text gives; much text is worked on in another thread, to keep nobody else waiting."""
    return work() if characters <= _AT_ONCE else await asyncio.to_thread(work)


class Catalogue:
    """The models, in the order in which they were given."""

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
    def sharing_shortlists(self) -> list[str]:
        """The models by whose engine an output may depend on the other sentences of its batch."""
        sharing = {name: [each.shares_shortlist for each in one.exports] for name, one in self.translators.items()}
        return [name for name, shares in sharing.items() if any(shares)]

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
        return list(dict.fromkeys(code for model in self.translators.values() for code in (model.source, model.target)))

    def targets(self, source: str) -> list[str]:
        """Return the languages that a language can be translated into."""
        return list(dict.fromkeys(model.target for model in self.translators.values() if model.source == source))

    def sources(self, target: str) -> list[str]:
        """Return the languages that can be translated into a language."""
        return list(dict.fromkeys(model.source for model in self.translators.values() if model.target == target))

    def language(self, asked: str) -> str:
        """The language that a code means."""
        found = find_code(asked, self.codes)
        if found is None:
            raise Refusal(400, f"{asked[:40]} is not supported")
        return found

    def between(self, source: str, target: str) -> ServedTranslator:
        """The first model from one language to another."""
        found = (model for model in self.translators.values() if (model.source, model.target) == (source, target))
        model = next(found, None)
        if model is None:
            names = [f"{name_of(code)} ({code})" for code in (target, source)]
            raise Refusal(400, f"{names[0]} is not available as a target language from {names[1]}")
        return model

    # What is asked

    @property
    def abilities(self) -> set[str]:
        """All that some model can be asked for."""
        return {ability for model in self.models.values() for ability in model.can}

    def cannot(self, verb: str) -> str:
        """Return the sentence that no model has this verb, and which verbs they have."""
        if len(self.models) == 1:
            (model,) = self.models.values()
            return str(model.refuse(verb))
        each = "; ".join(f"{model.name} can {', '.join(model.verbs)}" for model in self.models.values())
        return f"No model here answers at {ADDRESS.format(verb)}: {each}."

    def able(self, verb: str, name: str | None) -> Served:
        """The model of that name, or else the first, that can be asked for this."""
        if name is None:
            return next(model for model in self.models.values() if verb in model.can)
        model = self.named(name)
        if verb not in model.can:
            raise model.refuse(verb)
        return model

    def named(self, name: str) -> Served:
        """The model of that name."""
        if name not in self.models:
            raise Refusal(400, f"There is no model {name[:40]!r} here; there are {', '.join(self.models)}.")
        return self.models[name]

    def choose(self, body: LanguagesBody, text: str) -> tuple[ServedTranslator, Detected | None]:
        """The translator that a request names, by its name or by its languages, and the language found for auto."""
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
        for asked, own in ((body.source, model.source), (body.target, model.target)):
            if asked not in (None, AUTO) and is_named(own) and find_code(str(asked), [own]) is None:
                raise Refusal(400, f"The model {model.name} goes from {model.source} to {model.target}.")
        return model

    async def each(self, job: Job) -> AsyncGenerator[Answer, None]:
        """Yield what a model makes of each item of a job, as they are finished; no work comes without its price."""
        if job.characters:
            self.metrics.characters.labels(job.model.name).inc(job.characters)
        costs = await beside(job.costs, job.characters)
        worker = self.workers[job.model.name]
        async with aclosing(worker.each(job.price, job.key, job.work, job.items, costs)) as answers:
            async for answer in answers:
                yield answer

    def describe(self) -> ModelsAnswer:
        """All that a page needs to know."""
        return ModelsAnswer(
            version=__version__,
            limits=self.options.limits.model_dump(),
            needs_key=self.options.access.key is not None,
            models=[model.describe() for model in self.models.values()],
        )


def _waiting(worker: Worker) -> int:
    return worker.waiting


def open_models(folders: Sequence[Path], engine: Choice = "auto") -> list[Served]:
    """The models in some folders, loaded, each under a name of its own."""
    return [_open(name, folder, engine) for name, folder in zip(unique_names(folders), folders, strict=True)]


def _open(name: str, folder: Path, engine: Choice) -> Served:
    is_translator = read_recipe(folder).get("task", "translation") == "translation"
    model = ServedTranslator(name, folder, engine) if is_translator else ServedModel(name, folder)
    if not model.can:
        raise Fault(f"The model {model.name} cannot be served: it gives {model.gives}.")
    return model
