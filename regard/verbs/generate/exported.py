"""Continue prompts with the ONNX export of a language model; imports no torch."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from regard.base.faults import Fault, faults_numbered
from regard.decoding.options import DecodingOptions
from regard.decoding.output import Hypothesis
from regard.engines.beam_rules import first_unsupported
from regard.engines.fast import CALLED, TextChoice
from regard.engines.onnx.sessions import in_threads
from regard.engines.onnx.writing import OnnxWriter, WritingTask, load_writer
from regard.engines.plain_sampling import Heard
from regard.verbs.generate.generated import Generated, generation_of, search_of, stem_of
from regard.verbs.generate.request import GenerateRequest
from regard.verbs.generate.telling import Teller, WrittenToken

_AT_ONCE = 256  # prompts


class ExportedLanguage:
    """A language model in an export, which continues prompts as `LanguageModel` does."""

    def __init__(self, writer: OnnxWriter) -> None:
        self._writer = writer

    def stem(self, prompt: str) -> str:
        """Return the prompt in the form to which its continuation is joined."""
        return stem_of(prompt, self._writer.write(self._writer.encode(prompt)))

    def generate_by(self, request: GenerateRequest, number: int = 0) -> Iterator[list[Generated]]:
        """Yield the texts for a request, prompt by prompt; samples depend on the prompts' numbers, from `number` on."""
        for first in range(0, len(request.prompt), _AT_ONCE):
            prompts = request.prompt[first : first + _AT_ONCE]
            with faults_numbered(range(first, first + len(prompts))):
                jobs = [_Job(self._writer, request, place, prompt) for place, prompt in enumerate(prompts)]
                work = partial(_Job.write, start=number + first)
                yield from [texts for _, texts in in_threads(work, jobs)]

    def generate_aloud(self, request: GenerateRequest, tell: Callable[[WrittenToken], None]) -> list[Generated]:
        """Return the texts for the only prompt of a request; `tell` gets each token of the first as it is written."""
        (prompt,) = request.prompt
        job = _Job(self._writer, request, 0, prompt)
        teller = Teller(self._writer, job.read, tell)
        texts = job.write(start=0, heard=teller.hear if job.rows == 1 else None)
        first = job.hypotheses[0]
        teller.finish(first.tokens, first.token_scores)
        return texts


class _Job:
    """A prompt to continue."""

    def __init__(self, writer: OnnxWriter, request: GenerateRequest, place: int, prompt: str) -> None:
        self.writer, self.request, self.place, self.prompt = writer, request, place, prompt
        self.read = writer.encode(prompt)
        self.search = search_of(writer.decoding, request)
        forgets = (request.when_full or writer.options.when_full) == "forget"
        self.limit = writer.limit(place, self.read, request.tokens, forgets)
        self.rows = self.search.sampling.samples if request.draws else self.search.beam
        self.hypotheses: list[Hypothesis] = []

    def write(self, start: int, heard: Heard | None = None) -> list[Generated]:
        """Return the texts, best first or in the order drawn; `start` is the line of the first prompt."""
        task, line = (
            WritingTask(self.place, self.read, self.limit, self.search, self.request.past_end),
            start + self.place,
        )
        if self.request.draws:
            self.hypotheses = [self.writer.sample(task, (line, copy), heard) for copy in range(self.rows)]
        else:
            self.hypotheses = self.writer.search(task, heard if self.rows == 1 else None)
        write = partial(generation_of, self.writer, self.prompt, self.read)
        return [write(hypothesis, self.limit, self.request) for hypothesis in self.hypotheses]


def can_write(request: GenerateRequest, decoding: DecodingOptions) -> bool:
    """Return True if an export can do what a request asks for; refuse it if the request asks for the export."""
    beyond = first_unsupported(search_of(decoding, request))
    if beyond and request.engine != "auto":
        raise Fault(f"{CALLED[request.engine]} cannot do '{beyond}'; omit it, or use torch.")
    return not beyond and request.draft is None


def load_exported(folder: Path, request: GenerateRequest) -> ExportedLanguage | None:
    """Return the export in a model folder if it may and can be used for a request."""
    choice: TextChoice = request.engine
    writer = load_writer(folder, choice)
    return None if writer is None or not can_write(request, writer.decoding) else ExportedLanguage(writer)
