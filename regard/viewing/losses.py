"""The loss of one sentence, token by token, as bars: longer where the model was surprised."""

import textwrap
from dataclasses import dataclass
from math import exp
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regard.base.figures import in_figures, quantity
from regard.viewing.canvas import FAINT, INK, canvas, check_suffix, missing_glyphs, save_figure, show_word

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_RIGHT, _WRONG = "#1f5fa8", "#d1622b"  # colours of tokens that were the first choice, and of others
_WORTH_TELLING = 0.005  # smaller probabilities would show as 0.00
_LARGEST = 100.0  # nats per token at which the perplexity is capped
_MANY = 1000
_FADED = "#777777"


@dataclass(frozen=True)
class TokenLoss:
    """A target token: −log p in nats, its rank among all tokens (1 is the first choice), and the best others."""

    token: str
    loss: float
    rank: int
    others: list[tuple[str, float]]

    @property
    def probability(self) -> float:
        return exp(-self.loss)

    @property
    def probability_in_words(self) -> str:
        """The probability to two decimals, or to its first digit if that would round to zero."""
        return f"{self.probability:{'.2f' if self.probability >= _WORTH_TELLING else '.0g'}}"


@dataclass(frozen=True)
class SentenceLoss:
    """The tokens of a target, each scored given the true tokens before it."""

    source: str
    target: str
    tokens: list[TokenLoss]

    @property
    def total(self) -> float:
        return sum(token.loss for token in self.tokens)

    @property
    def perplexity(self) -> float:
        return exp(min(self.total / len(self.tokens), _LARGEST))

    @property
    def summary(self) -> str:
        count = len(self.tokens)
        over = quantity(count, "token")
        perplexity = in_figures(self.perplexity, 2 if self.perplexity < _MANY else 0)
        return f"loss {self.total:.2f} nats over {over}, {self.total / count:.2f} a token, perplexity {perplexity}"


def losses_to_json(losses: SentenceLoss) -> dict[str, Any]:
    """Return the losses as plain values."""
    return {
        "source": losses.source,
        "target": losses.target,
        "loss": losses.total,
        "perplexity": losses.perplexity,
        "tokens": [
            {
                "token": item.token,
                "loss": item.loss,
                "probability": item.probability,
                "rank": item.rank,
                "others": [{"token": token, "probability": probability} for token, probability in item.others],
            }
            for item in losses.tokens
        ],
    }


def others_in_words(each: TokenLoss) -> str:
    """List the other likely tokens with their probabilities; those that round to zero are omitted."""
    visible = [(token, chance) for token, chance in each.others if chance >= _WORTH_TELLING]
    return ", ".join(f"{show_word(token)} {chance:.2f}" for token, chance in visible)


def draw_losses(losses: SentenceLoss, path: Path) -> set[str]:
    """Draw a bar for each token, the first on top, with the model's other candidates next to it."""
    check_suffix(path)
    texts = [losses.source, losses.target]
    texts += [token for item in losses.tokens for token in (item.token, *(other for other, _ in item.others))]
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
    colours = [_RIGHT if token.rank == 1 else _WRONG for token in losses.tokens]
    axes.barh(places, [token.loss for token in losses.tokens], color=colours, height=0.66)
    axes.set_yticks(places, [show_word(token.token) for token in losses.tokens])
    for label in axes.get_yticklabels():
        label.set(fontsize=9.5, color=INK, parse_math=False)
    axes.set_ylim(len(losses.tokens) - 0.4, -0.6)
    axes.set_xlim(0, max(1.0, *(token.loss for token in losses.tokens)) * 1.02)
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
    for place, token in enumerate(losses.tokens):
        columns = [(1.09, token.probability_in_words, "right"), (1.17, str(token.rank), "right")]
        columns.append((1.21, others_in_words(token), "left"))
        for along, text, side in columns:
            axes.annotate(
                text, (along, place), xycoords=("axes fraction", "data"), fontsize=8.5, color=INK, ha=side,
                va="center_baseline", annotation_clip=False, parse_math=False,
            )  # fmt: skip


def _write_key(axes: "Axes") -> None:
    heads = [(1.09, "p", "right"), (1.17, "rank", "right"), (1.21, "most likely others", "left")]
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
