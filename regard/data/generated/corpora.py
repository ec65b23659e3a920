"""Generated corpora by name: `NAME:train`, `NAME:valid` and `NAME:test` in a recipe."""

from regard.base.faults import Fault
from regard.data.demo import DEMO

GENERATED = (*DEMO, "politeness", "paraphrase", "talks", "names", "summaries", "letters")
OPINIONS = "opinions-ru"  # labelled texts, not pairs
CAPITALS = "capitals"  # lines for language models, not pairs
SPLITS = ("train", "valid", "test")

Pair = tuple[str, str]


def generator_of(name: str) -> str | None:
    """Return the generated corpus that a name in a recipe refers to, or None if it is a file."""
    generator, colon, _ = name.partition(":")
    return generator if colon and generator in GENERATED else None


def split_names(generator: str) -> list[str]:
    """Return the names of a generated corpus's splits in a recipe."""
    return [f"{generator}:{split}" for split in SPLITS]


def generated_opinions(name: str) -> list[tuple[str, str]] | None:
    """Return the labels and texts of a split such as `opinions-ru:train`, or None if the name is a file."""
    generator, colon, split = name.partition(":")
    if not colon or generator != OPINIONS:
        return None
    if split not in SPLITS:
        raise Fault(f"There is no '{name}'; the generated opinions are {', '.join(split_names(OPINIONS))}.")
    from regard.data.generated.opinions import opinion_corpus

    return opinion_corpus()[split]


def generated_lines(name: str) -> list[str] | None:
    """Return the lines of a split such as `capitals:train`, or None if the name is a file."""
    generator, colon, split = name.partition(":")
    if not colon or generator != CAPITALS:
        return None
    if split not in SPLITS:
        raise Fault(f"There is no '{name}'; the generated lines are {', '.join(split_names(CAPITALS))}.")
    from regard.data.generated.capitals import capital_lines

    return capital_lines(split)


def generate_links(name: str) -> list[str] | None:
    """Return the true links of a generated corpus in Pharaoh's format, or None if it has none."""
    generator, _, split = name.partition(":")
    if generator not in DEMO:
        return None
    from regard.data.demo.corpus import linked_pairs

    return [str(pair.links) for pair in linked_pairs(split, generator)]


def generate(name: str) -> list[Pair]:
    """Return the pairs of a generated split such as `demo:train`; only the grammar in use is imported."""
    generator, _, split = name.partition(":")
    if generator in DEMO:
        from regard.data.demo.corpus import pairs

        return pairs(split, generator)
    match generator:
        case "talks":
            from regard.data.generated.talks import talk_corpus

            return talk_corpus()[split]
        case "names":
            from regard.data.generated.named_sentences import name_corpus

            return name_corpus(split)
        case "summaries":
            from regard.data.generated.summaries import summary_corpus

            return summary_corpus(split)
        case "letters":
            from regard.data.generated.letters import letter_corpus

            return letter_corpus(split)
    from regard.data.generated.styles import style_corpus

    return style_corpus(generator)[split]
