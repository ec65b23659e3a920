// A shortlist: the tokens that a sentence may be translated with, and their part of the output layer.

/** @import { Session, Tensors } from "./network.js" */
/** @import { MakeTensor } from "./starting.js" */
/** @typedef {{ common: number[], translations: Map<number, Int32Array> }} Shortlist */
/** @typedef {(source: number[], end: number) => Promise<{ candidates: number[], layer: Tensors }>} Listing */

/**
 * Read a shortlist: the common tokens after their number; then each source token, the number of its translations, and
 * these.
 * @type {(part: Uint8Array) => Shortlist}
 */
export function readShortlist(part) {
  const numbers = new Int32Array(part.buffer, part.byteOffset, part.byteLength / Int32Array.BYTES_PER_ELEMENT);
  const common = numbers.subarray(1, 1 + numbers[0]);
  const translations = new Map();
  for (let at = 1 + numbers[0]; at < numbers.length; at += 2 + numbers[at + 1]) {
    translations.set(numbers[at], numbers.subarray(at + 2, at + 2 + numbers[at + 1]));
  }
  return { common: [...common], translations };
}

/**
 * The tokens that may translate a sentence, the end first and the others in their order.
 * @type {(shortlist: Shortlist, source: number[], end: number) => number[]}
 */
export function candidatesOf({ common, translations }, source, end) {
  const found = new Set(common);
  for (const token of source) translations.get(token)?.forEach((candidate) => found.add(candidate));
  found.delete(end);
  return [end, ...[...found].sort((one, other) => one - other)];
}

/**
 * A function that lists the candidates of a sentence; `session` returns their part of the output layer.
 * @type {(session: Session, part: Uint8Array, makeTensor: MakeTensor) => Listing}
 */
export function makeListing(session, part, makeTensor) {
  const shortlist = readShortlist(part);
  return async (source, end) => {
    const candidates = candidatesOf(shortlist, source, end);
    const numbers = makeTensor("int64", BigInt64Array.from(candidates, BigInt), [candidates.length]);
    return { candidates, layer: await session.run({ candidates: numbers }) };
  };
}
