// Choosing the next token: the best, or one by chance, with the random numbers and filters of Python.

import { distribution, OFF } from "../views/next/filters.js";

/** @typedef {{ temperature?: number, top_k?: number, top_p?: number, seed?: number }} Sampling */

const [GOLDEN, FIRST, SECOND] = [0x9e3779b97f4a7c15n, 0xbf58476d1ce4e5b9n, 0x94d049bb133111ebn];

/** @type {(word: bigint) => bigint} */
const wrapped = (word) => BigInt.asUintN(64, word);

/**
 * A number in [0, 1) that is a function of the seed and the keys, as `regard.decoding.chance` computes it.
 * @type {(seed: number, ...keys: number[]) => number}
 */
export function uniform(seed, ...keys) {
  let state = wrapped(BigInt(seed));
  for (const key of keys) {
    state = wrapped(state + BigInt(key + 1) * GOLDEN);
    state = wrapped((state ^ (state >> 30n)) * FIRST);
    state = wrapped((state ^ (state >> 27n)) * SECOND);
    state ^= state >> 31n;
  }
  return Number(state >> 11n) * 2 ** -53;
}

/**
 * All tokens, the most probable first, and of equal ones the smaller number.
 * @type {(logs: Float32Array) => Uint32Array}
 */
export function ranked(logs) {
  return Uint32Array.from(logs, (_, token) => token).sort((one, other) => logs[other] - logs[one] || one - other);
}

/**
 * Log-probabilities to sample from, in the order of `order`.
 * @type {(logs: Float32Array, order: Uint32Array, sampling: Sampling) => Float64Array}
 */
export function drawnFrom(logs, order, sampling) {
  const { seed, ...filters } = sampling;
  return distribution(Float64Array.from(order, (token) => logs[token]), { ...OFF, ...filters });
}

/**
 * The first token at which the cumulative probabilities, in order of token number, exceed the chance.
 * @type {(logs: Float32Array, sampling: Sampling, chance: number) => number}
 */
export function drawToken(logs, sampling, chance) {
  const order = ranked(logs);
  const kept = drawnFrom(logs, order, sampling);
  const shares = new Float64Array(logs.length);
  order.forEach((token, rank) => (shares[token] = Math.exp(kept[rank])));
  const sums = new Float64Array(logs.length);
  shares.reduce((sum, share, token) => (sums[token] = sum + share), 0);
  const whole = sums[sums.length - 1];
  const found = sums.findIndex((sum) => sum > chance * whole);
  const last = sums.findIndex((sum) => sum >= whole);
  return found < 0 ? last : Math.min(found, last);
}

/**
 * The most probable token, and of equal ones the smaller number.
 * @type {(logs: Float32Array) => number}
 */
export function bestToken(logs) {
  return logs.reduce((best, value, token) => (value > logs[best] ? token : best), 0);
}
