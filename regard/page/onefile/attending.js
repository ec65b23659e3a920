// Attention as the attention view shows it: weights by words and by tokens.

import { visibleToken, visibleWord } from "./visible.js";
import { wordLabels } from "./words.js";

/** @import { Tensor } from "./network.js" */
/** @import { Tokeniser } from "./tokeniser.js" */
/** @import { Labels } from "./words.js" */
/** @typedef {{ source: Tokeniser, target: Tokeniser }} Tokenisers */

const WHOLE = 10_000; // steps of a weight of 1

/**
 * The side of a view: its rows, columns and blocks. `looks` is the attention of each token of the rows, by block; a row
 * may have fewer keys than there are columns, which it cannot look at. `nameOf` names the module of a block.
 * @type {(rows: Labels, columns: Labels, looks: Float32Array[][], nameOf: (block: number) => string) => any}
 */
function sideOf(rows, columns, looks, nameOf) {
  const last = looks[looks.length - 1];
  const blocks = last.map(({ length }, block) => {
    const heads = length / columns.places.length;
    const joined = Array.from({ length: heads }, (_, head) => byLabel(rows, columns, looks, block, head, heads));
    return {
      where: nameOf(block),
      heads: joined.map((weights) => Array.from(weights, (weight) => Math.round(weight * WHOLE))),
      entropy: joined.map((weights) => Number(meanEntropy(weights, columns.texts.length).toFixed(3))),
    };
  });
  return { rows: rows.texts, columns: columns.texts, usual: Math.max(1, blocks.length - 1), blocks };
}

/**
 * Weights summed over the tokens of a word that is attended to, and averaged over those of one that attends.
 * @type {(rows: Labels, columns: Labels, looks: Float32Array[][], block: number, head: number, heads: number) =>
 *   Float64Array}
 */
function byLabel(rows, columns, looks, block, head, heads) {
  const width = columns.texts.length;
  const counts = new Float64Array(rows.texts.length);
  rows.places.forEach((place) => counts[place]++);
  const joined = new Float64Array(rows.texts.length * width);
  rows.places.forEach((row, token) => {
    const keys = looks[token][block].length / heads;
    const weights = looks[token][block].subarray(head * keys, (head + 1) * keys);
    weights.forEach((weight, key) => (joined[row * width + columns.places[key]] += weight / counts[row]));
  });
  return joined;
}

/**
 * The mean entropy of the rows of a matrix, in nats.
 * @type {(weights: Float64Array, width: number) => number}
 */
function meanEntropy(weights, width) {
  const sum = weights.reduce((total, weight) => total - (weight > 0 ? weight * Math.log(weight) : 0), 0);
  return Math.max(0, sum / (weights.length / width));
}

/**
 * The labels of tokens as words, which may be known as they were written, or one by one.
 * @type {(tokeniser: Tokeniser, tokens: number[], byWord: boolean, written?: string[]) => Labels}
 */
export function labelsOf(tokeniser, tokens, byWord, written = []) {
  const places = [...tokens.keys()];
  if (!byWord) return { texts: tokeniser.names(tokens).map(visibleToken), places };
  if (written.length) return { texts: written.map(visibleWord), places };
  const words = wordLabels(tokeniser, tokens);
  return { texts: words.texts.map(visibleWord), places: words.places };
}

/**
 * All attention between a source and its translation, and within both; both with their ends.
 * @type {(tokenisers: Tokenisers, source: number[], target: number[], looks: Record<string, Float32Array[][]>) => any}
 */
export function attentionModes(tokenisers, source, target, { cross, encoder, decoder }) {
  /** @type {(byWord: boolean) => any} */
  const mode = (byWord) => {
    const [rows, columns] = [
      labelsOf(tokenisers.target, target, byWord),
      labelsOf(tokenisers.source, source, byWord),
    ];
    // The decoder reads the begin, and then all it wrote but the end.
    const before = labelsOf(tokenisers.target, [tokenisers.target.begin, ...target.slice(0, -1)], byWord);
    const within = sideOf(before, before, decoder, (block) => `decoder.${block}.self_look`);
    return {
      cross: sideOf(rows, columns, cross, (block) => `decoder.${block}.cross`),
      encoder: sideOf(columns, columns, encoder, (block) => `encoder.${block}.self_look`),
      ...(within.blocks.length ? { decoder: within } : {}), // a recurrent decoder has none
    };
  };
  return { words: mode(true), tokens: mode(false) };
}

/**
 * All attention of a model within the text that it reads, and to it when it answers; `labels` are those of its tokens.
 * @type {(looks: Float32Array[][], labels: (byWord: boolean) => Labels,
 *   pooled?: { weights: Float32Array, name: string } | null) => any}
 */
export function attentionWithin(looks, labels, pooled = null) {
  /** @type {(byWord: boolean) => any} */
  const mode = (byWord) => {
    const places = labels(byWord);
    const within = { within: sideOf(places, places, looks, (block) => `blocks.${block}`) };
    if (!pooled) return within;
    const answer = { texts: [pooled.name], places: [0] };
    return { ...within, pooling: sideOf(answer, places, [[pooled.weights]], () => "pooling") };
  };
  return { words: mode(true), tokens: mode(false) };
}

/**
 * The weights of each query, head after head, from (1, head, query, key).
 * @type {(tensor: Tensor) => Float32Array[]}
 */
export function queriesOf({ data, dims: [, heads, queries, keys] }) {
  return Array.from({ length: queries }, (_, query) => {
    const weights = new Float32Array(heads * keys);
    for (let head = 0; head < heads; head++) {
      const from = (head * queries + query) * keys;
      weights.set(data.subarray(from, from + keys), head * keys);
    }
    return weights;
  });
}

/**
 * The attention that links words: of each written token, averaged over the heads of the last block but one.
 * @type {(looks: Float32Array[][], keys: number) => Float64Array[]}
 */
export function meanLooks(looks, keys) {
  return looks.map((blocks) => {
    const weights = blocks[Math.max(0, blocks.length - 2)];
    const mean = new Float64Array(keys);
    weights.forEach((weight, place) => (mean[place % keys] += weight / (weights.length / keys)));
    return mean;
  });
}
