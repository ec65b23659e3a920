"""A language model in the hand: what `regard.load` gives for models that go on with a prompt."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from regard.attention.watch import count_gazes, is_watched, without_watching
from regard.base.notebook import Results
from regard.loading import Loaded
from regard.tasks.language.options import LanguageRecipe
from regard.verbs.generate.continuing import Generated, generate, generate_aloud
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
    ) -> list[list[Generated]]:
        """Continue each prompt, and return its texts, best first or in the order drawn.

        They are drawn at random, by options of sampling such as {"temperature": 0.7, "seed": 3}, unless something is
        said of a beam. `search` has any other option of the search, such as {"unrepeated": 3}. With `past_end` a text
        continues past the end of a line. `when_full` says whether to stop where the context is full, or to forget its
        older half. Under `watching` one more pass over the first text of each prompt shows every attention.
        """
        given = {
            "prompt": list(prompts),
            "tokens": tokens,
            "samples": samples,
            "sample": sample,
            "beam": beam,
            "length_penalty": length_penalty,
            "n_best": n_best,
            "search": None if search is None else dict(search),
            "past_end": past_end,
            "when_full": when_full,
        }
        table = {name: value for name, value in given.items() if value is not None}
        with without_watching():
            found = Results(self.generate_by(GenerateRequest.read(table)))
        if is_watched() and "look" in self.verbs:
            self._read_named([texts[0].text for texts in found])
        return found

    def _read_named(self, texts: Sequence[str]) -> None:
        """Read each text for whoever watches, and name its tokens."""
        for text in texts:
            since, batch = count_gazes(), self.task.read([text])
            self.task.foresee(batch)
            name_rows(since, [self.task.sides(batch, ())])

    def generate_by(self, request: GenerateRequest, number: int = 0) -> Iterator[list[Generated]]:
        """Generate for a request, prompt after prompt; samples depend on their numbers, from this one on."""
        return generate(self.task, self.recipe.decoding, request, number)

    def generate_aloud(self, request: GenerateRequest, tell: Callable[[WrittenToken], None]) -> list[Generated]:
        """The texts for the only prompt of a request; `tell` hears of each token of the first as it is written."""
        return generate_aloud(self.task, self.recipe.decoding, request, tell)

    def read_prompt(self, request: PromptRequest) -> ReadPrompt:
        """Return the probabilities of a prompt's tokens, and what may come next."""
        return read_prompt(self.task, request)

    def score(self, texts: Sequence[str]) -> list[ScoredText]:
        """Return the probability of each text as a sentence from beginning to end."""
        return Results(score_texts(self.task, texts))
