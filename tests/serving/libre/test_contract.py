"""LibreTranslate's contract, case by case; with REGARD_LIBRETRANSLATE set to an address, against the original too.

A case is a request, the status of its answer, and conditions on it. Where the original may rightly differ (other
languages and limits), a case is ours alone.
"""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest
from loopback import on_loopback

from regard.serving.app import make_app
from regard.serving.options import ServingOptions

Check = Callable[[Any], bool]
ORIGINAL = os.environ.get("REGARD_LIBRETRANSLATE", "")


@dataclass(frozen=True)
class Case:
    """A request and its expected answer."""

    name: str
    path: str
    body: dict[str, Any] | None = None
    status: int = 200
    check: Check = lambda answer: True
    form: bool = False  # sent as a form, not as JSON
    parts: bool = False  # sent as a form of several parts
    query: dict[str, str] | None = None
    ours: bool = False


def error(sentence: str) -> Check:
    return lambda answer: list(answer) == ["error"] and sentence in answer["error"]


def keys(*names: str) -> Check:
    return lambda answer: sorted(answer) == sorted(names)


def translation(**more: Any) -> dict[str, Any]:
    return {"q": "I love books.", "source": "en", "target": "pt", **more}


def is_text(answer: Any) -> bool:
    return list(answer) == ["translatedText"] and isinstance(answer["translatedText"], str)


CASES = [
    Case("languages", "GET /languages", check=lambda a: {"code", "name", "targets"} == set(a[0])),
    Case("languages know names", "GET /languages", check=lambda a: "English" in [language["name"] for language in a]),
    Case("languages know targets", "GET /languages", check=lambda a: by_code(a)["en"]["targets"] == ["en", "pt"]),
    Case("health", "GET /health", check=lambda a: a == {"status": "ok"}),
    Case("settings", "GET /frontend/settings", check=lambda a: set(SETTINGS) <= set(a)),
    Case("settings name languages", "GET /frontend/settings",
         check=lambda a: a["language"] == {"source": AUTO, "target": {"code": "pt", "name": "Portuguese"}}),
    Case("settings tell the limit", "GET /frontend/settings", check=lambda a: a["charLimit"] == 2000, ours=True),
    Case("a text in JSON", "POST /translate", translation(), check=is_text),
    Case("a text in a form", "POST /translate", translation(), check=is_text, form=True),
    Case("a text in a form of parts", "POST /translate", translation(q="Я люблю книги."), check=is_text, parts=True),
    Case("no q in a form of parts", "POST /translate", {"source": "en", "target": "pt"}, 400,
         error("missing q parameter"), parts=True),
    Case("a text in the query", "POST /translate", {}, query=translation(), check=is_text, form=True),
    Case("part in the query", "POST /translate", {"q": "Ana reads."}, query={"source": "en", "target": "pt"},
         check=is_text, form=True),
    Case("a list", "POST /translate", translation(q=["I love books.", "Ana reads."]),
         check=lambda a: isinstance(a["translatedText"], list) and len(a["translatedText"]) == 2),
    Case("a list of one", "POST /translate", translation(q=["I love books."]),
         check=lambda a: isinstance(a["translatedText"], list) and len(a["translatedText"]) == 1),
    Case("no more than the text", "POST /translate", translation(), check=keys("translatedText")),
    Case("auto", "POST /translate", translation(source="auto"),
         check=lambda a: a["detectedLanguage"]["language"] == "en" and 0 <= a["detectedLanguage"]["confidence"] <= 100),
    Case("auto in a form", "POST /translate", translation(source="auto"), form=True,
         check=keys("translatedText", "detectedLanguage")),
    Case("auto of a list", "POST /translate", translation(source="auto", q=["I love books.", "Ana reads the books."]),
         check=lambda a: [guess["language"] for guess in a["detectedLanguage"]] == ["en", "en"]),
    Case("auto of what is in the target already", "POST /translate",
         {"q": "Os meninos leem os livros novos em casa.", "source": "auto", "target": "pt"},
         check=lambda a: a["translatedText"].startswith("Os meninos") and a["detectedLanguage"]["language"] == "pt"),
    Case("alternatives", "POST /translate", translation(alternatives=2),
         check=lambda a: isinstance(a["alternatives"], list) and len(a["alternatives"]) <= 2),
    Case("alternatives are distinct and not the best", "POST /translate", translation(alternatives=3),
         check=lambda a: len({a["translatedText"], *a["alternatives"]}) == 1 + len(a["alternatives"])),
    Case("alternatives in a form", "POST /translate", translation(alternatives="2"), form=True,
         check=keys("translatedText", "alternatives")),
    Case("alternatives of a list", "POST /translate", translation(q=["Ana reads.", "I love books."], alternatives=1),
         check=lambda a: len(a["alternatives"]) == 2 and isinstance(a["alternatives"][0], list)),
    Case("no alternatives", "POST /translate", translation(alternatives=0), check=keys("translatedText")),
    Case("plain text is the default", "POST /translate", translation(format="text"), check=is_text),
    Case("an empty format is the default", "POST /translate", translation(format=""), form=True, check=is_text),
    Case("html", "POST /translate", translation(q="<p>I love <b>books</b>.</p>", format="html"),
         check=lambda a: a["translatedText"].startswith("<p>") and a["translatedText"].endswith("</p>")),
    Case("html keeps nested tags", "POST /translate",
         translation(q='<p>Ana <b>sees the <i class="x">red</i> house</b>.</p>', format="html"),
         check=lambda a: tags(a) == ["<p>", "<b>", '<i class="x">', "</i>", "</b>", "</p>"]),
    Case("html keeps scripts as they are", "POST /translate",
         translation(q="<script>if (a < b) c();</script>Ana reads.", format="html"),
         check=lambda a: a["translatedText"].startswith("<script>if (a < b) c();</script>")),
    Case("html escapes text", "POST /translate", translation(q="<p>&lt;b&gt;</p>", format="html"),
         check=lambda a: "<b>" not in a["translatedText"]),
    Case("html has no alternatives", "POST /translate", translation(q="<b>Ana</b>", format="html", alternatives=2),
         check=lambda a: a["alternatives"] == []),
    Case("emoji and spaces come back", "POST /translate", translation(q=" 🙂  🎉 "),
         check=lambda a: a["translatedText"] == " 🙂  🎉 "),
    Case("line breaks are kept", "POST /translate", translation(q="Ana reads.\n\nI love books."),
         check=lambda a: a["translatedText"].count("\n") == 2),
    Case("CRLF in a form is a line break", "POST /translate", translation(q="Ana reads.\r\nI love books."), form=True,
         check=lambda a: "\r" not in a["translatedText"] and "\n" in a["translatedText"]),
    Case("codes in capitals", "POST /translate", translation(source="EN", target="PT"), check=is_text),
    Case("an alias of the target", "POST /translate", translation(target="pt-BR"), check=is_text, ours=True),
    Case("an alias with an underscore", "POST /translate", translation(target="pt_br"), check=is_text, ours=True),
    Case("an alias of the source", "POST /translate", translation(source="en-GB"), check=is_text, ours=True),
    Case("a language into itself", "POST /translate", translation(target="en"),
         check=lambda a: a["translatedText"] == "I love books."),
    Case("the other direction", "POST /translate", {"q": "Ana lê.", "source": "pt", "target": "en"}, check=is_text),
    Case("detect", "POST /detect", {"q": "The boys read the new books at home."},
         check=lambda a: a[0]["language"] == "en" and set(a[0]) == {"confidence", "language"}),
    Case("detect in a form", "POST /detect", {"q": "Os meninos leem os livros novos em casa."}, form=True,
         check=lambda a: a[0]["language"] == "pt"),
    Case("detect, best first", "POST /detect", {"q": "Os meninos leem em casa."},
         check=lambda a: [e["confidence"] for e in a] == sorted((e["confidence"] for e in a), reverse=True)),
    Case("detect nothing", "POST /detect", {"q": "🙂"}, check=lambda a: a[0]["confidence"] == 0),
    Case("no q", "POST /translate", {"source": "en", "target": "pt"}, 400, error("missing q parameter")),
    Case("no q in a form", "POST /translate", {"source": "en", "target": "pt"}, 400,
         error("missing q parameter"), form=True),
    Case("an empty q", "POST /translate", translation(q=""), 400, error("missing q parameter")),
    Case("an empty list", "POST /translate", translation(q=[]), 400, error("missing q parameter")),
    Case("no source", "POST /translate", {"q": "Ana", "target": "pt"}, 400, error("missing source parameter")),
    Case("no target", "POST /translate", {"q": "Ana", "source": "en"}, 400, error("missing target parameter")),
    Case("an unknown source", "POST /translate", translation(source="zz"), 400, error("zz is not supported")),
    Case("an unknown target", "POST /translate", translation(target="zz"), 400, error("zz is not supported")),
    Case("an unknown format", "POST /translate", translation(format="pdf"), 400, error("pdf format is not supported")),
    Case("q is no text", "POST /translate", translation(q=3), 400, error("Invalid request"), ours=True),
    Case("q is a list of no texts", "POST /translate", translation(q=["a", 3]), 400, error("Invalid"), ours=True),
    Case("alternatives are no number", "POST /translate", translation(alternatives="many"), 400,
         error("alternatives"), ours=True),
    Case("too many alternatives", "POST /translate", translation(alternatives=9), 400, error("limit"), ours=True),
    Case("too long a text", "POST /translate", translation(q="a" * 2001), 400, error("exceeds text limit"), ours=True),
    Case("too many texts", "POST /translate", translation(q=["a"] * 21), 400, error("exceeds batch text"), ours=True),
    Case("detect without q", "POST /detect", {}, 400, error("missing q parameter")),
    Case("detect an empty q", "POST /detect", {"q": ""}, 400, error("missing q parameter"), form=True),
    Case("files are switched off", "POST /translate_file", {}, 403, error("disabled"), ours=True),
    Case("suggestions are switched off", "POST /suggest", {}, 403, error("disabled")),
    Case("an unknown address", "GET /nothing", status=404, check=error("nothing at this address"), ours=True),
    Case("the wrong way to ask", "GET /translate", status=405, check=error("does not take GET requests"), ours=True),
]  # fmt: skip
AUTO = {"code": "auto", "name": "Auto Detect"}
SETTINGS = ("charLimit", "frontendTimeout", "apiKeys", "keyRequired", "suggestions", "filesTranslation",
            "supportedFilesFormat", "language")  # fmt: skip


def by_code(answer: Any) -> dict[str, Any]:
    return {language["code"]: language for language in answer}


def tags(answer: Any) -> list[str]:
    return re.findall(r"<[^>]+>", answer["translatedText"])


def replay(ask: httpx.Client, case: Case) -> None:
    method, path = case.path.split()
    sent: dict[str, Any] = {} if case.body is None else {"data" if case.form else "json": case.body}
    if case.parts:
        sent = {"files": {name: (None, value) for name, value in (case.body or {}).items()}}
    answer = ask.request(method, path, params=case.query, **sent)
    assert answer.status_code == case.status, answer.text
    assert answer.headers["content-type"].startswith("application/json")
    assert case.check(answer.json()), answer.text


def test_there_are_enough_cases() -> None:
    assert len(CASES) >= 40
    assert len({case.name for case in CASES}) == len(CASES)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_case_of_the_contract(client: httpx.Client, case: Case) -> None:
    replay(client, case)


if ORIGINAL:

    @pytest.mark.parametrize("case", [case for case in CASES if not case.ours], ids=lambda case: case.name)
    def test_the_original_gives_the_same(case: Case) -> None:
        with httpx.Client(base_url=ORIGINAL, timeout=60) as original:
            replay(original, case)


def test_a_case_can_fail(client: httpx.Client) -> None:
    with pytest.raises(AssertionError):
        replay(client, Case("wrong", "POST /translate", translation(), check=keys("detectedLanguage")))
    with pytest.raises(AssertionError):
        replay(client, Case("wrong", "POST /translate", translation(), 400))


def test_alternatives_are_bounded_by_the_beam_that_the_server_allows(back: Path) -> None:
    options = ServingOptions.model_validate({"limits": {"beam": 2, "n_best": 8}})
    question = {"q": "Eu amo livros.", "source": "pt", "target": "en"}
    with on_loopback(make_app([back], options)) as address, httpx.Client(base_url=address, timeout=60) as client:
        answers = [client.post("/translate", json=question | {"alternatives": count}) for count in (1, 2)]
    assert [answer.status_code for answer in answers] == [200, 400]
    assert answers[1].json()["error"] == "Invalid request: alternatives (2) exceeds the limit (1)"
