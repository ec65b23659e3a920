"""Build the decoder of a recurrent translator and its attention from the options."""

from regard.attention import Attention
from regard.attention.hard import Hard
from regard.attention.local import LocalMonotonic, LocalPredictive
from regard.attention.normalisers import named_normaliser
from regard.attention.projected import Projected, Projections, Unprojected
from regard.attention.scores import Covered, Positive, named_score
from regard.models.recurrent.decoders import Bahdanau, Bottleneck, Decoder, Luong, Tanh
from regard.models.recurrent.layers import Stack
from regard.models.recurrent.seq2seq_options import Seq2SeqOptions


def decoder_of(options: Seq2SeqOptions) -> Decoder:
    """Build the decoder that the options describe, with its initial weights."""
    width, embedding = options.width, options.embedding
    context = width if options.projected else options.states_width
    match options.decoder:
        case "bahdanau":
            stack, look = _stack(options, embedding + context), _look(options)
            return Bahdanau(stack, look, _projections(options), embedding, width, options.token_in_score)
        case "luong":
            stack, look = _stack(options, embedding + (width if options.input_feeding else 0)), _look(options)
            return Luong(stack, look, _projections(options), width, options.input_feeding)
        case "tanh":
            return Tanh(_look(options), _projections(options), embedding, width)
    fed = options.states_width if options.context_at_each_step else 0
    return Bottleneck(_stack(options, embedding + fed), options.context_at_each_step)


def _stack(options: Seq2SeqOptions, depth: int) -> Stack:
    return Stack(
        options.cell,
        depth,
        options.width,
        options.decoder_layers,
        dropout=options.dropout,
        residual=options.residual,
    )


def _projections(options: Seq2SeqOptions) -> Projections:
    if not options.projected:
        return Unprojected(options.query_width, options.states_width)
    return Projected(
        options.query_width,
        options.states_width,
        options.width,
        options.heads,
        join=options.join,
        shared_key_value=options.shared_key_value,
    )


def _look(options: Seq2SeqOptions) -> Attention:
    query, key, hidden = *options.look_depths, options.width
    score = Covered(query, key, hidden) if options.coverage else named_score(options.score, query, key, hidden)
    is_softplus = options.normaliser == "plain" and options.positive == "softplus"
    return Attention(
        Positive(score) if is_softplus else score,
        looks_from="target",
        looks_at="source",
        normaliser=named_normaliser(options.normaliser, options.positive),
        focus=_focus(options, query),
        choice=None if options.hard == "none" else Hard(options.hard, options.temperature),
    )


def _focus(options: Seq2SeqOptions, query: int) -> LocalMonotonic | LocalPredictive | None:
    match options.window:
        case "monotonic":
            return LocalMonotonic(options.reach)
        case "predictive":
            return LocalPredictive(query, options.width, options.reach)
    return None
