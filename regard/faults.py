"""What the user can mend: a fault says in clear sentences what is wrong, and never shows a traceback."""


class Fault(Exception):
    """A fault of the user's (a bad recipe, a missing file, the wrong kind of model), one sentence each.

    The command line prints the sentences and exits with status 2; anything else that escapes is a fault of ours.
    """

    def __init__(self, *sentences: str) -> None:
        super().__init__("\n".join(sentences))
        self.sentences = sentences


class OfText(Fault):
    """What is wrong with one text, by its number among those given; who gave it may know it by another."""

    def __init__(self, number: int, sentence: str) -> None:
        super().__init__(f"Text {number + 1}: {sentence}")
        self.number, self.sentence = number, sentence


class TooLong(OfText):
    """A text that the model was not made for."""
