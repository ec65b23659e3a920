"""The loss of one sentence, token by token, as bars: long where the model was surprised."""

import textwrap
from dataclasses import dataclass
from math import exp
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regard.viewing.canvas import FAINT, INK, canvas, check_suffix, missing_glyphs, save_figure, show_word

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_RIGHT, _WRONG = "#1f5fa8", "#d1622b"  # where the token was the first choice, and where it was not
_WORTH_TELLING = 0.005  # smaller probabilities would read 0.00
_LARGEST = 100.0  # nats a token, from which nobody asks how large the perplexity is
_MANY = 1000
_FADED = "#777777"


@dataclass(frozen=True)
class TokenLoss:
    """One target token: −log p in nats, its rank among all tokens (1 is the first choice), and the best others."""

    token: str
    loss: float
    rank: int
    others: list[tuple[str, float]]

    @property
    def probability(self) -> float:
        return exp(-self.loss)

    @property
    def probability_in_words(self) -> str:
        """To two places; what would round to nothing, to its first digit."""
        return f"{self.probability:{'.2f' if self.probability >= _WORTH_TELLING else '.0g'}}"


@dataclass(frozen=True)
class SentenceLoss:
    """The tokens of a target, each judged with the true ones before it in view."""

    source: str
    target: str
    tokens: list[TokenLoss]

    @property
    def total(self) -> float:
        return sum(each.loss for each in self.tokens)

    @property
    def perplexity(self) -> float:
        return exp(min(self.total / len(self.tokens), _LARGEST))

    @property
    def summary(self) -> str:
        count = len(self.tokens)
        return (
            f"loss {self.total:.2f} nats over {count} tokens, {self.total / count:.2f} a token, "
            f"perplexity {self.perplexity:,.{2 if self.perplexity < _MANY else 0}f}"
        )


def losses_to_json(losses: SentenceLoss) -> dict[str, Any]:
    """Return the losses as plain values."""
    return {
        "source": losses.source,
        "target": losses.target,
        "loss": losses.total,
        "perplexity": losses.perplexity,
        "tokens": [
            {
                "token": each.token,
                "loss": each.loss,
                "probability": each.probability,
                "rank": each.rank,
                "others": [{"token": token, "probability": probability} for token, probability in each.others],
            }
            for each in losses.tokens
        ],
    }


def others_in_words(each: TokenLoss) -> str:
    """List the other likely tokens with their probabilities; those that round to zero are left out."""
    told = [(token, chance) for token, chance in each.others if chance >= _WORTH_TELLING]
    return ", ".join(f"{show_word(token)} {chance:.2f}" for token, chance in told)


def draw_losses(losses: SentenceLoss, path: Path) -> set[str]:
    """Draw a bar for each token, first token on top; beside it what else the model thought of."""
    check_suffix(path)
    texts = [losses.source, losses.target]
    texts += [token for each in losses.tokens for token in (each.token, *(other for other, _ in each.others))]
    with canvas(texts) as new_figure:
        figure = new_figure(figsize=(5.2, 0.27 * len(losses.tokens) + 0.4))
        axes = figure.add_axes((0, 0, 1, 1))
        _draw_bars(axes, losses)
        _write_others(axes, losses)
        pair = [line for text in (losses.source, f"→ {losses.target}") for line in textwrap.wrap(show_word(text), 90)]
        title = "\n".join([*pair, losses.summary])
        axes.set_title(title, fontsize=10, color=INK, loc="left", pad=24, linespacing=1.4, parse_math=False)
        _write_key(axes)
        save_figure(figure, path)
    return missing_glyphs(texts)


def _draw_bars(axes: "Axes", losses: SentenceLoss) -> None:
    from matplotlib.ticker import MaxNLocator

    places = range(len(losses.tokens))
    colours = [_RIGHT if each.rank == 1 else _WRONG for each in losses.tokens]
    axes.barh(places, [each.loss for each in losses.tokens], color=colours, height=0.66)
    axes.set_yticks(places, [show_word(each.token) for each in losses.tokens])
    for label in axes.get_yticklabels():
        label.set(fontsize=9.5, color=INK, parse_math=False)
    axes.set_ylim(len(losses.tokens) - 0.4, -0.6)
    axes.set_xlim(0, max(1.0, *(each.loss for each in losses.tokens)) * 1.02)
    axes.set_xlabel("−log p in nats", fontsize=9, color=INK)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=6, steps=[1, 2, 5, 10]))
    axes.grid(axis="x", color="#ececec", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(axis="x", length=3, width=0.6, color=FAINT, labelsize=8, labelcolor=INK)
    axes.tick_params(axis="y", length=0)
    for side, spine in axes.spines.items():
        spine.set(color=FAINT, linewidth=0.8, visible=side == "bottom")
    axes.axvline(0, color=FAINT, linewidth=0.8)


def _write_others(axes: "Axes", losses: SentenceLoss) -> None:
    for place, each in enumerate(losses.tokens):
        columns = [(1.09, each.probability_in_words, "right"), (1.17, str(each.rank), "right")]
        columns.append((1.21, others_in_words(each), "left"))
        for along, text, side in columns:
            axes.annotate(
                text, (along, place), xycoords=("axes fraction", "data"), fontsize=8.5, color=INK, ha=side,
                va="center_baseline", annotation_clip=False, parse_math=False,
            )  # fmt: skip


def _write_key(axes: "Axes") -> None:
    heads = [(1.09, "p", "right"), (1.17, "rank", "right"), (1.21, "the likeliest others", "left")]
    for along, text, side in heads:
        axes.annotate(
            text, (along, 1.0), xycoords="axes fraction", xytext=(0, 4), textcoords="offset points", fontsize=8,
            color=_FADED, ha=side, annotation_clip=False,
        )  # fmt: skip
    for along, text, colour in [(0.0, "■ first choice", _RIGHT), (0.22, "■ not the first choice", _WRONG)]:
        axes.annotate(
            text, (along, 1.0), xycoords="axes fraction", xytext=(0, 4), textcoords="offset points", fontsize=8,
            color=colour, annotation_clip=False,
        )  # fmt: skip
