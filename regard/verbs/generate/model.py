"""A loaded language model: what `regard.load` returns for models that continue a prompt."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from regard.attention.watch import count_gazes, is_watched, without_watching
from regard.base.arguments import listed_texts
from regard.base.notebook import Results
from regard.base.requests.fields import Held
from regard.engines.fast import TextChoice
from regard.engines.onnx.writing import load_writer
from regard.loading import Loaded
from regard.tasks.language.options import LanguageRecipe
from regard.verbs.exports import export_of
from regard.verbs.generate.continuing import generate, generate_aloud
from regard.verbs.generate.drafting import drafting_for
from regard.verbs.generate.exported import ExportedLanguage, can_write
from regard.verbs.generate.generated import Generated, stem_of
from regard.verbs.generate.prompts import ReadPrompt, read_prompt
from regard.verbs.generate.request import GenerateRequest, PromptRequest, WhenFull
from regard.verbs.generate.scoring import ScoredText, score_texts
from regard.verbs.generate.telling import WrittenToken
from regard.verbs.place_names import name_rows


class LanguageModel(Loaded):
    """A language model with its tokeniser and its recipe."""

    recipe: LanguageRecipe

    def generate(
        self,
        prompts: Sequence[str] = ("",),
        tokens: int | None = None,
        samples: int | None = None,
        *,
        sample: Mapping[str, Any] | None = None,
        beam: int | None = None,
        length_penalty: float | None = None,
        n_best: int | None = None,
        search: Mapping[str, Any] | None = None,
        past_end: bool = False,
        when_full: WhenFull | None = None,
        draft: Loaded | str | Path | None = None,
        engine: TextChoice = "torch",
    ) -> list[list[Generated]]:
        """Continue each prompt, and return its texts, best first or in the order drawn.

        Texts are sampled, with options such as {"temperature": 0.7, "seed": 3}, unless a beam option is given. `search`
        holds other search options, such as {"unrepeated": 3}. With `past_end`, a text continues past the end of a line.
        A `draft`, "lookup" or a smaller model with the same vocabulary, proposes tokens that the model checks in one
        pass, for the same texts. The `engine` onnx needs an export in the model's folder. `when_full` says whether to
        stop when the context is full or to forget its older half. Under `watching`, one more pass over the first text
        of each prompt shows every attention.
        """
        fields = {
            "prompt": listed_texts("generate", prompts, "prompt"),
            "tokens": tokens,
            "samples": samples,
            "sample": sample,
            "beam": beam,
            "length_penalty": length_penalty,
            "n_best": n_best,
            "search": None if search is None else dict(search),
            "past_end": past_end,
            "when_full": when_full,
            "engine": engine,
            "draft": Held(draft) if isinstance(draft, Loaded) else draft and str(draft),
        }
        table = {name: value for name, value in fields.items() if value is not None}
        with without_watching():
            texts_by_prompt = Results(self.generate_by(GenerateRequest.read(table)))
        if is_watched() and "look" in self.verbs:
            self._read_named([texts[0].text for texts in texts_by_prompt])
        return texts_by_prompt

    def _read_named(self, texts: Sequence[str]) -> None:
        """Read each text while the model is watched, and name its tokens."""
        for text in texts:
            since, batch = count_gazes(), self.task.read([text])
            self.task.foresee(batch)
            name_rows(since, [self.task.sides(batch, ())])

    def generate_by(self, request: GenerateRequest, number: int = 0) -> Iterator[list[Generated]]:
        """Yield the texts for a request, prompt by prompt; samples depend on the prompts' numbers, from `number` on."""
        if (exported := self._exported(request)) is not None:
            return exported.generate_by(request, number)
        return generate(self.task, self.recipe.decoding, request, number, drafting_for(self, request))

    def _exported(self, request: GenerateRequest) -> ExportedLanguage | None:
        """Return the export in its folder if it may and can be used for a request."""
        if request.engine == "torch" or not can_write(request, self.recipe.decoding):
            return None
        writer = export_of(self, request.engine, load_writer)
        return None if writer is None else ExportedLanguage(writer)

    def stem(self, prompt: str) -> str:
        """Return the prompt in the form to which its continuation is joined."""
        return stem_of(prompt, self.task.write(self.task.read([prompt]).tokens[0]))

    def generate_aloud(self, request: GenerateRequest, tell: Callable[[WrittenToken], None]) -> list[Generated]:
        """Return the texts for the only prompt of a request; `tell` gets each token of the first as it is written."""
        if (exported := self._exported(request)) is not None:
            return exported.generate_aloud(request, tell)
        return generate_aloud(self.task, self.recipe.decoding, request, tell, drafting_for(self, request))

    def read_prompt(self, request: PromptRequest) -> ReadPrompt:
        """Return the probabilities of a prompt's tokens, and what may come next."""
        return read_prompt(self.task, request)

    def score(self, texts: Sequence[str]) -> list[ScoredText]:
        """Return the probability of each text as a whole sentence."""
        return Results(score_texts(self.task, listed_texts("score", texts)))
