// A language model: a graph that reads tokens after those in its memory.

import { queriesOf } from "./attending.js";

/** @import { Session, Tensors } from "./network.js" */
/** @import { MakeTensor } from "./starting.js" */
/**
 * @typedef {object} Memory
 * @property {Tensors | null} past the caches of all blocks
 * @property {number[]} tokens in the caches
 * @property {Float32Array[][]} looks the attention of each of them, by block, (head, key) row by row
 */
/**
 * @typedef {object} Reading
 * @property {Float32Array[]} logs log-probabilities of the next token after each token that was read
 * @property {Memory} memory
 */
/** @typedef {{ context: number, heads: number, depth: number }} LanguageSizes */
/** @typedef {{ context: number, read: (tokens: number[], memory: Memory) => Promise<Reading> }} Language */

/** @type {Memory} */
export const NOTHING_READ = { past: null, tokens: [], looks: [] };

/** @type {(session: Session, sizes: LanguageSizes, makeTensor: MakeTensor) => Language} */
export function makeLanguage(session, { context, heads, depth }, makeTensor) {
  const caches = session.inputNames.filter((name) => name.startsWith("past."));
  const blocks = session.outputNames.filter((name) => name.startsWith("looks."));
  const empty = () => makeTensor("float32", new Float32Array(), [1, heads, 0, depth]);

  /** @type {(tokens: number[], memory: Memory) => Promise<Reading>} */
  const readWithin = async (tokens, memory) => {
    const past = memory.past ?? Object.fromEntries(caches.map((name) => [name, empty()]));
    const numbers = makeTensor("int64", BigInt64Array.from(tokens, BigInt), [1, tokens.length]);
    const outputs = await session.run({ tokens: numbers, ...past });
    const looks = blocks.map((name) => queriesOf(outputs[name]));
    return {
      logs: parts(outputs.log_probabilities.data, tokens.length),
      memory: {
        looks: [...memory.looks, ...tokens.map((_, place) => looks.map((queries) => queries[place]))],
        past: Object.fromEntries(caches.map((name) => [name, outputs[name.replace("past", "present")]])),
        tokens: [...memory.tokens, ...tokens],
      },
    };
  };

  /** @type {Language["read"]} */
  const read = async (tokens, memory) => {
    /** @type {Reading} */
    const all = { logs: [], memory };
    for (let first = 0; first < tokens.length; ) {
      if (all.memory.tokens.length === context) { // full: the younger half is read again from the first place on
        all.memory = (await readWithin(all.memory.tokens.slice(-Math.floor(context / 2)), NOTHING_READ)).memory;
      }
      const some = tokens.slice(first, first + context - all.memory.tokens.length);
      const { logs, memory: after } = await readWithin(some, all.memory);
      all.logs.push(...logs);
      all.memory = after;
      first += some.length;
    }
    return all;
  };
  return { context, read };
}

/**
 * Numbers in equal parts.
 * @type {(data: Float32Array, count: number) => Float32Array[]}
 */
function parts(data, count) {
  const size = data.length / count;
  return Array.from({ length: count }, (_, place) => data.subarray(place * size, (place + 1) * size));
}
