"""Table of tasks: what each reads and gives, and where its code lives. Imports no torch."""

from dataclasses import dataclass
from typing import Literal, get_args

from regard.base.plugins import Table
from regard.base.recipe import Recipe

Learning = Literal["gradient", "counting", "updates"]
Reads = Literal[
    "text", "tokens", "prompt", "nodes", "picture", "video", "sound", "words", "sequence", "items", "story", "drawing"
]


@dataclass(frozen=True)
class Way:
    """One way to learn a task: the class of the task and of its recipes, each as module:name."""

    task: str
    recipe: str
    trains: str  # continues "a task of nodes …"
    can: tuple[str, ...]  # verbs, besides those of everything that learns this way
    model: str | None = None  # options that its models have besides those of their family
    describes: str | None = None  # describes a model from its files alone, without torch


@dataclass(frozen=True)
class Kind:
    """One kind of task, described for people and located for the program.

    Capabilities cannot tell a translator from a language model, because both read and write tokens. So a kind also says
    what an input is, and which verb belongs to it.
    """

    summary: str
    reads: Reads
    gives: str  # continues "a gat gives …"
    verb: str
    ways: dict[Learning, Way]
    starts_from: tuple[str, ...] = ()  # other tasks from whose models the text encoder can be taken


_TASKS: dict[str, Kind] = {
    "translation": Kind(
        summary="text becomes text in another language, or any other text",
        reads="text",
        gives="a text for each text",
        verb="translate",
        ways={
            "gradient": Way(
                task="regard.tasks.translation.building:BuiltTranslation",
                recipe="regard.tasks.translation.options:TranslationRecipe",
                trains="trains on pairs of texts",
                can=("translate", "embed", "look", "heads"),
                describes="regard.tasks.translation.translator_description:describe",
            )
        },
    ),
    "nodes": Kind(
        summary="each node of a graph, in which some are labelled, is assigned a class",
        reads="nodes",
        gives="a class for each node",
        verb="answer",
        ways={
            "gradient": Way(
                task="regard.tasks.nodes.task:NodeLabelling",
                recipe="regard.tasks.nodes.options:NodeRecipe",
                trains="trains on the whole graph",
                can=("answer", "look", "heads"),
            )
        },
    ),
    "glimpses": Kind(
        summary="a picture is assigned a class, from glimpses or from the whole picture",
        reads="picture",
        gives="a class for each picture",
        verb="answer",
        ways={
            "gradient": Way(
                task="regard.tasks.glimpses.task:Glimpses",
                recipe="regard.tasks.glimpses.options:GlimpsesRecipe",
                trains="trains on labelled pictures",
                can=("answer", "look", "heads"),
            )
        },
    ),
    "handwriting": Kind(
        summary="a line of handwriting becomes its text, sign by sign",
        reads="picture",
        gives="a text for each picture",
        verb="answer",
        ways={
            "gradient": Way(
                task="regard.tasks.handwriting.task:Handwriting",
                recipe="regard.tasks.handwriting.options:HandwritingRecipe",
                trains="trains on lines made of labelled pictures",
                can=("answer", "look"),
            )
        },
    ),
    "sequences": Kind(
        summary="a long sequence of numbers or symbols becomes a class, a number, or earlier symbols",
        reads="sequence",
        gives="an answer for each sequence",
        verb="answer",
        ways={
            "gradient": Way(
                task="regard.tasks.sequences.task:LongSequences",
                recipe="regard.tasks.sequences.options:SequencesRecipe",
                trains="trains on sequences of one length",
                can=("answer", "look", "heads"),
            )
        },
    ),
    "algorithms": Kind(
        summary="items of bits are transformed by an algorithm: copied, recalled, or sorted by priority",
        reads="items",
        gives="items of bits for items of bits",
        verb="answer",
        ways={
            "gradient": Way(
                task="regard.tasks.algorithms.task:Algorithms",
                recipe="regard.tasks.algorithms.options:AlgorithmRecipe",
                trains="trains on generated examples",
                can=("answer", "look"),
            )
        },
    ),
    "answering": Kind(
        summary="a question about a story, told fact by fact, gets an answer",
        reads="story",
        gives="an answer to each question",
        verb="answer",
        ways={
            "gradient": Way(
                task="regard.tasks.answering.task:Answering",
                recipe="regard.tasks.answering.options:AnsweringRecipe",
                trains="trains on stories with questions and answers",
                can=("answer", "look"),
            )
        },
    ),
    "transcription": Kind(
        summary="a sound becomes the text spoken in it, symbol by symbol, with the time of each",
        reads="sound",
        gives="a text for each sound",
        verb="transcribe",
        ways={
            "gradient": Way(
                task="regard.tasks.transcription.task:Transcription",
                recipe="regard.tasks.transcription.options:TranscriptionRecipe",
                trains="trains on sounds and their transcripts",
                can=("transcribe", "look"),
            )
        },
    ),
    "captioning": Kind(
        summary="a picture or a video becomes a sentence that describes it, word by word",
        reads="picture",
        gives="a caption for each picture or video",
        verb="caption",
        ways={
            "gradient": Way(
                task="regard.tasks.captioning.task:Captioning",
                recipe="regard.tasks.captioning.options:CaptioningRecipe",
                trains="trains on features of pictures and their captions",
                can=("caption", "look"),
                model="regard.models.captions.encoder:EncodedOptions",
            )
        },
    ),
    "contexts": Kind(
        summary="each word of a text becomes vectors that depend on the text around it",
        reads="text",
        gives="vectors of words in their contexts; it cannot write, because it also reads the words that follow",
        verb="embed",
        ways={
            "gradient": Way(
                task="regard.tasks.contexts.task:Contexts",
                recipe="regard.tasks.contexts.options:ContextsRecipe",
                trains="trains on sentences, read both ways",
                can=("embed",),
            )
        },
    ),
    "masked": Kind(
        summary="hidden tokens of a text are predicted from the text around them",
        reads="text",
        gives="tokens for the masks of a text",
        verb="answer",
        ways={
            "gradient": Way(
                task="regard.tasks.masked.task:MaskedTokens",
                recipe="regard.tasks.masked.options:MaskedRecipe",
                trains="trains on spans of text with some of their tokens hidden",
                can=("answer", "embed", "look", "heads"),
            )
        },
    ),
    "classification": Kind(
        summary="a text, or what it says about an aspect, is assigned a class",
        reads="text",
        gives="a class for each text",
        verb="answer",
        ways={
            "gradient": Way(
                task="regard.tasks.classification.task:Classification",
                recipe="regard.tasks.classification.options:ClassificationRecipe",
                trains="trains on labelled texts",
                can=("answer", "embed", "look", "heads"),
            )
        },
        starts_from=("masked",),
    ),
    "tagging": Kind(
        summary="each word of a sentence gets a tag: its part of speech, or its place in a span of words",
        reads="tokens",
        gives="a tag for each word",
        verb="answer",
        ways={
            "gradient": Way(
                task="regard.tasks.tagging.task:Tagging",
                recipe="regard.tasks.tagging.options:TaggingRecipe",
                trains="trains on tagged sentences",
                can=("answer", "look", "heads"),
                model="regard.models.tagging.options:TaggerOptions",
            )
        },
        starts_from=("masked",),
    ),
    "language": Kind(
        summary="the probability of a text, and continuations of a prompt",
        reads="prompt",
        gives="text that continues a prompt",
        verb="generate",
        ways={
            "gradient": Way(
                task="regard.tasks.language.gradient:GradientLanguage",
                recipe="regard.tasks.language.options:GradientLanguageRecipe",
                trains="reads its text from beginning to end, a span of several parts at a time",
                can=("generate", "embed", "look", "heads"),
                describes="regard.tasks.language.language_description:describe",
            ),
            "counting": Way(
                task="regard.tasks.language.counting:CountedLanguage",
                recipe="regard.tasks.language.options:CountedLanguageRecipe",
                trains="reads its text once and counts",
                can=("generate",),
            ),
        },
    ),
    "speaking": Kind(
        summary="a text becomes speech",
        reads="text",
        gives="a sound for each text",
        verb="speak",
        ways={
            "gradient": Way(
                task="regard.tasks.speaking.task:Speaking",
                recipe="regard.tasks.speaking.options:SpeakingRecipe",
                trains="trains on sounds and their transcripts",
                can=("speak", "look"),
            )
        },
    ),
    "strokes": Kind(
        summary="new drawings like those of a data set, stroke by stroke: from nothing, or continuing a given one",
        reads="drawing",
        gives="drawings, stroke by stroke",
        verb="draw",
        ways={
            "gradient": Way(
                task="regard.tasks.strokes.task:Strokes",
                recipe="regard.tasks.strokes.options:StrokeRecipe",
                trains="trains on drawings",
                can=("draw", "look"),
            )
        },
    ),
    "recognition": Kind(
        summary="a drawing is assigned a class by its strokes",
        reads="drawing",
        gives="a class for each drawing",
        verb="answer",
        ways={
            "gradient": Way(
                task="regard.tasks.recognition.task:Recognition",
                recipe="regard.tasks.recognition.options:RecognitionRecipe",
                trains="trains on labelled drawings",
                can=("answer", "look"),
            )
        },
    ),
    "drawing": Kind(
        summary="new pictures like those of a data set, from nothing",
        reads="picture",
        gives="new pictures",
        verb="draw",
        ways={
            "gradient": Way(
                task="regard.tasks.drawing.task:PictureDrawing",
                recipe="regard.tasks.drawing.options:DrawingRecipe",
                trains="trains on pictures in black and white",
                can=("draw", "look"),
            )
        },
    ),
    "painting": Kind(
        summary="a caption becomes a picture, cell by cell",
        reads="text",
        gives="a picture for each text",
        verb="draw",
        ways={
            "gradient": Way(
                task="regard.tasks.painting.task:Painting",
                recipe="regard.tasks.painting.options:PaintingRecipe",
                trains="trains on pictures with captions",
                can=("draw", "look"),
            )
        },
    ),
    "words": Kind(
        summary="each word becomes a vector, near those of words in similar contexts",
        reads="words",
        gives="a vector for each word",
        verb="neighbours",
        ways={
            "updates": Way(
                task="regard.tasks.words.task:Words",
                recipe="regard.tasks.words.options:WordsRecipe",
                trains="reads its text for several epochs, with its own update rule",
                can=("embed", "neighbours", "analogy"),
            )
        },
    ),
}


def _check(kind: Kind) -> str | None:
    """Return what is wrong with a plugin's row: an unknown input, or a verb that one of its ways lacks."""
    if kind.reads not in get_args(Reads):
        return f"reads is {kind.reads!r}, expected one of {', '.join(map(repr, get_args(Reads)))}"
    if not kind.ways or any(kind.verb not in way.can for way in kind.ways.values()):
        return f"its verb '{kind.verb}' is not among the verbs of all its ways"
    return None


TASKS: Table[str, Kind] = Table("tasks", "task", Kind, _TASKS, _check)


def input_kind(recipe: Recipe) -> Reads:
    """Return the kind of input that a model reads; for captions, the data say whether it is pictures or videos."""
    is_of_videos = recipe.task == "captioning" and recipe.data.frames is not None
    return "video" if is_of_videos else TASKS[recipe.task].reads
