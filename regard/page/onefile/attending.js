// The attention of one translation as the attention view shows it: weights by words and by tokens.

import { visibleToken, visibleWord } from "./visible.js";
import { wordLabels } from "./words.js";

/** @import { Tokeniser } from "./tokeniser.js" */
/** @import { Labels } from "./words.js" */
/** @typedef {{ source: Tokeniser, target: Tokeniser }} Tokenisers */

const WHOLE = 10_000; // steps of a weight of 1

/**
 * The side of a view: its rows, columns and blocks. `looks` is the attention after each written token, by block.
 * @type {(rows: Labels, columns: Labels, looks: Float32Array[][]) => any}
 */
function crossSide(rows, columns, looks) {
  const blocks = looks[0].map((_, block) => {
    const heads = looks[0][block].length / columns.places.length;
    const joined = Array.from({ length: heads }, (_, head) => byLabel(rows, columns, looks, block, head));
    return {
      where: `decoder.${block}.cross`,
      heads: joined.map((weights) => Array.from(weights, (weight) => Math.round(weight * WHOLE))),
      entropy: joined.map((weights) => Number(meanEntropy(weights, columns.texts.length).toFixed(3))),
    };
  });
  return { rows: rows.texts, columns: columns.texts, usual: Math.max(1, blocks.length - 1), blocks };
}

/**
 * Weights summed over the tokens of a word that is attended to, and averaged over those of one that attends.
 * @type {(rows: Labels, columns: Labels, looks: Float32Array[][], block: number, head: number) => Float64Array}
 */
function byLabel(rows, columns, looks, block, head) {
  const [width, keys] = [columns.texts.length, columns.places.length];
  const counts = new Float64Array(rows.texts.length);
  rows.places.forEach((place) => counts[place]++);
  const joined = new Float64Array(rows.texts.length * width);
  rows.places.forEach((row, token) => {
    const weights = looks[token][block].subarray(head * keys, (head + 1) * keys);
    columns.places.forEach((column, key) => (joined[row * width + column] += weights[key] / counts[row]));
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
 * All attention between a source and its translation; both with their ends.
 * @type {(tokenisers: Tokenisers, source: number[], target: number[], looks: Float32Array[][]) => any}
 */
export function attentionModes(tokenisers, source, target, looks) {
  /** @type {(tokeniser: Tokeniser, tokens: number[]) => Labels} */
  const byWord = (tokeniser, tokens) => {
    const { texts, places } = wordLabels(tokeniser, tokens);
    return { texts: texts.map(visibleWord), places };
  };
  /** @type {(tokeniser: Tokeniser, tokens: number[]) => Labels} */
  const byToken = (tokeniser, tokens) => {
    return { texts: tokeniser.names(tokens).map(visibleToken), places: [...tokens.keys()] };
  };
  /** @type {(labels: typeof byWord) => any} */
  const mode = (labels) => {
    return { cross: crossSide(labels(tokenisers.target, target), labels(tokenisers.source, source), looks) };
  };
  return { words: mode(byWord), tokens: mode(byToken) };
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
