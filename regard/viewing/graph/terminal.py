"""A neighbourhood in a terminal: a line for each look, with the weight that each head gives it."""

from regard.viewing.canvas import show_word
from regard.viewing.graph.record import Neighbourhood
from regard.viewing.written import cell_len, fit_text, percent

_BRIGHT, _DIM, _PLAIN = "\x1b[1;36m", "\x1b[2m", "\x1b[0m"


def neighbourhood_lines(
    neighbourhood: Neighbourhood, width: int, colour: bool, layer: int | None = None, head: int | None = None
) -> list[str]:
    """Who looks at whom, each at what it looks at most first, at most `width` cells wide.

    Heads that do not fit beside each other are left out, which the last line says. With `colour`, the strongest look of
    each head stands out.
    """
    number, weights = neighbourhood.weights_of(layer, head)
    heads = list(range(len(weights))) if head is None else [head - 1]
    names = [_name_look(neighbourhood, edge) for edge in range(len(neighbourhood.edges))]
    margin = min(max(map(cell_len, names), default=0), max(width // 2, 12))
    fitting = heads[: max(1, (width - margin) // 7)]
    blocks = f", block {number} of {len(neighbourhood.blocks)}" if len(neighbourhood.blocks) > 1 else ""
    lines = [fit_text(f"{show_word(neighbourhood.title)}{blocks}", width)]
    lines.append(" " * margin + "".join(f"{f'head {each + 1}':>7}" for each in fitting))
    strength = weights[heads].mean(axis=0)
    for edge in sorted(range(len(names)), key=lambda edge: (neighbourhood.edges[edge, 0], -strength[edge])):
        name = fit_text(names[edge], margin)
        shares = [_share(weights[each, edge], weights[each].max(), colour) for each in fitting]
        lines.append(name + " " * (margin - cell_len(name)) + "".join(shares))
    notes = []
    if neighbourhood.hidden:
        notes.append(f"{neighbourhood.hidden} more neighbours are not shown")
    if len(fitting) < len(heads):
        notes.append(f"{len(heads) - len(fitting)} more heads do not fit")
    return [*lines, *(fit_text(f"{note}.", width) for note in notes)]


def _name_look(record: Neighbourhood, edge: int) -> str:
    """What a look is called: by what is looked at where the middle looks, by both ends elsewhere."""
    looks_from, looks_at = (record.nodes[place] for place in record.edges[edge])
    name = show_word(looks_at.name) if looks_at is not looks_from else "itself"
    if looks_from is not record.centre:
        name = f"{show_word(looks_from.name)} → {name}"
    answer = f"  {show_word(looks_at.answer)}" if looks_at.answer else ""
    return f"{name}{answer}{' ×' if looks_at.is_mistaken else ''}"


def _share(weight: float, strongest: float, colour: bool) -> str:
    text = f"{percent(float(weight)):>7}"
    if not colour:
        return text
    return f"{_BRIGHT if weight == strongest else _DIM}{text}{_PLAIN}"
