"""Split labelled texts into training texts and held-out validation texts, if no file has the latter."""

from collections.abc import Mapping, Sequence

from regard.base.faults import Fault
from regard.base.figures import quantity
from regard.data.holding_out import split_evenly
from regard.data.labelled.options import LabelledData
from regard.data.labelled.reading import Example

_LISTED = 10  # classes in a report


def hold_out(options: LabelledData, examples: Sequence[Example]) -> dict[str, list[Example]]:
    """Return the training examples and those held out for validation."""
    by_class = options.hold_out_by == "class"
    splits = (_split_by_class if by_class else _split_by_place)(options, examples)
    parts: dict[str, list[Example]] = {"train": [], "valid": []}
    for split, example in zip(splits, examples, strict=True):
        parts[split].append(example)
    if not all(parts.values()):
        raise Fault(f"data.train has {quantity(len(examples), 'text')}, too few to hold some out; name data.valid.")
    return parts


def _split_by_class(options: LabelledData, examples: Sequence[Example]) -> list[str]:
    """Return the split of each example: every class has its share, and a repeated text stays in one split."""
    keys = [
        (_letters(example.text) or example.text, "" if options.asks_about_aspects else example.aspect)
        for example in examples
    ]
    return split_evenly([example.label for example in examples], keys, {"valid": options.hold_out})


def _split_by_place(options: LabelledData, examples: Sequence[Example]) -> list[str]:
    """Return the split of each example: the last are held out, with all other questions about their texts."""
    first_held_out = len(examples) - int(len(examples) * options.hold_out)
    held_out_texts = (
        {_letters(example.text) for example in examples[first_held_out:]} if options.asks_about_aspects else set()
    )
    return [
        "valid" if number >= first_held_out or _letters(example.text) in held_out_texts else "train"
        for number, example in enumerate(examples)
    ]


def remarks_on_validation(
    options: LabelledData, examples: Mapping[str, Sequence[Example]], classes: Sequence[str]
) -> list[str]:
    """Return a line on how validation texts were held out, and one if they lack some classes."""
    lines = []
    if not options.valid and options.fold is None:
        share = f"{len(examples['valid']) / (len(examples['train']) + len(examples['valid'])):.1%}"
        chosen = f"{share} of each class" if options.hold_out_by == "class" else f"the last {share}"
        lines.append(f"valid is held out of data.train: {chosen} (data.hold_out)")
    if len(present := {example.label for example in examples["valid"]}) < len(classes):
        lines.append(
            f"valid has texts of only {len(present)} of the {len(classes)} classes: {name_some(sorted(present))}"
        )
    return lines


def name_some(classes: Sequence[str]) -> str:
    """Return the names of the first classes, for people."""
    return ", ".join(classes[:_LISTED])


def _letters(text: str) -> str:
    """Return a text without what may differ between copies: spaces, quotation marks, capitals."""
    return "".join(filter(str.isalnum, text.lower()))
