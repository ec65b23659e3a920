// Tokenisers of the model: text to tokens and back, token for token as in Python.

import { characterPieces, mergedPieces, unigramPieces } from "./pieces.js";

/** @import { Piece, Pieces } from "./pieces.js" */
/**
 * @typedef {object} TokeniserData
 * @property {string} kind
 * @property {string[]} names of all tokens, as people read them
 * @property {number[]} scores of all tokens
 * @property {(number | null)[]} bytes the token of each byte; empty if nothing can be spelled
 * @property {Record<"pad" | "unknown" | "begin" | "end", number>} special
 * @property {boolean} caseless whether text is read in lower case
 */
/**
 * @typedef {object} Tokeniser
 * @property {number} begin
 * @property {number} end
 * @property {boolean} spells whether every token is a letter
 * @property {(text: string) => number[]} encode
 * @property {(tokens: number[]) => string} decode
 * @property {(tokens: number[]) => string[]} names
 * @property {(tokens: number[]) => number[]} words the number of each token's word; -1 for begin and end
 */

const [SPACE, ESCAPE] = ["▁", "\u{10ffff}"]; // the sign of a space, and a character that no text should contain
const UNKNOWN_TEXT = "⁇";
const BLANK = 32; // the byte of a space
// The white space that Python strips; JavaScript's `trim` differs by a few characters.
const WHITE = "[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]";
const AROUND = new RegExp(`^${WHITE}+|${WHITE}+$`, "gu");
const LONE = /[\ud800-\udfff]/gu; // half of a character

/** @type {Record<string, (text: string, pieces: Pieces) => Piece[]>} */
const SPLITS = { unigram: unigramPieces, bpe: mergedPieces, characters: characterPieces };

const toBytes = new TextEncoder();
const fromBytes = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * A text without white space around it.
 * @type {(text: string) => string}
 */
export const stripped = (text) => text.replace(AROUND, "");

/** @type {(data: TokeniserData) => Tokeniser} */
export function makeTokeniser(data) {
  const { pad, begin, end } = data.special;
  const silent = new Set([pad, begin, end]);
  const fragments = fragmentsOf(data);
  const split = data.kind === "bytes" ? bytesOf(data) : piecesOf(data);
  return {
    begin,
    end,
    spells: data.kind === "characters",
    encode: (text) => split((data.caseless ? text.toLowerCase() : text).replace(LONE, "\ufffd").normalize("NFC")),
    decode: (tokens) => {
      const text = joined(tokens.map((token) => fragments[token]));
      if (data.kind === "bytes") return text;
      const unspaced = text.startsWith(" ") ? text.slice(1) : text;
      return unspaced.replaceAll(`${ESCAPE}1`, SPACE).replaceAll(`${ESCAPE}0`, ESCAPE);
    },
    names: (tokens) => tokens.map((token) => data.names[token]),
    words: (tokens) => wordNumbers(tokens, tokens.map((token) => fragments[token]), silent, data.kind !== "bytes"),
  };
}

/**
 * The UTF-8 bytes of each token's text.
 * @type {(data: TokeniserData) => Uint8Array[]}
 */
function fragmentsOf({ kind, names, bytes, special }) {
  const made = names.map((name) => (kind === "bytes" ? new Uint8Array() : toBytes.encode(name.replaceAll(SPACE, " "))));
  bytes.forEach((token, value) => token !== null && (made[token] = Uint8Array.of(value)));
  for (const token of [special.pad, special.begin, special.end]) made[token] = new Uint8Array();
  made[special.unknown] = toBytes.encode(UNKNOWN_TEXT);
  return made;
}

/** @type {(data: TokeniserData) => (text: string) => number[]} */
function bytesOf({ bytes }) {
  return (text) => [...toBytes.encode(text)].map((value) => Number(bytes[value]));
}

/** @type {(data: TokeniserData) => (text: string) => number[]} */
function piecesOf({ kind, names, scores, bytes, special }) {
  const unused = new Set([...Object.values(special), ...bytes]);
  const tokens = new Map(names.map((name, token) => /** @type {[string, number]} */ ([name, token])));
  for (const [name, token] of tokens) if (unused.has(token)) tokens.delete(name);
  const used = [...tokens.values()].map((token) => scores[token]);
  const longest = Math.max(...[...tokens.keys()].map((name) => [...name].length));
  const pieces = { tokens, scores, longest, lowest: used.reduce((one, other) => Math.min(one, other), Infinity) };
  return (text) => {
    if (!text) return [];
    const spaced = SPACE + disguised(text, bytes.length > 0).replaceAll(" ", SPACE);
    return lookedUp(SPLITS[kind](spaced, pieces), bytes, special.unknown);
  };
}

/**
 * A text whose own signs of spaces cannot be mistaken for spaces.
 * @type {(text: string, canSpell: boolean) => string}
 */
function disguised(text, canSpell) {
  if (!canSpell) return text.replaceAll(SPACE, ESCAPE); // unknown, since nothing can be spelled in bytes
  return text.replaceAll(ESCAPE, `${ESCAPE}0`).replaceAll(SPACE, `${ESCAPE}1`);
}

/**
 * The tokens of pieces: what has none is spelled in bytes, or a run of it is unknown.
 * @type {(pieces: Piece[], bytes: (number | null)[], unknown: number) => number[]}
 */
function lookedUp(pieces, bytes, unknown) {
  /** @type {number[]} */
  const tokens = [];
  for (const { text, token } of pieces) {
    if (token !== null) tokens.push(token);
    else if (bytes.length) tokens.push(...[...toBytes.encode(text)].map((value) => Number(bytes[value])));
    else if (tokens.at(-1) !== unknown) tokens.push(unknown);
  }
  return tokens;
}

/** @type {(fragments: Uint8Array[]) => string} */
function joined(fragments) {
  const all = new Uint8Array(fragments.reduce((size, fragment) => size + fragment.length, 0));
  let at = 0;
  for (const fragment of fragments) {
    all.set(fragment, at);
    at += fragment.length;
  }
  return fromBytes.decode(all);
}

/**
 * The number of each token's word: words are separated by spaces, and a space belongs to the word after it.
 * @type {(tokens: number[], fragments: Uint8Array[], silent: Set<number>, isSpaced: boolean) => number[]}
 */
function wordNumbers(tokens, fragments, silent, isSpaced) {
  let [words, isInside, hasBegun] = [0, false, !isSpaced];
  const numbers = tokens.map((token, place) => {
    let fragment = fragments[place];
    if (!hasBegun && !silent.has(token)) {
      hasBegun = true; // the space before the first word is not the text's own
      if (fragment[0] === BLANK) fragment = fragment.subarray(1);
    }
    for (const byte of fragment) {
      if (byte !== BLANK && !isInside) words++;
      isInside = byte !== BLANK;
    }
    return silent.has(token) ? -1 : words - Number(isInside);
  });
  return numbers.map((number) => Math.min(number, Math.max(words - 1, 0)));
}
