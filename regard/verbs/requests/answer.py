"""What may be asked when a model answers: which inputs, as people have them."""

from pydantic import Field

from regard.verbs.requests.fields import Texts
from regard.verbs.requests.rules import VerbRequest


class AnswerRequest(VerbRequest):
    """What is to be answered, one answer for each."""

    input: Texts = Field(description="What the model reads: numbers of nodes, files of pictures.")
