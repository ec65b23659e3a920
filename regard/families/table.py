"""Which families of models there are, and where each lives."""

from dataclasses import dataclass
from typing import Any

from regard.base.places import find_place
from regard.base.recipe import Options
from regard.tasks import TASKS, Learning, Way


@dataclass(frozen=True)
class Family:
    """One kind of model: what it is for, the paper that describes it, and where its code stands."""

    summary: str
    paper: str
    tasks: tuple[str, ...]  # that it can be trained for; the first is meant where a recipe names none
    module: str
    model: str
    options: str  # a name in the same module, or module:name where they are told without torch
    learns: Learning = "gradient"
    looks: bool = True  # whether its networks have attention, or something like it, that can be watched
    heads: bool = True  # and whether they look with heads that can be reported on, where their task can
    embeds: bool = True  # whether they have vectors of words to hand out, where their task can
    blind_for: tuple[str, ...] = ()  # tasks for which they have none all the same
    cost: str | None = None  # what finds the cost of an input by options and shapes of weights alone, without torch

    def load(self) -> tuple[type[Any], type[Options]]:
        """The model's class and its options' class; torch is imported here and not before."""
        return find_place(self.network), self.load_options()

    def load_options(self) -> type[Options]:
        """Return the class of its options; torch is imported only where they stand in the module of the network."""
        found: type[Options] = find_place(self.options if ":" in self.options else f"{self.module}:{self.options}")
        return found

    @property
    def network(self) -> str:
        """The place of the model's class, as module:name."""
        return f"{self.module}:{self.model}"

    def way(self, task: str) -> Way:
        """How it learns a task."""
        return TASKS[task].ways[self.learns]


FAMILIES: dict[str, Family] = {
    "transformer": Family(
        summary="encoder and decoder of multi-head attention, for any text to any text",
        paper="Vaswani et al. 2017, Attention Is All You Need",
        tasks=("translation",),
        module="regard.models.transformer.network",
        model="Transformer",
        options="regard.models.transformer.options:TransformerOptions",
        cost="regard.models.transformer.options:transformer_cost",
    ),
    "seq2seq": Family(
        summary="recurrent encoder and decoder, without attention or with Bahdanau's or Luong's",
        paper="Sutskever et al. 2014; Bahdanau et al. 2015; Luong et al. 2015",
        tasks=("translation",),
        module="regard.models.recurrent.seq2seq",
        model="Seq2Seq",
        options="Seq2SeqOptions",
    ),
    "online": Family(
        summary="reads step by step and decides at each to write or to wait, for outputs in the order of their inputs",
        paper="Luo et al. 2016, Learning Online Alignments with Continuous Rewards Policy Gradient",
        tasks=("translation",),
        module="regard.models.online.text",
        model="Online",
        options="OnlineOptions",
    ),
    "online-sounds": Family(
        summary="hears a sound step by step and decides at each to write the next label or to wait",
        paper="Luo et al. 2016, Learning Online Alignments with Continuous Rewards Policy Gradient",
        tasks=("transcription",),
        module="regard.models.online.sounds",
        model="Listener",
        options="ListenerOptions",
    ),
    "ctc-text": Family(
        summary="an encoder of text whose frames say the output without a decoder, aligned from left to right",
        paper="Graves et al. 2006, Connectionist Temporal Classification",
        tasks=("translation",),
        module="regard.models.ctc.text",
        model="CTCText",
        options="CTCTextOptions",
    ),
    "hred": Family(
        summary="a hierarchical encoder of dialogues, words to turns and turns to a dialogue, and a decoder of replies",
        paper="Sordoni et al. 2015, A Hierarchical Recurrent Encoder-Decoder; Serban et al. 2016",
        tasks=("translation",),
        module="regard.models.recurrent.hred",
        model="Hred",
        options="HredOptions",
    ),
    "gat": Family(
        summary="graph attention: every node looks at its neighbours, and gets a class",
        paper="Veličković et al. 2018, Graph Attention Networks; Brody et al. 2022",
        tasks=("nodes",),
        module="regard.models.gat",
        model="GAT",
        options="GATOptions",
    ),
    "ram": Family(
        summary="a few glimpses of a picture, each where the ones before it led, then its class",
        paper="Mnih et al. 2014, Recurrent Models of Visual Attention",
        tasks=("glimpses",),
        module="regard.models.ram",
        model="RAM",
        options="RAMOptions",
        heads=False,
    ),
    "convnet": Family(
        summary="convolutions over a whole picture, then its class: what glimpses are measured against",
        paper="LeCun et al. 1998, Gradient-Based Learning Applied to Document Recognition",
        tasks=("glimpses",),
        module="regard.models.convolution",
        model="ConvNet",
        options="ConvNetOptions",
        looks=False,
    ),
    "patches": Family(
        summary="a Transformer over the patches of a picture, then its class",
        paper="Dosovitskiy et al. 2021, An Image Is Worth 16x16 Words; Cordonnier et al. 2020",
        tasks=("glimpses",),
        module="regard.models.patches",
        model="PatchTransformer",
        options="PatchOptions",
    ),
    "captioner": Family(
        summary="an LSTM that looks at places of a picture, or frames of a video, before each word, or does not look",
        paper="Xu et al. 2015, Show, Attend and Tell; Vinyals et al. 2015, Show and Tell; Yao et al. 2015, video",
        tasks=("captioning",),
        module="regard.models.captions.captioner",
        model="Captioner",
        options="CaptionerOptions",
    ),
    "caption-transformer": Family(
        summary="an encoder of multi-head attention over the places of a picture, and a decoder that writes of it",
        paper="Vaswani et al. 2017, Attention Is All You Need; Herdade et al. 2019",
        tasks=("captioning",),
        module="regard.models.captions.transformer",
        model="CaptionTransformer",
        options="CaptionTransformerOptions",
    ),
    "draw": Family(
        summary="a picture comes to be on a canvas, step by step, through a window that moves",
        paper="Gregor et al. 2015, DRAW: A Recurrent Neural Network for Image Generation",
        tasks=("drawing",),
        module="regard.models.draw.network",
        model="Draw",
        options="DrawOptions",
    ),
    "painter": Family(
        summary="a learnt codebook for pictures, and a Transformer that writes its codes for a caption",
        paper="van den Oord et al. 2017, Neural Discrete Representation Learning; Ramesh et al. 2021",
        tasks=("painting",),
        module="regard.models.painting.network",
        model="Painter",
        options="PainterOptions",
    ),
    "recurrent": Family(
        summary="vanilla, LSTM, GRU, clockwork or delayed layers over a long sequence of numbers or symbols",
        paper="Hochreiter and Schmidhuber 1997; Koutník et al. 2014, A Clockwork RNN; Zhang et al. 2016",
        tasks=("sequences",),
        module="regard.models.sequences.recurrent",
        model="RecurrentSequence",
        options="RecurrentOptions",
        looks=False,
    ),
    "decoder": Family(
        summary="the decoder of a Transformer over the same sequences: each step looks back at all before it",
        paper="Vaswani et al. 2017, Attention Is All You Need",
        tasks=("sequences",),
        module="regard.models.sequences.decoder",
        model="DecoderSequence",
        options="DecoderOptions",
    ),
    "ntm": Family(
        summary="a neural Turing machine: heads find slots of a memory by content, and go on from slot to slot",
        paper="Graves et al. 2014, Neural Turing Machines; Collier and Beel 2018",
        tasks=("algorithms",),
        module="regard.models.machines.ntm",
        model="NTM",
        options="NTMOptions",
    ),
    "dnc": Family(
        summary="a differentiable neural computer: it writes to free slots, and reads in the order of writing",
        paper="Graves et al. 2016, Hybrid Computing Using a Neural Network with Dynamic External Memory",
        tasks=("algorithms",),
        module="regard.models.machines.dnc",
        model="DNC",
        options="DNCOptions",
    ),
    "sam": Family(
        summary="sparse access memory: a step touches a few slots, the nearest and the least used, of however many",
        paper="Rae et al. 2016, Scaling Memory-Augmented Neural Networks with Sparse Reads and Writes",
        tasks=("algorithms",),
        module="regard.models.machines.sam",
        model="SAM",
        options="SAMOptions",
    ),
    "lstm": Family(
        summary="layers of LSTM with no memory but their state: what machines with a memory are measured against",
        paper="Hochreiter and Schmidhuber 1997, Long Short-Term Memory",
        tasks=("algorithms",),
        module="regard.models.machines.lstm",
        model="Lstm",
        options="LstmOptions",
        looks=False,
    ),
    "memory": Family(
        summary="hops through the facts of a story, several times softly, then the answer to a question about it",
        paper="Sukhbaatar et al. 2015, End-To-End Memory Networks; Weston et al. 2015, Memory Networks",
        tasks=("answering",),
        module="regard.models.stories.end_to_end",
        model="MemoryNetwork",
        options="MemoryOptions",
    ),
    "dmn": Family(
        summary="episodes over the facts of a story, each by a GRU whose gates attention opens, then the answer",
        paper="Kumar et al. 2016, Ask Me Anything: Dynamic Memory Networks; Xiong et al. 2016",
        tasks=("answering",),
        module="regard.models.stories.dynamic",
        model="DynamicMemory",
        options="DynamicMemoryOptions",
    ),
    "ctc": Family(
        summary="recurrent layers or attention over the frames of a sound, and a sum over all ways to align its labels",
        paper="Graves et al. 2006, Connectionist Temporal Classification",
        tasks=("transcription", "handwriting"),
        module="regard.models.ctc.network",
        model="Recogniser",
        options="RecogniserOptions",
    ),
    "bag": Family(
        summary="words and n-grams counted, whatever their order, and logistic regression over them",
        paper="Wang and Manning 2012, Baselines and Bigrams",
        tasks=("classification",),
        module="regard.models.text.bag",
        model="Bag",
        options="BagOptions",
        looks=False,
        embeds=False,
    ),
    "averaging": Family(
        summary="the mean of the vectors of words, and layers above it",
        paper="Iyyer et al. 2015, Deep Unordered Composition Rivals Syntactic Methods for Text Classification",
        tasks=("classification",),
        module="regard.models.text.averaging",
        model="Averaging",
        options="AveragingOptions",
        looks=False,
    ),
    "rnn": Family(
        summary="vanilla, LSTM or GRU over words, one way or both, for a class of a text or a tag for each word",
        paper="Yang et al. 2016, Hierarchical Attention Networks; Wang et al. 2016, ATAE-LSTM",
        tasks=("classification", "tagging"),
        module="regard.models.text.recurrent",
        model="RecurrentReader",
        options="RnnOptions",
        blind_for=("tagging",),  # it pools nothing there
    ),
    "encoder": Family(
        summary="the encoder of a Transformer over words, from scratch, for a class of a text or a tag for each word",
        paper="Vaswani et al. 2017, Attention Is All You Need",
        tasks=("classification", "tagging"),
        module="regard.models.text.encoder",
        model="EncoderReader",
        options="EncoderOptions",
    ),
    "bert": Family(
        summary="an encoder that fills masks in text that it reads both ways, and then learns classes or tags",
        paper="Devlin et al. 2019, BERT; Liu et al. 2019, RoBERTa",
        tasks=("masked", "classification", "tagging"),
        module="regard.models.bert",
        model="Bert",
        options="BertOptions",
    ),
    "rnnlm": Family(
        summary="recurrent layers that remember a text word by word, and predict how it goes on",
        paper="Mikolov et al. 2010; Zaremba et al. 2014; Merity et al. 2018",
        tasks=("language",),
        module="regard.models.recurrent.language",
        model="RecurrentLanguage",
        options="RecurrentLanguageOptions",
        looks=False,
        embeds=False,
    ),
    "gpt": Family(
        summary="the decoder of a Transformer alone, which looks back at a text and predicts how it goes on",
        paper="Radford et al. 2018, GPT; Radford et al. 2019, GPT-2",
        tasks=("language",),
        module="regard.models.gpt.network",
        model="GPT",
        options="regard.models.gpt.options:GPTOptions",
        cost="regard.models.gpt.options:gpt_cost",
    ),
    "from-gates": Family(
        summary="five steps from the gates of a GRU to attention with heads, each a language model that looks back",
        paper="Cho et al. 2014, GRU; Vaswani et al. 2017, Attention Is All You Need",
        tasks=("language",),
        module="regard.models.from_gates",
        model="FromGates",
        options="FromGatesOptions",
    ),
    "tacotron": Family(
        summary="symbols become frames of sound, some in each step, by a decoder that looks along the symbols",
        paper="Wang et al. 2017, Tacotron; Shen et al. 2018, Tacotron 2; Griffin and Lim 1984",
        tasks=("speaking",),
        module="regard.models.tacotron",
        model="Tacotron",
        options="TacotronOptions",
    ),
    "sketchformer": Family(
        summary="a causal Transformer that draws, by a mixture density or by tokens; or one that names what is drawn",
        paper="Ribeiro et al. 2020, Sketchformer; Graves 2013, Generating Sequences With Recurrent Neural Networks",
        tasks=("strokes", "recognition"),
        module="regard.models.strokes.network",
        model="Sketchformer",
        options="SketchformerOptions",
    ),
    "sketch-rnn": Family(
        summary="recurrent layers that draw, by a mixture density or by tokens; or that name what is drawn",
        paper="Ha and Eck 2017, A Neural Representation of Sketch Drawings",
        tasks=("strokes", "recognition"),
        module="regard.models.strokes.network",
        model="SketchRnn",
        options="SketchRnnOptions",
        looks=False,
    ),
    "ngram": Family(
        summary="counts of words in a row, with interpolated modified Kneser–Ney, back-off or add-k",
        paper="Chen and Goodman 1998; Heafield et al. 2013",
        tasks=("language",),
        module="regard.models.ngram",
        model="Ngrams",
        options="NgramOptions",
        learns="counting",
    ),
    "bilm": Family(
        summary="two recurrent language models over the same words, one each way, for vectors of words in contexts",
        paper="Peters et al. 2018, Deep Contextualized Word Representations",
        tasks=("contexts",),
        module="regard.models.recurrent.bilm",
        model="Bilm",
        options="BilmOptions",
        looks=False,
    ),
    "word2vec": Family(
        summary="vectors by which words predict those around them (skip-gram), or are predicted by them (CBOW)",
        paper="Mikolov et al. 2013, Distributed Representations of Words and Phrases",
        tasks=("words",),
        module="regard.models.words",
        model="Word2Vec",
        options="Word2VecOptions",
        learns="updates",
        looks=False,
    ),
    "glove": Family(
        summary="vectors whose products are the logarithms of how often words stand near each other",
        paper="Pennington et al. 2014, GloVe: Global Vectors for Word Representation",
        tasks=("words",),
        module="regard.models.words",
        model="GloVe",
        options="GloVeOptions",
        learns="updates",
        looks=False,
    ),
    "fasttext": Family(
        summary="word2vec with words made of their n-grams of letters, so that unknown words have vectors too",
        paper="Bojanowski et al. 2017, Enriching Word Vectors with Subword Information",
        tasks=("words",),
        module="regard.models.words",
        model="FastText",
        options="FastTextOptions",
        learns="updates",
        looks=False,
    ),
}
