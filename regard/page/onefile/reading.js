// Models that read a whole text: the inputs of their graph, and its classes, tags or filled masks.

import { attentionWithin, labelsOf, queriesOf } from "./attending.js";
import { bestTags, marginals } from "./chain.js";
import { foldedWord, letterNumbers, shapeOf, spansOf } from "./lexicon.js";
import { Untranslatable } from "./refusing.js";
import { ranked } from "./sampling.js";
import { splitAtSpaces, splitWords } from "./spelling.js";
import { makeTokeniser } from "./tokeniser.js";
import { visibleWord } from "./visible.js";

/** @import { LexiconData } from "./lexicon.js" */
/** @import { Session, Tensors } from "./network.js" */
/** @import { MakeTensor } from "./starting.js" */
/** @import { Tokeniser } from "./tokeniser.js" */
/** @import { Labels } from "./words.js" */
/** @typedef {{ looks: Float32Array[][], pooling: Float32Array | null, outputs: Tensors }} Read */
/** @typedef {{ answer: any, explain: () => any }} Answered an answer as the server's, and the data of the views */
/** @typedef {(text: string, raw?: boolean) => Promise<Answered | null>} Answer null if there is nothing to read */

const FILLINGS = 10; // ways to fill masks that are shown

/**
 * A function from texts to answers with the model of the page.
 * @type {(data: any, session: Session, makeTensor: MakeTensor) => Answer}
 */
export function makeAnswer(data, session, makeTensor) {
  /** @type {(values: number[][]) => any} */
  const table = (values) => {
    return makeTensor("int64", BigInt64Array.from(values.flat(), BigInt), [values.length, values[0]?.length ?? 0]);
  };
  const blocks = session.outputNames.filter((name) => name.startsWith("looks."));
  /** @type {(tokens: number[], more: Record<string, number[][]>) => Promise<Read>} */
  const run = async (tokens, more) => {
    const given = { tokens: [tokens], segments: [tokens.map(() => 0)], ...more };
    const wanted = Object.entries(given).filter(([name]) => session.inputNames.includes(name));
    const inputs = Object.fromEntries(wanted.map(([name, values]) => [name, table(values)]));
    const lengths = makeTensor("int64", BigInt64Array.of(BigInt(tokens.length)), [1]);
    const outputs = await session.run({ ...inputs, lengths });
    const looks = blocks.map((name) => queriesOf(outputs[name]));
    return {
      looks: (looks[0] ?? []).map((_, place) => looks.map((queries) => queries[place])),
      pooling: outputs.pooling?.data ?? null,
      outputs,
    };
  };
  return ANSWERERS[data.kind](data, run);
}

/** @type {Record<string, (data: any, run: Run) => Answer>} */
const ANSWERERS = { classification: classifier, tagging: tagger, masked: filler };

/** @typedef {(tokens: number[], more: Record<string, number[][]>) => Promise<Read>} Run */

/**
 * Refuse a text of too many tokens.
 * @type {(count: number, most: number) => void}
 */
function checkLength(count, most) {
  if (count > most) throw new Untranslatable("onefile.long_text", { count, most });
}

/** @type {(data: any, run: Run) => Answer} */
function classifier({ tokeniser: stored, classes, framed, first, longest, ends }, run) {
  const tokeniser = makeTokeniser(stored);
  return async (text) => {
    const read = tokeniser.encode(text);
    if (!read.length) return null;
    let shown = read;
    if (longest !== null && read.length > longest) {
      if (!ends) checkLength(read.length, longest);
      const half = Math.floor(longest / 2); // the beginning and the end are kept
      shown = [...read.slice(0, half), ...read.slice(read.length - (longest - half))];
    }
    const written = shown === read ? tokeniser.written(text) : [];
    const tokens = framed ? [tokeniser.begin, ...shown, tokeniser.end] : shown;
    const { looks, pooling, outputs } = await run(tokens, {});
    const shares = [...outputs.log_probabilities.data].map(Math.exp);
    const best = shares.indexOf(Math.max(...shares));
    const probabilities = Object.fromEntries(shares.map((share, place) => [classes[place], share]));
    /** @type {(byWord: boolean) => Labels} */
    const labels = (byWord) => withFirst(first, labelsOf(tokeniser, tokens, byWord, framed ? [] : written));
    return {
      answer: { answer: classes[best], probability: shares[best], probabilities },
      explain: () => {
        const pooled = pooling && { weights: pooling, name: classes[best] };
        return { attention: attentionOf(text, looks, labels, pooled) };
      },
    };
  };
}

/** @type {(first: string | null, labels: Labels) => Labels} */
function withFirst(first, { texts, places }) {
  if (first === null) return { texts, places };
  return { texts: [first, ...texts], places: [0, ...places.map((place) => place + 1)] };
}

/**
 * The data of the attention view of one text, and of the pooling if there is any.
 * @type {(text: string, looks: Float32Array[][], labels: (byWord: boolean) => Labels,
 *   pooled?: { weights: Float32Array, name: string } | null) => any}
 */
function attentionOf(text, looks, labels, pooled = null) {
  const shown = { text: visibleWord(text), language: "" };
  return { source: shown, target: shown, modes: attentionWithin(looks, labels, pooled) };
}

/** @type {(data: any, run: Run) => Answer} */
function tagger({ lexicon, tags, scheme, tokeniser: stored, longest, chain }, run) {
  /** @type {LexiconData} */
  const known = lexicon;
  /** @type {Tokeniser | null} */
  const tokeniser = stored && makeTokeniser(stored);
  return async (text, raw = false) => {
    const words = raw ? splitWords(text) : splitAtSpaces(text);
    if (!words.length) return null;
    checkLength(words.length, longest.words);
    const { tokens, firsts, labels } = tokeniser ? piecesOfWords(tokeniser, words) : numbersOfWords(known, words);
    checkLength(tokens.length, longest.tokens);
    const spelled = words.map((word) => letterNumbers(known, word));
    const most = Math.max(...spelled.map(({ length }) => length));
    const { looks, outputs } = await run(tokens, {
      firsts: [firsts],
      letters: spelled.map((letters) => [...letters, ...Array(most - letters.length).fill(0)]),
      forms: [[...words.keys()]],
      shapes: [words.map(shapeOf)],
    });
    const { data: scores, dims: [, count, width] } = outputs.scores;
    const rows = Array.from({ length: count }, (_, place) => {
      return Float64Array.from(scores.subarray(place * width, (place + 1) * width));
    });
    const chosen = chain ? bestTags(chain, rows) : rows.map((row) => row.indexOf(Math.max(...row)));
    const shares = chain ? marginals(chain, rows) : rows.map(softmaxOf);
    const answers = chosen.map((tag) => tags[tag]);
    const probabilities = chosen.map((tag, place) => shares[place][tag]);
    const spans = scheme === "tags" ? undefined : spansOf(answers);
    return {
      answer: { words, answers, probabilities, spans },
      explain: () => ({ attention: attentionOf(words.join(" "), looks, labels) }),
    };
  };
}

/** @type {(lexicon: LexiconData, words: string[]) => any} */
function numbersOfWords(lexicon, words) {
  const tokens = words.map((word) => foldedWord(lexicon, word));
  const places = [...words.keys()];
  return { tokens, firsts: places, labels: () => ({ texts: words.map(visibleWord), places }) };
}

/** @type {(tokeniser: Tokeniser, words: string[]) => any} */
function piecesOfWords(tokeniser, words) {
  const cut = words.map((word) => {
    const pieces = tokeniser.encode(word);
    return pieces.length ? pieces : [tokeniser.unknown];
  });
  const tokens = [tokeniser.begin, ...cut.flat(), tokeniser.end];
  const ends = cut.reduce((/** @type {number[]} */ sums, pieces) => [...sums, (sums.at(-1) ?? 1) + pieces.length], [1]);
  const names = tokeniser.names(tokens);
  /** @type {(byWord: boolean) => Labels} */
  const labels = (byWord) => {
    if (!byWord) return labelsOf(tokeniser, tokens, false);
    const places = [0, ...cut.flatMap((pieces, word) => pieces.map(() => word + 1)), words.length + 1];
    return { texts: [names[0], ...words.map(visibleWord), names[names.length - 1]], places };
  };
  return { tokens, firsts: ends.slice(0, -1), labels };
}

/** @type {(scores: Float64Array) => Float64Array} */
function softmaxOf(scores) {
  const most = Math.max(...scores);
  const shares = scores.map((score) => Math.exp(score - most));
  const sum = shares.reduce((total, share) => total + share, 0);
  return shares.map((share) => share / sum);
}

/** @type {(data: any, run: Run) => Answer} */
function filler({ tokeniser: stored, mask, longest }, run) {
  const tokeniser = makeTokeniser(stored);
  return async (text) => {
    const read = tokeniser.encode(text);
    if (!read.length) return null;
    checkLength(read.length, longest);
    const tokens = [tokeniser.begin, ...read, tokeniser.end];
    const places = [...tokens.keys()].filter((place) => tokens[place] === mask);
    if (!places.length) throw new Untranslatable("onefile.no_mask");
    const { looks, outputs } = await run(tokens, { places: [places] });
    const { data: logs, dims: [, , width] } = outputs.log_probabilities;
    const ways = waysToFill(places.map((_, place) => {
      const row = logs.subarray(place * width, (place + 1) * width);
      return [...ranked(row).slice(0, FILLINGS)].map((token) => {
        return { name: tokeniser.names([token])[0], share: Math.exp(row[token]) };
      });
    }));
    const [[answer, probability]] = ways;
    return {
      answer: { answer, probability, probabilities: Object.fromEntries(ways) },
      explain: () => ({ attention: attentionOf(text, looks, (byWord) => labelsOf(tokeniser, tokens, byWord)) }),
    };
  };
}

/**
 * The most probable ways to fill masks, each by itself, best first.
 * @type {(masks: { name: string, share: number }[][]) => [string, number][]}
 */
export function waysToFill(masks) {
  /** @type {Map<string, number>} */
  let ways = new Map([["", 1]]);
  for (const fillings of masks) {
    /** @type {Map<string, number>} */
    const longer = new Map();
    for (const [way, before] of ways) {
      for (const { name, share } of fillings) longer.set(`${way} ${name}`.trim(), before * share);
    }
    ways = new Map([...longer].sort(([, one], [, other]) => other - one).slice(0, FILLINGS));
  }
  return [...ways];
}
