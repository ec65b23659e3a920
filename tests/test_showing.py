"""Results displayed by name, in a terminal and in a notebook."""

import html
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from toys import open_toy

import regard
from regard.answers import Answer, Tags
from regard.attention.watch import Gaze, Gazes
from regard.base.faults import Fault
from regard.base.notebook import Results, ranked, tinted, tokens_by_probability
from regard.engines.translated import Translated
from regard.metrics import score
from regard.model import make_model
from regard.verbs.generate.generated import Generated
from regard.verbs.words.lexicon import NeighboursOfWord, SolvedAnalogy
from regard.viewing.seen import Block, Seen

TEXTS = ["I see the red house.", "Ana sleeps."]
HOSTILE = '<img src=x onerror="alert(1)"> & </iframe>'


@pytest.fixture(scope="module")
def model(trained: Path) -> Any:
    return regard.load(trained)


def shown(result: Any) -> str:
    return str(result._repr_html_())


def page_in(fragment: str) -> str:
    """Return the page inside the frame of a fragment."""
    (page,) = re.findall(r'<iframe srcdoc="([^"]*)"', fragment)
    return html.unescape(page)


def modes_in(fragment: str) -> dict[str, Any]:
    """Return what such a page shows: words or tokens, with the sides by name."""
    (data,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page_in(fragment))
    return dict(json.loads(data)["modes"])


def test_results_are_short_in_a_terminal() -> None:
    translated = Translated("Eu vejo.", -0.5, ["▁Eu"], [-0.1, -0.4], [("Eu vejo.", -0.5), ("Vejo.", -1.0)], list)
    assert repr(translated) == "Translated('Eu vejo.', score -0.500, 1 others)"
    assert repr(score(["a b"], ["a b"], "exact")) == "Score(exact 100.00, n=1)"
    assert repr(Answer("good", 0.973, {"good": 0.973, "bad": 0.027})) == "Answer('good', 97.3%)"
    assert repr(Tags(["Ana", "reads"], ["N", "V"], [0.9, 0.8], 0.7)) == "Tags('Ana/N reads/V')"
    assert repr(Generated("the", "the cat", -3.2, ["cat"], [-3.2])) == "Generated('the cat', score -3.200)"
    near = [("queen", 0.71), ("prince", 0.7), ("crown", 0.6), ("throne", 0.5)]
    assert repr(NeighboursOfWord("King", "king", near)) == (
        "NeighboursOfWord('king': queen 0.71, prince 0.70, crown 0.60, …)"
    )
    assert repr(SolvedAnalogy(("man", "king", "woman"), near[:1])) == (
        "SolvedAnalogy('man' is to 'king' as 'woman' is to queen 0.71)"
    )


def test_what_people_and_models_wrote_is_no_markup() -> None:
    for fragment in (
        tinted([HOSTILE], [0.5], [HOSTILE]),
        ranked([(HOSTILE, 0.5)]),
        shown(Translated(HOSTILE, -1.0, [HOSTILE], [-1.0, 0.0], [(HOSTILE, -1.0), (HOSTILE, -2.0)], list)),
        shown(Answer(HOSTILE, 1.0, {HOSTILE: 1.0})),
        shown(Tags([HOSTILE], [HOSTILE], [1.0], 1.0)),
        shown(Seen(HOSTILE, HOSTILE, [HOSTILE], [HOSTILE], [Block(HOSTILE, np.ones((1, 1, 1)))])),
        Results([Generated("", HOSTILE, -1.0, [HOSTILE], [-1.0])])._repr_html_(),
    ):
        assert "<img" not in fragment
        assert fragment.count("</iframe>") == fragment.count("<iframe ")
        assert " id=" not in re.sub(r'srcdoc="[^"]*"', "", fragment)  # so that several fit in one notebook


def test_a_list_shows_all_that_is_in_it() -> None:
    several = Results([[Answer("yes", 1.0, {"yes": 1.0})], Answer("no", 1.0, {"no": 1.0}), 7])
    assert [word in shown(several) for word in ("yes", "no", ">7<")] == [True, True, True]
    assert several == list(several)


def test_tokens_are_as_strong_as_they_are_probable() -> None:
    fragment = tokens_by_probability(["a", "b"], [0.0, float(np.log(0.5)), -1.0])
    assert re.findall(r"rgba\(74,144,217,([\d.]+)\)", fragment) == ["0.60", "0.30"]
    assert re.findall(r'title="([^"]+)"', fragment) == ["100.0% probable", "50.0% probable"]
    assert tokens_by_probability(["a", "b"], []) == ""


def test_a_model_says_what_it_is(model: Any) -> None:
    assert repr(model).startswith("<Model: transformer, translation en-pt, 15,376 parameters; can train, evaluate, tr")
    assert "15,376" in shown(model)
    assert model.facts()["languages"] == "en-pt"


def test_gazes_name_the_tokens_of_both_sides(model: Any) -> None:
    with regard.watching(model) as gazes:
        translations = model.translate(TEXTS)
    (cross,) = (gaze for gaze in gazes if gaze.where == "decoder.0.cross.look")
    decoder = next(gaze for gaze in gazes if gaze.looks_from == gaze.looks_at == "target")
    end = model.task.target.pieces([model.task.end])
    for row, translated in enumerate(translations):
        assert cross.queries[row] == [*translated.tokens, *end]
        assert decoder.keys[row][1:] == translated.tokens  # within the target, by what is read
        read = cross.weights[row, :, : len(cross.queries[row]), : len(cross.keys[row])]
        assert read.sum(-1).numpy() == pytest.approx(np.ones(read.shape[:2]), abs=1e-5)
    assert "".join(cross.keys[1]).replace("▁", " ").strip().startswith("Ana")
    with regard.watching(model, where="decoder.0.cross", rows=[1], queries=[0, -1]) as few:
        model.translate(TEXTS)
    assert few[0].keys == [cross.keys[1]]
    assert few[0].queries[0][0] == cross.queries[1][0]
    assert repr(few[0]) == (
        f"Gaze('decoder.0.cross.look', target to source, weights 1 × 2 × 2 × {few[0].weights.shape[3]}"
        " (batch, head, query, key))"
    )


def test_a_language_model_that_looks_back_names_the_tokens_of_what_it_wrote(tmp_path: Path) -> None:
    run = open_toy("gpt", tmp_path)
    model = make_model(run.task, run.recipe)
    with regard.watching(model) as gazes:
        ((first, _),) = model.generate(["Ana"], tokens=3, samples=2, sample={"seed": 1})
    assert {gaze.where for gaze in gazes} == {name for name, _ in model.named_modules() if name.endswith(".look")}
    end, *read = gazes[0].keys[0]
    assert [end, *read[-len(first.tokens) :]] == [*model.task.tokeniser.pieces([model.task.end]), *first.tokens]
    assert gazes[0].weights.shape[2:] == (len(read) + 1,) * 2


def test_gazes_show_their_first_row_as_a_page(model: Any) -> None:
    with regard.watching(model) as gazes:
        model.translate(TEXTS)
    assert list(modes_in(shown(gazes))["tokens"]) == ["cross", "encoder", "decoder"]
    assert "the first of 2 rows" in shown(gazes)
    assert list(modes_in(shown(gazes[-1]))["tokens"]) == ["cross"]
    assert "There was no attention" in shown(Gazes())
    unnamed = modes_in(shown(Gaze("look", "one", "other", torch.ones(1, 1, 1, 2) / 2)))["tokens"]
    assert unnamed["one to other"]["columns"] == ["1", "2"]


def test_look_gives_what_the_command_draws(model: Any, trained: Path, tmp_path: Path) -> None:
    from regard.cli import main

    view = model.look(TEXTS[0], layer=1)
    assert repr(view).splitlines()[0].startswith(f"{TEXTS[0]} → ")
    assert "cross, block 1, mean of 2 heads" in repr(view)
    path = tmp_path / "command.html"
    assert main(["look", str(trained), "--text", TEXTS[0], "--layer", "1", "-o", str(path)]) == 0
    assert page_in(shown(view)) == path.read_text(encoding="utf-8")
    assert json.loads(view.save(str(tmp_path / "look.json")).read_text())["side"] == "cross"
    with pytest.raises(Fault, match=r"look\.json exists already; give overwrite=True to replace it"):
        view.save(tmp_path / "look.json")
    assert view.save(tmp_path / "look.json", overwrite=True) == tmp_path / "look.json"
    with pytest.raises(Fault, match=r"look\.bmp does not end in \.png, \.svg, \.html or \.json"):
        view.save(tmp_path / "look.bmp")
    with pytest.raises(Fault, match="This model has 2 blocks of 2 heads on that side"):
        model.look(TEXTS[0], layer=3)
    assert model.look(TEXTS[0], "Eu vejo.").heading.endswith("→ Eu vejo.")


def test_what_is_too_large_for_a_page_is_a_picture(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from regard.viewing import page

    monkeypatch.setattr(page, "MOST_WEIGHTS", 3)
    assert "data:image/png;base64," in shown(model.look(TEXTS[1]))
