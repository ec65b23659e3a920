"""Fake language models that count on from a prompt: after `one two` comes `3`.

The next number comes with 0.5, that times ten with 0.25, the end of the line with 0.125 and a part of a letter with
0.0625; two more tokens share the rest. A token that a prompt has is as probable as its place: the first 1/2, the
second 1/3 and so on. Their context has room for five tokens.
"""

import math
from typing import Any

CONTEXT = 5


def read_prompt(question: dict[str, Any]) -> dict[str, Any]:
    """Return the answer of /v1/prompt; sampling leaves only the first token."""
    words = question["prompt"].split()
    number = _next_number(question)
    names = [(str(number), f" {number}", 0.5), (str(number * 10), f" {number * 10}", 0.25)]
    names += [("</s>", "\n", 0.125), ("<0xC3>", "", 0.0625)]
    following = [
        {"token": token, "text": text, "probability": share, "drawn": None, "end": token == "</s>"}
        for token, text, share in names
    ]
    if "sample" in question:
        following = [token | {"drawn": float(place == 0)} for place, token in enumerate(following)]
    tokens = [
        {"token": word, "text": f" {word}" if place else word, "score": math.log(1 / (place + 2))}
        for place, word in enumerate(words)
    ]
    rest = {"count": 2, "probability": 0.0625}
    answer = {"model": question["model"], "seconds": 0.002, "stem": question["prompt"].rstrip(" "), "tokens": tokens}
    return answer | {"next": following, "rest": rest, "perplexity": 4.4} | _fullness(question, len(words))


def told(question: dict[str, Any]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return the tokens of a /v1/generate stream, each half as probable as the previous one, and the final event."""
    first, stem = _next_number(question), question["prompt"].rstrip(" ")
    names = [str(number) for number in range(first, first + question["tokens"])]
    tokens = [{"token": name, "text": f" {name}", "score": -place * math.log(2)} for place, name in enumerate(names)]
    text = stem + "".join(token["text"] for token in tokens)
    scores = [token["score"] for token in tokens]
    fullness = _fullness(question, len(question["prompt"].split()) + len(names))
    ended = "context" if fullness["room"] == 0 else "tokens"
    end = {"ended": ended, "forgotten": fullness["forgotten"]}
    whole = {"prompt": question["prompt"], "text": text, "score": sum(scores), "tokens": names, "token_scores": scores}
    whole |= end
    return tokens, {"model": question["model"], "seconds": 0.002, "texts": [whole]}


def _fullness(question: dict[str, Any], tokens: int) -> dict[str, Any]:
    """Return what is left of the context, or forgotten."""
    if question.get("when_full") == "forget":
        return {"room": None, "forgotten": max(0, tokens - CONTEXT)}
    return {"room": CONTEXT - tokens, "forgotten": 0}


def _next_number(question: dict[str, Any]) -> int:
    """Return the next number; a model called `double` counts in twos."""
    return (len(question["prompt"].split()) + 1) * (2 if question["model"] == "double" else 1)
