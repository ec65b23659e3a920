"""Constraints on outputs, and outputs that meet them."""

import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import torch

import regard
from regard.base.faults import Fault
from regard.decoding.output import Hypothesis
from regard.decoding.rerank import Channel
from regard.decoding.spare_time import InPieces
from regard.decoding.step_graphs import CapturedSteps
from regard.metrics.utilities import utility
from regard.tasks.translation.batches import PairBatch
from regard.tasks.translation.covering import Covering, crossing
from regard.verbs.translate.model import TranslationModel
from regard.verbs.translate.phrasing import span_of
from regard.verbs.translate.plan import Piece, Plan, whole_texts
from regard.verbs.translate.reranking import by_channel, by_risk
from regard.verbs.translate.run import runner
from regard.verbs.translate.search import MOST_SPELLINGS, Constraints, captures_for, filling_batches, find
from regard.verbs.translate.stages import TranslationStages

TEXTS = ["I love books.", "Ana sees the red house.", "We read."]


@pytest.fixture(scope="module")
def model(trained: Path) -> TranslationModel:
    loaded = regard.load(trained, device="cpu")
    loaded.task.double()
    return loaded


def texts_of(model: TranslationModel, constraints: Constraints) -> list[str]:
    return [translation.text for translation in model.translate(TEXTS, constraints=constraints)]


def test_an_output_begins_with_its_prefix(model: TranslationModel) -> None:
    prefixes = ["Nós", "", "A casa vermelha"]
    for prefix, text in zip(prefixes, texts_of(model, Constraints(prefixes=prefixes)), strict=True):
        assert text.startswith(prefix)
    assert texts_of(model, Constraints(prefixes=["", "", ""])) == [
        translation.text for translation in model.translate(TEXTS)
    ]


def test_an_output_has_the_phrases_it_must_have(model: TranslationModel) -> None:
    outputs = texts_of(model, Constraints(required=[["casa vermelha"], [], ["livros", "Ana"]]))
    assert "casa vermelha" in outputs[0]
    assert outputs[1] == model.translate(TEXTS)[1].text
    assert "livros" in outputs[2]
    assert "Ana" in outputs[2]


def test_no_output_has_a_forbidden_phrase_however_it_is_spelled(model: TranslationModel) -> None:
    plain = model.translate(TEXTS, beam=4, n_best=4)
    words = sorted(
        {word.strip(".") for translation in plain for text, _ in translation.n_best for word in text.split()}
    )
    for word in words[::4]:
        for translation in model.translate(TEXTS, beam=4, n_best=4, constraints=Constraints(forbidden=[word])):
            for text, _ in translation.n_best:
                assert word not in text.replace(".", " ").split()


def test_a_forbidden_phrase_changes_only_the_outputs_that_had_it(model: TranslationModel) -> None:
    sampling = {"seed": 5, "temperature": 1.3}
    plain = [translation.text for translation in model.translate(TEXTS, sample=sampling)]
    word = next(word for word in re.findall(r"\w+", plain[0]) if word not in plain[1] + plain[2])
    outputs = [
        translation.text
        for translation in model.translate(TEXTS, sample=sampling, constraints=Constraints(forbidden=[word]))
    ]
    assert word in re.findall(r"\w+", plain[0])
    assert word not in re.findall(r"\w+", outputs[0])
    assert outputs[1:] == plain[1:]


def test_requiring_what_is_there_already_changes_nothing(model: TranslationModel) -> None:
    for beam in (1, 4):
        plain = [translation.text for translation in model.translate(TEXTS, beam=beam)]
        constraints = Constraints(required=[[text.split()[0], text.split()[-1]] for text in plain])
        assert [translation.text for translation in model.translate(TEXTS, beam=beam, constraints=constraints)] == plain


def test_a_translation_that_has_the_phrase_stays_as_it_is() -> None:
    translator = regard.load(Path(__file__).parents[1] / "old_folder" / "run", device="cpu")
    for phrase in ("livros", ".", "amo livros.", "Eu"):
        (translation,) = translator.translate(["I love books."], beam=4, constraints=Constraints(required=[[phrase]]))
        assert translation.text == "Eu amo livros."


def test_a_required_phrase_is_words_of_their_own_and_punctuation_joins_what_it_follows(model: TranslationModel) -> None:
    for phrase in ("livro", "!", "a", ", e", "Ana", "«"):
        for translation in model.translate(TEXTS, beam=4, n_best=4, constraints=Constraints(required=[[phrase]] * 3)):
            for text, _ in translation.n_best:
                assert span_of(phrase, text) is not None
                assert phrase not in ("!", ", e") or f" {phrase}" not in text


def test_giving_up_on_a_phrase_is_said(model: TranslationModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("regard.verbs.translate.search.MOST_SPELLINGS", -1)
    word = model.translate(TEXTS)[0].text.split()[0]
    with pytest.raises(Fault, match=f"The model writes '{word}' in ever new ways for 'I love books.'"):
        model.translate(TEXTS, constraints=Constraints(forbidden=[word]))
    assert MOST_SPELLINGS > 0


def test_a_restricted_vocabulary(model: TranslationModel) -> None:
    allowed = set(model.task.target.encode("Ana lê a casa."))
    for hypotheses in find([model.task], whole_texts(TEXTS), model.plan(vocabulary=["Ana lê", "a casa."])):
        assert set(hypotheses[0].tokens) <= allowed


def test_wishes_that_cannot_be_met_are_refused(model: TranslationModel) -> None:
    for constraints, message in (
        (Constraints(prefixes=["Eu"]), "There are 1 prefixes for 3 texts"),
        (Constraints(required=[["Eu"]]), "There are 1 lists of required phrases for 3 texts"),
        (Constraints(forbidden=[" "]), "A forbidden phrase is empty"),
        (Constraints(forbidden=["Ana"], prefixes=["", "Ana e", ""]), "'Ana' is forbidden, but 'Ana e'"),
        (Constraints(forbidden=["Ana"], required=[[], ["a Ana"], []]), "'Ana' is forbidden, but 'a Ana'"),
        (Constraints(prefixes=["a " * 3000, "", ""]), "The prefix has .* tokens, but an output has"),
    ):
        with pytest.raises(Fault, match=message):
            model.translate(TEXTS, constraints=constraints)


def test_wishes_are_lists_of_texts_as_models_write_them() -> None:
    assert Constraints(forbidden=["na\u0303o"]).forbidden == ["n\u00e3o"]
    for wrong in ({"required": ["livros"]}, {"forbidden": "amo"}, {"prefixes": "Eu"}, {"allowed": "a"}):
        with pytest.raises(TypeError, match="constraints are lists of texts"):
            Constraints(**wrong)


def test_what_cannot_be_met_is_told_by_the_text(model: TranslationModel) -> None:
    with pytest.raises(Fault, match=r"^Text 3: its prefix has"):
        model.translate(TEXTS, constraints=Constraints(prefixes=["", "", "a b c d e f g h " * 9]))


def test_drawing_depends_on_seed_and_line_and_not_on_the_batch(model: TranslationModel) -> None:
    sampled = {"seed": 7, "temperature": 1.5}
    together = model.translate(TEXTS, n_best=3, sample=sampled)
    assert [len(translation.n_best) for translation in together] == [3, 3, 3]
    again = model.translate(TEXTS, n_best=3, sample=sampled)
    assert [translation.n_best for translation in again] == [translation.n_best for translation in together]
    run = runner(model, model.plan(n_best=3, sample=sampled))
    for line, text in enumerate(TEXTS):
        (alone,) = run([Piece(text, line)])
        assert [text for text, _ in alone.n_best] == [text for text, _ in together[line].n_best]
    other = model.translate(TEXTS, n_best=3, sample=sampled | {"seed": 8})
    assert [translation.n_best for translation in other] != [translation.n_best for translation in together]
    cold = model.translate(TEXTS, sample={"temperature": 0})
    assert [translation.text for translation in cold] == [
        translation.text for translation in model.translate(TEXTS, beam=1)
    ]


@pytest.mark.parametrize("sample", [None, {"seed": 3}])
def test_what_does_not_fit_the_memory_is_searched_in_pieces(
    model: TranslationModel, monkeypatch: pytest.MonkeyPatch, sample: dict[str, Any] | None
) -> None:
    texts = ["The boy reads.", "I love books.", "", "The old house is red.", "She sings."]
    expected = [translation.text for translation in model.translate(texts, sample=sample)]
    read_tokens, tried = model.task.read_tokens, []

    def with_room_for_one(rows: Sequence[Sequence[int]]) -> PairBatch:
        tried.append(len(rows))
        if len(rows) > 1:
            raise RuntimeError("DefaultCPUAllocator: can't allocate memory")
        return read_tokens(rows)

    monkeypatch.setattr(model.task, "read_tokens", with_room_for_one)
    assert [translation.text for translation in model.translate(texts, sample=sample)] == expected
    assert tried == [4, 2, 1, 1, 2, 1, 1]


def test_any_option_of_the_search_can_be_given(model: TranslationModel) -> None:
    plan = model.plan(beam=4, n_best=2, search={"groups": 2, "sampling": {"min_p": 0.1}}, sample=None)
    assert (plan.options.beam, plan.options.groups, plan.options.sampling.min_p) == (4, 2, 0.1)
    assert not plan.draws
    with pytest.raises(Fault, match="no 'gruops'; did you mean 'groups'"):
        model.plan(search={"gruops": 2})


def test_coverage_counts_every_look_once(model: TranslationModel) -> None:
    task = Covering(model.task)
    batch = model.task.read(TEXTS)
    state = task.start(batch).spread(2)
    for step in range(1, 4):
        _, state = task.step(torch.full((6,), task.begin), state)
        covered = task.coverage(state)
        lengths = batch.source_lengths.repeat_interleave(2)
        for row, length in zip(covered, lengths.tolist(), strict=True):
            assert float(row[:length].sum()) == pytest.approx(step)
            assert torch.equal(row[length:], torch.ones(len(row) - length))


def test_a_coverage_penalty_reaches_the_scores(model: TranslationModel) -> None:
    short = {"longest_ratio": 0.1, "longest_extra": 2}  # two tokens cannot have covered a whole sentence
    for (one,), (other,) in zip(
        *(
            find([model.task], whole_texts(TEXTS), model.plan(search={**short, "coverage_penalty": b}))
            for b in (0.0, 0.5)
        ),
        strict=True,
    ):
        assert other.score < one.score


def test_where_a_model_crosses(model: TranslationModel) -> None:
    assert crossing(model) == "decoder.0.cross.look"  # of two blocks the last but one


def test_a_model_together_with_itself_is_itself(model: TranslationModel) -> None:
    both = model.together([model])
    for one, other in zip(model.translate(TEXTS), both.translate(TEXTS), strict=True):
        assert (other.text, other.score) == (one.text, pytest.approx(one.score))


def test_least_risk_is_the_most_agreed_upon(model: TranslationModel) -> None:
    translation = model.translate(TEXTS[:1], n_best=6, sample={"seed": 2, "temperature": 1.3})[0]
    texts = [text for text, _ in translation.n_best]
    worth = {
        text: sum(utility("chrf")([text] * 6, texts)) - utility("chrf")([text], [text])[0]
        for text in dict.fromkeys(texts)
    }
    plan = model.plan(mbr="chrf", samples=6, n_best=2, sample={"seed": 2, "temperature": 1.3})
    (chosen,) = runner(model, plan)(whole_texts(TEXTS[:1]))
    assert chosen.text == max(worth, key=lambda text: worth[text])
    assert chosen.score == pytest.approx(worth[chosen.text] / 5)
    with pytest.raises(Fault, match="There is no metric 'chfr'"):
        by_risk(model, "chfr")


def test_a_channel_model_reranks_by_what_it_thinks_of_the_source(model: TranslationModel) -> None:
    with pytest.raises(Fault, match="A channel model must go from pt to en, but this one goes from en to pt"):
        by_channel(model, model, Channel())
    # the same network in the other direction: its texts are odd, but its arithmetic is unchanged
    data = model.recipe.data.model_copy(update={"source_language": "pt", "target_language": "en"})
    backward = TranslationModel(model.task, model.recipe.model_copy(update={"data": data}))
    (hypotheses,) = find([model.task], whole_texts(TEXTS[:1]), model.plan(beam=4, n_best=4))
    source = model.task.target.encode(TEXTS[0])
    values = {}
    for hypothesis in hypotheses:
        back = float(backward.force([model.task.write(hypothesis.tokens)], [source])[0])
        values[tuple(hypothesis.tokens)] = sum(hypothesis.token_scores) / (len(hypothesis.tokens) + 1) + 3.0 * back / (
            len(source) + 1
        )
    (ranked,) = by_channel(model, backward, Channel(3.0), count=4)(TEXTS[:1], [hypotheses])
    assert [tuple(hypothesis.tokens) for hypothesis in ranked] == sorted(values, key=lambda tokens: -values[tokens])
    assert [hypothesis.score for hypothesis in ranked] == pytest.approx(sorted(values.values(), reverse=True))
    long = Hypothesis(model.task.target.encode("casa " * 2000), [0.0], 0.0)
    with pytest.raises(Fault, match="The channel model cannot rank the outputs for 'I love"):
        by_channel(model, backward, Channel())(TEXTS[:1], [[long]])


@pytest.fixture
def captures(monkeypatch: pytest.MonkeyPatch) -> CapturedSteps:
    """Search as on a GPU, but without capturing."""
    steps = CapturedSteps()
    monkeypatch.setattr("regard.verbs.translate.search.captures_for", lambda task: steps)
    return steps


@pytest.mark.parametrize("beam", [1, 4])
def test_searched_in_fixed_shapes_is_searched_plainly(
    model: TranslationModel, captures: CapturedSteps, monkeypatch: pytest.MonkeyPatch, beam: int
) -> None:
    pieces, plan = whole_texts([*TEXTS, "", "Ana."]), model.plan(beam=beam, n_best=beam)
    hypotheses = find([model.task], pieces, plan)
    assert len(captures) > 0
    monkeypatch.setattr("regard.verbs.translate.search.captures_for", lambda task: None)
    expected = find([model.task], pieces, plan)
    assert [[hypothesis.tokens for hypothesis in row] for row in hypotheses] == [
        [hypothesis.tokens for hypothesis in row] for row in expected
    ]
    for row, expected_row in zip(hypotheses, expected, strict=True):
        assert [hypothesis.score for hypothesis in row] == pytest.approx(
            [hypothesis.score for hypothesis in expected_row]
        )


def test_what_fixed_shapes_cannot_do_is_done_plainly(model: TranslationModel, captures: CapturedSteps) -> None:
    plain, pieces = Plan(model.recipe.decoding), [Piece(text, prefix="A") for text in TEXTS]
    ways = [
        ([model.task], model.plan(search={"shortest": 3})),
        ([model.task], Plan(plain.options, begins=True)),
        ([model.task], Plan(plain.options, draws=True)),
        ([model.task], model.plan(search={"coverage_penalty": 0.2})),
        ([model.task, model.task], plain),
    ]
    for tasks, plan in ways:
        assert all(find(tasks, pieces, plan))
    assert len(captures) == 0
    assert all(find([model.task], pieces, plain))
    assert len(captures) > 0


def test_a_forbidden_phrase_is_barred_plainly(model: TranslationModel, captures: CapturedSteps) -> None:
    word = model.translate(TEXTS)[0].text.split()[0].strip(".")
    translations = model.translate(TEXTS, constraints=Constraints(forbidden=[word]))
    assert len(captures) > 0
    assert all(word not in translation.text.replace(".", " ").split() for translation in translations)


def test_nothing_is_captured_off_a_gpu(model: TranslationModel) -> None:
    assert captures_for(model.task) is None


def test_translating_in_stages_gives_what_translating_gives(model: TranslationModel) -> None:
    texts = [*TEXTS, " ", "Ana.", "", "We love the red house and the books."]
    plain = Plan(model.recipe.decoding.model_copy(update={"beam": 2, "n_best": 2}))
    with ThreadPoolExecutor(1) as helper:
        stages = TranslationStages(model, plain.options, CapturedSteps(graphs=False), helper)
        cut = result_of(stages.cut(texts))
        outputs = result_of(stages.word(texts, stages.find(cut)))
    expected = runner(model, plain)(whole_texts(texts))
    assert [output.n_best[0][0] for output in outputs] == [output.text for output in expected]
    assert [output.tokens for output in outputs] == [output.tokens for output in expected]
    assert [output.score for output in outputs] == pytest.approx([output.score for output in expected])
    assert [len(output.n_best) for output in outputs] == [2, 2, 2, 1, 2, 1, 2]


def result_of(pieces: InPieces[Any]) -> Any:
    """Return the result of work done piece by piece."""
    while True:
        try:
            awaited = next(pieces)
        except StopIteration as end:
            return end.value
        if awaited is not None:
            awaited.result()


def test_batches_fill_the_sizes_that_steps_are_captured_for() -> None:
    lengths = dict.fromkeys(range(1000), 40) | {1000: 500}
    sizes = [len(batch) for batch in filling_batches(lengths, 20_000)]
    assert sizes == [32, 384, 384, 201]  # 20,000 tokens are 40 of the longest or 500 of the others
    assert sorted(number for batch in filling_batches(lengths, 20_000) for number in batch) == list(range(1001))
    assert list(filling_batches({7: 100}, 50)) == [[7]]
    assert list(filling_batches({}, 50)) == []
