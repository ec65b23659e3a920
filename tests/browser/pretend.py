"""A server that pretends: the real page files under the real policy, and answers that a person can check.

Its models translate word by word from a small dictionary. A token is a word with its space; the next token is the
right word with 0.7, one that any word could be replaced by with 0.2, and the end with 0.1.
"""

import json
import math
import re
import threading
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
from pretend_captions import DESCRIBER, WATCHER, caption_pictures, look_at_frames, look_at_places
from pretend_passes import follow
from pretend_sounds import look_over_time, speak, transcribe
from pretend_writing import read_prompt, told

from regard.serving.app import every_door
from regard.serving.http.guard import HEADERS
from regard.serving.openapi import document
from regard.serving.static import page_files
from regard.viewing.facts import Hops, facts_data
from regard.viewing.graph import graph_data
from regard.viewing.neighbourhood import Neighbour, Neighbourhood
from regard.viewing.seen import Block
from regard.viewing.windows import GlimpsePath, glimpse_data
from regard.viewing.word_map import WordMap, map_data

WORDS = {"I": "Eu", "see": "vejo", "the": "a", "house": "casa", "cat": "gata", "sleeps": "dorme"}
INSTEAD, END = "▁talvez", "</s>"
LIMITS = {
    "characters": 200,
    "beam": 8,
    "n_best": 8,
    "weights": 10_000,
    "nodes": 500,
    "seconds": 10,
    "picture": 100,
    "sound": 100,
    "tokens": 9,
}


def _described(name: str, source: str, target: str, *more: str) -> dict[str, Any]:
    names = {"en": "English", "pt": "Portuguese"}
    return {
        "name": name,
        "source": {"code": source, "name": names[source]},
        "target": {"code": target, "name": names[target]},
        "engine": "torch",
        "decoding": {"beam": 2},
        "can": ["translate", "attention", "next", "beam", *more],
    }


MODELS = [
    _described("plain", "en", "pt", "forward"),
    _described("loud", "en", "pt"),
    _described("back", "pt", "en", "forward"),
]


def translated(text: str, model: str = "plain") -> str:
    """Translate each word by the dictionary, keeping its full stop; `loud` writes capitals."""
    table = {target: source for source, target in WORDS.items()} if model == "back" else WORDS
    output = re.sub(r"\w+", lambda match: table.get(match[0], match[0]), text)
    return output.upper() if model == "loud" else output


def tokens_of(text: str) -> list[str]:
    return [f"▁{word}" for word in text.split()]


def sentences_of(text: str) -> list[dict[str, Any]]:
    return [
        {"start": match.start(), "end": match.end(), "text": match[0]}
        for match in re.finditer(r"[^\s.][^.\n]*\.?", text)
    ]


def explained(source: str, text: str) -> dict[str, Any]:
    """Return an output with its tokens, each word aligned with the one at its place."""
    tokens, last = tokens_of(text), len(source.split()) - 1
    return {
        "text": text,
        "score": -0.1 * len(tokens),
        "tokens": tokens,
        "token_scores": [-0.1] * (len(tokens) + 1),
        "alignment": [[min(place, last), place] for place in range(len(tokens))],
        "n_best": [{"text": text, "score": -0.1 * len(tokens)}],
        "unsure": text == source,  # no word of it was known
    }


class Pretending:
    """The requests received and the faults to simulate."""

    def __init__(self) -> None:
        self.address = ""
        self.forget()

    def forget(self) -> None:
        """Reset everything."""
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.refusals: list[tuple[int, str, dict[str, str]]] = []  # given once each, in turn, to requests for a path
        self.refused_path = "/v1/translate"
        self.key: str | None = None  # a key that requests must have
        self.models = MODELS
        self.other_page = b""  # the page at /other, next to the page's own
        self.held: dict[str, threading.Event] = {}  # texts or paths that wait for a signal before they are answered
        self.breaks_off = False  # whether streams end before they are done

    def questions(self, path: str) -> list[dict[str, Any]]:
        return [question for name, question in self.asked if name == path]

    def answer(self, path: str, question: dict[str, Any]) -> Any:
        answers = {"/v1/attention": _attention, "/v1/next": _next, "/v1/beam": _beam, "/v1/forward": follow}
        answers |= {"/v1/answer": _answer, "/v1/look": _look, "/v1/prompt": read_prompt}
        answers |= {"/v1/speak": speak, "/v1/transcribe": transcribe}
        answers |= {"/v1/draw": _draw, "/v1/caption": caption_pictures}
        answers |= {"/v1/neighbours": _neighbours, "/v1/analogy": _analogy, "/v1/map": _map}
        return answers[path](question)


def _draw(question: dict[str, Any]) -> dict[str, Any]:
    """Continue the given strokes with a line of 20 units to the right, or draw two such lines."""
    strokes_given = question.get("complete", [])
    first = strokes_given[0][0] if strokes_given else [0, 0]
    strokes = [[[x - first[0], y - first[1]] for x, y in stroke] for stroke in strokes_given] or [[[0, 0], [20, 0]]]
    points = sum(map(len, strokes_given))
    drawing = {"strokes": [*strokes, [[0, 10], [20, 10]]], "begun": points}
    drawings = [{"animation": "", "drawing": drawing}] * question.get("count", 1)
    return {"model": question["model"], "seconds": 0.1, "seed": 1, "drawings": drawings}


def translation(question: dict[str, Any]) -> dict[str, Any]:
    source, model = question["text"], question.get("model", "plain")
    best = translated(source, model)
    if question.get("forced"):
        best = question["forced"]
    elif before := question.get("before"):
        rest = tokens_of(best)[len(before) :]
        best = "".join([*(token for token in before if token != END), *rest]).replace("▁", " ").strip()
    output = explained(source, best)
    others = [f"{best} {'e ' * place}tal" for place in range(1, question.get("n_best", 1))]
    output["n_best"] += [{"text": text, "score": -1.0 - place} for place, text in enumerate(others)]
    return output


def _languages(model: str) -> tuple[str, str]:
    (entry,) = [candidate for candidate in MODELS if candidate["name"] == model]
    return entry["source"]["code"], entry["target"]["code"]


def _attention(question: dict[str, Any]) -> dict[str, Any]:
    """Return two blocks of two heads: the first attends to the word at its place, the second evenly to all."""
    source, target = _languages(question["model"])
    mark = "▁" if question["mode"] == "tokens" else ""
    columns = [f"{mark}{word}" for word in question["text"].split()]
    rows = [f"{mark}{token.removeprefix('▁')}" for token in question["tokens"]]

    def side(rows: list[str], columns: list[str]) -> dict[str, Any]:
        straight = [10_000 * (row == column) for row in range(len(rows)) for column in range(len(columns))]
        even = [10_000 // len(columns)] * (len(rows) * len(columns))
        block = {"heads": [straight, even], "entropy": [0.0, round(math.log(len(columns)), 3)]}
        blocks = [{"where": f"decoder.{place}.cross", "layer": place + 1, **block} for place in range(2)]
        return {"rows": rows, "columns": columns, "usual": 1, "blocks": blocks}

    sides = {"cross": side(rows, columns), "encoder": side(columns, columns), "decoder": side(rows, rows)}
    return {
        "model": question["model"],
        "source": {"text": question["text"], "language": source},
        "target": {"text": " ".join(rows), "language": target},
        "modes": {question["mode"]: sides},
    }


def _next(question: dict[str, Any]) -> dict[str, Any]:
    right = [*tokens_of(translated(question["text"], question["model"])), END]
    before = question["before"]
    names = [right[min(len(before), len(right) - 1)], INSTEAD, END]
    shares = [0.7, 0.2, 0.05]
    tokens = [
        {"token": name, "text": name, "probability": share, "taken": False, "end": name == END}
        for name, share in zip(names, shares, strict=True)
    ]
    source, target = _languages(question["model"])
    return {
        "source": {"text": question["text"], "language": source},
        "target": {"text": "", "language": target},
        "before": before,
        "vocabulary": 13,
        "tokens": tokens,
        "log_probabilities": [math.log(share) for share in shares],
        "rest": {"count": 10, "probability": 0.05},
    }


def _beam(question: dict[str, Any]) -> dict[str, Any]:
    """Return the best output, and as many dropped first tokens as the beam is wide."""
    tokens = [*tokens_of(translated(question["text"], question["model"])), END]
    common = {"log_probability": -0.1, "score": None, "rank": None, "group": 0}
    nodes = [
        {
            **common,
            "token": token,
            "parent": place - 1 if place else None,
            "step": place + 1,
            "total": -0.1 * (place + 1),
            "fate": "continued",
            "text": "".join(tokens[: place + 1]).replace("▁", " ").replace(END, "").strip(),
        }
        for place, token in enumerate(tokens)
    ]
    nodes[-1] |= {"score": -0.5, "rank": 1, "fate": "won"}
    dropped = [{**nodes[0], "token": f"▁x{n}", "text": f"x{n}", "fate": "dropped"} for n in range(question["beam"] - 1)]
    source, target = _languages(question["model"])
    lanes = [0] * len(nodes)
    return {
        "source": {"text": question["text"], "language": source},
        "target": {"text": nodes[-1]["text"], "language": target},
        "width": question["beam"],
        "leftwards": False,
        "outputs": [len(nodes) - 1],
        "lanes": {
            "all": [*lanes, *range(1, len(dropped) + 1)],
            "outputs": [*lanes, *[None] * len(dropped)],
        },
        "nodes": [*nodes, *dropped],
    }


def _answer(question: dict[str, Any]) -> dict[str, Any]:
    """Return whether a number, or that of a story's facts, a drawing's strokes or a picture's bytes, is even, odd or
    zero.
    """
    (item,) = question["inputs"]
    if isinstance(item, dict) and "drawing" in item:
        item = len(item["drawing"])
    if _is_story(item):
        item = item.count("\n")
    if "raw" in question:
        return {"model": question["model"], "seconds": 0.003, "answers": [_tags(item.split())]}
    if question.get("unfold"):
        numbers = re.findall(r"\[(\d+)\]", item) or [item]
        answers = [_answer({**question, "unfold": False, "inputs": [number]})["answers"][0] for number in numbers]
        inputs = [f"of [{number}]" for number in numbers]
        return {"model": question["model"], "seconds": 0.003, "answers": answers, "inputs": inputs}
    number = len(b64decode(item["picture"])) if isinstance(item, dict) else int(item)
    names = {0: "zero", 1: "odd"} if not number else {0: "even", 1: "odd"}
    shares = {"even": 0.05, "odd": 0.05, "zero": 0.05} | {names[number % 2]: 0.9}
    best = {"answer": names[number % 2], "probability": 0.9, "probabilities": shares}
    return {"model": question["model"], "seconds": 0.003, "answers": [best]}


def _is_story(given: Any) -> bool:
    return isinstance(given, str) and given.endswith("?")


def _tags(words: list[str]) -> dict[str, Any]:
    """Return a span of all words but the last."""
    tags, last = ["B-NP", *["I-NP"] * (len(words) - 2), "O"], len(words) - 1
    shares = [0.9] * last + [0.5]
    return {"words": words, "answers": tags, "probabilities": shares, "probability": 0.4, "spans": [["NP", 0, last]]}


def _neighbours(question: dict[str, Any]) -> dict[str, Any]:
    """Return each word with one and then two more letters as its nearest neighbours."""
    words = [
        {"query": word, "word": word.lower(), "neighbours": [[f"{word.lower()}a", 0.9], [f"{word.lower()}aa", -0.3]]}
        for word in question["words"]
    ]
    return {"model": question["model"], "seconds": 0.002, "words": words}


def _analogy(question: dict[str, Any]) -> dict[str, Any]:
    words = [question[name] for name in "abc"]
    return {
        "model": question["model"],
        "seconds": 0.002,
        "words": words,
        "word": "rainha",
        "neighbours": [["rainha", 0.7]],
    }


def _map(question: dict[str, Any]) -> dict[str, Any]:
    """Return the requested words, or three others, at the corners of a triangle."""
    words = [*question.get("words", ["gato"]), "gatoa", "cão"]
    near = [[(1, 0.9)], [(0, 0.9)], [(0, 0.1)]]
    record = WordMap("3 words", 0.5, words, np.array([[0, 0], [1, 0], [0, 1.0]]), [], [-1] * 3, near)
    return {"model": question["model"], "seconds": 0.002, "map": map_data(record)}


def _look(question: dict[str, Any]) -> dict[str, Any]:
    """Return a path of two glimpses on four pixels, hops to the ends of a story, or a node and its neighbours."""
    if "speaker" in question or (isinstance(question["input"], dict) and "sound" in question["input"]):
        return look_over_time(question["input"])
    if _is_story(question["input"]):
        *facts, story_question = question["input"].split("\n")
        weights = np.eye(len(facts))[[0, -1]]
        return {
            "view": "facts",
            "looks": facts_data(Hops(facts, story_question, "even", ["hop 1", "hop 2"], weights, ["So."])),
        }
    if question["model"] == DESCRIBER["name"]:
        return look_at_places()
    if question["model"] == WATCHER["name"]:
        return look_at_frames()
    if isinstance(question["input"], dict):
        picture, centres = np.array([[0, 80], [160, 240]], dtype=np.uint8), np.array([[0.5, 0.5], [1.5, 1.5]])
        path = GlimpsePath("The picture", picture, ["glimpse 1", "glimpse 2"], centres, np.ones((2, 1)))
        return {"view": "windows", "looks": glimpse_data(path)}
    names = (str(question["input"]), "7", "9")
    nodes = [Neighbour(name, ring=min(place, 1), answer="odd") for place, name in enumerate(names)]
    block = Block("layers.0", np.array([[0.5, 0.3, 0.2]]))
    neighbourhood = Neighbourhood("node", nodes, np.array([[0, 0], [1, 0], [2, 0]]), [block])
    return {"view": "graph", "looks": graph_data(neighbourhood)}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    pretending: Pretending
    files = page_files()

    def log_message(self, format: str, *arguments: Any) -> None:
        pass

    def do_GET(self) -> None:
        name = {"/": "index.html", "/docs": "docs.html"}.get(self.path, self.path.removeprefix("/page/"))
        if self.path == "/v1/models":
            needs_key = self.pretending.key is not None
            models = self.pretending.models
            self._send({"version": "0", "limits": LIMITS, "needs_key": needs_key, "models": models})
        elif self.path == "/openapi.json":
            self._send(document(every_door()))
        elif self.path == "/other":
            self._write(200, self.pretending.other_page, "text/html; charset=utf-8")
        elif file := self.files.get(name):
            self._write(200, file.content, file.kind, {"Cache-Control": "max-age=600"})  # saves the tests some seconds
        else:
            self._send({"error": "There is no such page."}, 404)

    def do_POST(self) -> None:
        question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        pretending = self.pretending
        pretending.asked.append((self.path, question))
        if question.get("api_key") != pretending.key:
            return self._send({"error": "This key is not known here."}, 403)
        if pretending.refusals and self.path == pretending.refused_path:
            status, sentence, headers = pretending.refusals.pop(0)
            return self._send({"error": sentence}, status, headers)
        if held := pretending.held.get(self.path):
            held.wait(10)
        if self.path == "/v1/generate":
            return self._tell(question)
        if self.path != "/v1/translate":
            return self._send(pretending.answer(self.path, question))
        if held := pretending.held.get(question["text"]):
            held.wait(10)
        if question.get("stream"):
            return self._stream(question)
        return self._send({"translations": [translation(question)], "seconds": 0.01})

    def _stream(self, question: dict[str, Any]) -> None:
        """Return all events of a translation, its sentences from last to first: the order of completion."""
        spans = sentences_of(question["text"])
        events: list[tuple[str, Any]] = [("start", {"texts": [spans]})]
        for place in reversed(range(len(spans))):
            sentence = translation({**question, "text": spans[place]["text"]})
            events.append(("sentence", {"index": 0, "sentence": place, "source": spans[place], **sentence}))
        whole = explained(question["text"], translated(question["text"], question["model"]))
        events += [("translation", {"index": 0, **whole}), ("done", {"seconds": 0.042})]
        if self.pretending.breaks_off:
            events = events[:2]
        text = ": \n\n" + "".join(f"event: {kind}\ndata: {json.dumps(data)}\n\n" for kind, data in events)
        self._write(200, text.encode(), "text/event-stream")

    def _tell(self, question: dict[str, Any]) -> None:
        """Stream a text token by token; one that is held sends its first token and waits."""
        tokens, over = told(question)
        events = [f"event: token\ndata: {json.dumps(token)}\n\n" for token in tokens]
        events.append(f"event: done\ndata: {json.dumps(over)}\n\n")
        held = self.pretending.held.get(question["prompt"])
        if held is None:
            self._write(200, "".join(events).encode(), "text/event-stream")
            return
        self.close_connection = True
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        self.wfile.write(events[0].encode())
        held.wait(10)
        with suppress(OSError):  # the page did not want the rest
            self.wfile.write("".join(events[1:]).encode())

    def _send(self, value: Any, status: int = 200, headers: dict[str, str] | None = None) -> None:
        self._write(status, json.dumps(value).encode(), "application/json", headers)

    def _write(self, status: int, content: bytes, kind: str, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {**HEADERS, **(headers or {}), "Content-Type": kind}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        try:
            self.wfile.write(content)
        except OSError:  # the page did not want it any more
            self.close_connection = True


@contextmanager
def pretending() -> Iterator[Pretending]:
    """Run a loopback server for the block."""
    state = Pretending()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"pretending": state}))
    server.daemon_threads = True
    state.address = f"http://127.0.0.1:{server.server_address[1]}/"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
