"""/v1/translate: the same as the command line and Python, sentence by sentence, and every option has an effect."""

import json
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest

import regard
from regard.verbs.translate.search import Constraints

TEXT = "Ana sees the red house. The boys read new books!"


def asked(client: httpx.Client, **question: Any) -> dict[str, Any]:
    answer = client.post("/v1/translate", json={"model": "forth", "text": TEXT, **question})
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def refused(client: httpx.Client, **question: Any) -> str:
    answer = client.post("/v1/translate", json={"model": "forth", "text": TEXT, **question})
    assert answer.status_code == 400, answer.text
    assert list(answer.json()) == ["error"]
    return str(answer.json()["error"])


@pytest.fixture(scope="module")
def model(forth: Path) -> regard.Model:
    return regard.load(forth)


@pytest.mark.parametrize("engine", ["torch", "ctranslate2"])
def test_a_sentence_is_what_python_gives(client: httpx.Client, model: regard.Model, engine: str) -> None:
    text = "Ana sees the red house."
    report = asked(client, text=text, engine=engine)
    (expected,) = model.translate([text])
    (translation,) = report["translations"]
    assert (report["model"], report["source"], report["target"], report["engine"]) == ("forth", "en", "pt", engine)
    assert translation["text"] == expected.text
    assert translation["tokens"] == expected.tokens
    assert translation["score"] == pytest.approx(expected.score, abs=1e-4)
    assert translation["token_scores"] == pytest.approx(expected.token_scores, abs=1e-4)
    assert translation["alignment"] == [list(link) for link in expected.alignment]
    assert report["seconds"] > 0


def test_a_text_is_cut_into_sentences_and_spans_say_where_they_stand(client: httpx.Client) -> None:
    (translation,) = asked(client, text=f"  {TEXT}\n\nAna reads.")["translations"]
    sentences = translation["sentences"]
    assert [sentence["source"]["text"] for sentence in sentences] == [
        "Ana sees the red house.", "The boys read new books!", "Ana reads.",
    ]  # fmt: skip
    for sentence in sentences:
        source, written = f"  {TEXT}\n\nAna reads.", translation["text"]
        assert source[sentence["source"]["start"] : sentence["source"]["end"]] == sentence["source"]["text"]
        assert written[sentence["span"]["start"] : sentence["span"]["end"]] == sentence["text"]
    assert translation["tokens"] == [token for sentence in sentences for token in sentence["tokens"]]
    assert translation["score"] == pytest.approx(sum(sentence["score"] for sentence in sentences))
    assert [sentence["sentence"] for sentence in sentences] == [0, 1, 2]


def test_several_texts_come_back_in_their_order(client: httpx.Client) -> None:
    texts = ["Ana reads.", "", "I love books.", " \n"]
    many = [translation["text"] for translation in asked(client, text=texts)["translations"]]
    alone = [asked(client, text=text)["translations"][0]["text"] for text in texts]
    assert many == alone
    assert many[1] == ""


def test_without_a_model_the_languages_choose_and_without_these_the_first(client: httpx.Client) -> None:
    def chosen(**question: Any) -> tuple[str, Any]:
        answer = client.post("/v1/translate", json={"text": "Os meninos leem os livros novos em casa.", **question})
        return answer.json()["model"], answer.json()["detected"]

    assert chosen() == ("forth", None)
    assert chosen(source="pt", target="en") == ("back", None)
    assert chosen(source="pt") == ("back", None)
    assert chosen(target="en") == ("back", None)
    model, detected = chosen(source="auto", target="en")
    assert (model, detected["language"]) == ("back", "pt")


def test_explain_false_leaves_the_explanation_away(client: httpx.Client) -> None:
    plain = asked(client, explain=False)["translations"][0]
    assert [plain[name] for name in ("tokens", "token_scores", "alignment", "unsure")] == [[], [], [], None]
    assert plain["text"] == asked(client)["translations"][0]["text"]


def by_python(model: regard.Model, **options: Any) -> list[str]:
    (translation,) = model.translate(["Ana sees the red house."], **options)
    return [text for text, _ in translation.n_best]


SENTENCE = "Ana sees the red house."


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("question", "options"),
    [
        ({"beam": 1}, {"beam": 1}),
        ({"n_best": 3}, {"n_best": 3}),
        ({"beam": 6, "n_best": 4, "length_penalty": 2.0}, {"beam": 6, "n_best": 4, "length_penalty": 2.0}),
        ({"sample": {"seed": 5}, "n_best": 3}, {"sample": {"seed": 5}, "n_best": 3}),
        ({"sample": {"top_k": 3, "seed": 2}}, {"sample": {"top_k": 3, "seed": 2}}),
        ({"sample": {"temperature": 0.0}}, {"sample": {"temperature": 0.0}}),
        ({"prefix": "Eu amo"}, {"constraints": Constraints(prefixes=["Eu amo"])}),
        ({"required": ["dois cachorros"]}, {"constraints": Constraints(required=[["dois cachorros"]])}),
        ({"forbidden": ["em"]}, {"constraints": Constraints(forbidden=["em"])}),
        ({"vocabulary": ["Eu amo livros"]}, {"constraints": Constraints(allowed=["Eu amo livros"])}),
    ],
)
def test_options_are_those_of_python(
    client: httpx.Client, model: regard.Model, question: dict[str, Any], options: dict[str, Any]
) -> None:
    (translation,) = asked(client, text=SENTENCE, engine="torch", **question)["translations"]
    assert [output["text"] for output in translation["n_best"]] == by_python(model, **options)


@pytest.mark.parametrize(
    "question",
    [
        {"search": {"groups": 2, "diversity": 5.0}, "n_best": 4},
        {"search": {"shortest": 4}, "n_best": 4},
        {"search": {"stop": "first", "length_penalty_kind": "average"}, "n_best": 4, "length_penalty": 5},
        {"mbr": "chrf", "samples": 8},
        {"with": ["forth"], "forbidden": ["em", "w85"], "n_best": 4},
        {"channel": "back", "channel_weight": 50.0, "n_best": 4},
    ],
    ids=lambda question: next(iter(question)),
)
def test_an_option_changes_something(client: httpx.Client, question: dict[str, Any]) -> None:
    plain = asked(client, text=SENTENCE, n_best=4)["translations"][0]["n_best"]
    assert asked(client, text=SENTENCE, **question)["translations"][0]["n_best"] != plain


def test_a_forced_output_is_scored(client: httpx.Client, model: regard.Model) -> None:
    (translation,) = asked(client, text=SENTENCE, forced="Eu amo livros.")["translations"]
    (expected,) = model.translate_as([SENTENCE], ["Eu amo livros."])
    assert translation["text"] == "Eu amo livros."
    assert translation["score"] == pytest.approx(expected.score, abs=1e-5)


def test_prefixes_may_differ_from_text_to_text(client: httpx.Client) -> None:
    texts = ["Ana reads.", "I love books."]
    translations = asked(client, text=texts, prefix=["Eu", "não é"])["translations"]
    assert [translation["text"].split()[0] for translation in translations] == ["Eu", "não"]
    assert all(
        translation["text"].startswith("casa")
        for translation in asked(client, text=texts, prefix="casa")["translations"]
    )


def test_going_on_from_exact_tokens(client: httpx.Client) -> None:
    continuation = asked(client, text=SENTENCE, before=["Eu", "amo"])["translations"][0]
    assert continuation["tokens"][:2] == ["Eu", "amo"]
    assert continuation["text"] == asked(client, text=SENTENCE, prefix="Eu amo")["translations"][0]["text"]
    ended = asked(client, text=SENTENCE, before=["Eu", "amo", "</s>"])["translations"][0]
    assert (ended["text"], len(ended["token_scores"])) == ("Eu amo", 3)
    assert ended["score"] == pytest.approx(asked(client, text=SENTENCE, forced="Eu amo")["translations"][0]["score"])


def test_long_sentences_are_cut_or_refused(client: httpx.Client) -> None:
    long = " ".join(["books"] * 150)
    pieces = asked(client, text=long)["translations"][0]["sentences"]
    assert len(pieces) >= 3
    assert " ".join(piece["source"]["text"] for piece in pieces) == long
    assert "at most; split it" in refused(client, text=long, too_long="refuse")


def test_split_sentences_may_be_switched_off(client: httpx.Client) -> None:
    assert len(asked(client, split_sentences=False)["translations"][0]["sentences"]) == 1


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ({"text": 3}, "text is 3, expected a list"),
        ({"text": "a", "wiht": ["b"]}, "Invalid request: the request has no 'wiht'; did you mean 'with'?"),
        ({"txet": "a", "text": "b"}, "Invalid request: the request has no 'txet'; did you mean 'text'?"),
        ({"model": "none"}, "There is no model 'none' here; there are forth, back."),
        ({"source": "pt"}, "The model forth goes from en to pt."),
        ({"beam": 9}, "'beam' is 9, but the limit here is 8."),
        ({"beam": 0}, "beam is 0, expected 1 or more"),
        ({"n_best": 5}, "'n_best' is 5, but the limit here is 4."),
        ({"beam": 2, "n_best": 3}, "a beam of 2 cannot give the 3 best"),
        ({"mbr": "chrf", "samples": 100}, "'samples' is 100, but the limit here is 64."),
        ({"samples": 3}, "'samples' is the number that 'mbr' chooses among"),
        ({"mbr": "nonsense"}, "nonsense"),
        ({"sample": {}, "beam": 2}, "'beam' is for beam search"),
        ({"sample": {}, "search": {"groups": 2}}, "'search.groups' is for beam search"),
        ({"mbr": "chrf", "n_best": 40}, "'mbr' cannot give the 40 best of 32; raise 'samples'."),
        ({"too_long": "split", "prefix": "Eu"}, "'prefix' belongs to a whole output; omit 'too_long'."),
        ({"sample": {"temprature": 1}}, "sample has no 'temprature'; did you mean 'temperature'?"),
        ({"search": {"beam": 2}}, "'beam' has its own field"),
        ({"search": {"grups": 2}}, "the search has no 'grups'; did you mean 'groups'?"),
        ({"search": {"length_penality": 2}}, "the search has no 'length_penality'; did you mean 'length_penalty'"),
        ({"search": {"longest_extra": 0}}, "longest_extra is 0, expected 1 or more"),
        ({"channel_weight": 2.0}, "'channel_weight' has no effect without 'channel'"),
        ({"channel": "nobody"}, "There is no model 'nobody' here"),
        ({"channel": ""}, "There is no model '' here"),
        ({"channel": "forth"}, "must go from pt to en"),
        ({"with": ["nobody"]}, "There is no model 'nobody' here"),
        ({"forced": "a", "n_best": 2}, "omit 'n_best'"),
        ({"forced": ["a", "b", "c"]}, "There are 3 of 'forced' for 1 texts"),
        ({"prefix": "nonsense"}, "for which this model has no tokens"),
        ({"prefix": "Eu", "split_sentences": True}, "'prefix' belongs to a whole output"),
        ({"before": ["nonsense"]}, "'nonsense' is not a token of the model forth."),
        ({"before": ["</s>", "Eu"]}, "no token follows it"),
        ({"before": ["Eu"], "prefix": "Eu"}, "omit 'prefix'"),
        ({"before": ["Eu"], "text": ["a", "b"]}, "give one text"),
        ({"before": ["Eu"] * 64}, "an output has at most 63"),
        ({"engine": "ctranslate2", "sample": {}}, "CTranslate2 cannot do 'sample'"),
        ({"engine": "ctranslate2", "search": {"groups": 2}}, "CTranslate2 cannot do 'groups'"),
        ({"engine": "ctranslate2", "model": "back"}, "The model back is not served by CTranslate2; ask for torch."),
        ({"engine": "onnx"}, "The model forth is not served by onnxruntime; ask for ctranslate2 or torch."),
        ({"forbidden": ["a"] * 21}, "give fewer"),
        ({"text": "a" * 2001}, "exceeds text limit (2000)"),
        ({"text": ["a"] * 21}, "exceeds batch text limit (20)"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_question_is_refused_in_words(client: httpx.Client, question: dict[str, Any], sentence: str) -> None:
    message = refused(client, **question)
    assert sentence in message
    assert not message.endswith("?.")


def events_of(text: str) -> list[tuple[str, dict[str, Any]]]:
    outputs = []
    for block in text.split("\n\n")[:-1]:
        name, data = block.split("\n")
        outputs.append((name.removeprefix("event: "), json.loads(data.removeprefix("data: "))))
    return outputs


@pytest.mark.parametrize("how", ["field", "header"])
def test_a_stream_tells_sentence_by_sentence(client: httpx.Client, how: str) -> None:
    question = {"model": "forth", "text": [TEXT, ""], **({"stream": True} if how == "field" else {})}
    headers = {"Accept": "text/event-stream"} if how == "header" else {}
    answer = client.post("/v1/translate", json=question, headers=headers)
    assert answer.headers["content-type"].startswith("text/event-stream")
    events = events_of(answer.text)
    whole = asked(client, text=[TEXT, ""])["translations"]
    names = [name for name, _ in events]
    assert (names[0], names[-1]) == ("start", "done")
    assert sorted(names[1:-1]) == ["sentence"] * 3 + ["translation"] * 2
    start = events[0][1]
    assert [[span["text"] for span in text] for text in start["texts"]] == [
        [sentence["source"]["text"] for sentence in text["sentences"]] for text in whole
    ]
    by_place = {(data["index"], data["sentence"]): data["text"] for name, data in events if name == "sentence"}
    assert by_place == {
        (index, place): sentence["text"]
        for index, text in enumerate(whole)
        for place, sentence in enumerate(text["sentences"])
    }
    texts = {data["index"]: data["text"] for name, data in events if name == "translation"}
    assert texts == {index: text["text"] for index, text in enumerate(whole)}


def test_a_stream_that_fails_ends_with_an_error(client: httpx.Client) -> None:
    phrases = [" ".join(f"w{number}" for number in range(first, first + 6)) for first in range(0, 72, 6)]
    question = {"model": "forth", "text": SENTENCE, "stream": True, "required": phrases}
    events = events_of(client.post("/v1/translate", json=question).text)
    assert events[-1][0] == "error"
    assert events[-1][1]["status"] == 400
