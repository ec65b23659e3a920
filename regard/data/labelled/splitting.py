"""Labelled texts to learn from, and those set aside for validation where no file has them."""

from collections.abc import Mapping, Sequence

from regard.base.faults import Fault
from regard.base.figures import quantity
from regard.data.holding_out import split_evenly
from regard.data.labelled.options import LabelledData
from regard.data.labelled.reading import Example

_LISTED = 10  # classes in a report


def hold_out(options: LabelledData, examples: Sequence[Example]) -> dict[str, list[Example]]:
    """Return the examples to learn from, and those set aside for validation."""
    by_class = options.hold_out_by == "class"
    splits = (_split_by_class if by_class else _split_by_place)(options, examples)
    found: dict[str, list[Example]] = {"train": [], "valid": []}
    for split, example in zip(splits, examples, strict=True):
        found[split].append(example)
    if not all(found.values()):
        raise Fault(f"data.train has {quantity(len(examples), 'text')}, too few to set some aside; name data.valid.")
    return found


def _split_by_class(options: LabelledData, examples: Sequence[Example]) -> list[str]:
    """Return the split of each example: every class has its share, and a text that occurs twice stands on one side."""
    keys = [(_letters(each.text) or each.text, "" if options.asks_about_aspects else each.aspect) for each in examples]
    return split_evenly([each.label for each in examples], keys, {"valid": options.hold_out})


def _split_by_place(options: LabelledData, examples: Sequence[Example]) -> list[str]:
    """Return the split of each example: the last are set aside, and all that ask of their texts about other aspects."""
    kept = len(examples) - int(len(examples) * options.hold_out)
    aside = {_letters(example.text) for example in examples[kept:]} if options.asks_about_aspects else set()
    return [
        "valid" if number >= kept or _letters(example.text) in aside else "train"
        for number, example in enumerate(examples)
    ]


def remarks_on_validation(
    options: LabelledData, examples: Mapping[str, Sequence[Example]], classes: Sequence[str]
) -> list[str]:
    """Return a line on how validation texts were held out, and one if they lack some of the classes."""
    lines = []
    if not options.valid and options.fold is None:
        share = f"{len(examples['valid']) / (len(examples['train']) + len(examples['valid'])):.1%}"
        chosen = f"{share} of each class" if options.hold_out_by == "class" else f"the last {share}"
        lines.append(f"valid is held out of data.train: {chosen} (data.hold_out)")
    if len(there := {example.label for example in examples["valid"]}) < len(classes):
        lines.append(f"valid has texts of {len(there)} of the {len(classes)} classes only: {name_some(sorted(there))}")
    return lines


def name_some(classes: Sequence[str]) -> str:
    """Return the names of the first classes, for people."""
    return ", ".join(classes[:_LISTED])


def _letters(text: str) -> str:
    """A text without what may differ where it is written twice: spaces, quotation marks, capitals."""
    return "".join(filter(str.isalnum, text.lower()))
