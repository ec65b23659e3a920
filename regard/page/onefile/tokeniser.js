// Tokenisers of the model: text to tokens and back, token for token as in Python.

import { bytePairTokeniser } from "./byte-pairs.js";
import { joinedText, toBytes, wholeCharacters } from "./letters.js";
import { wordNumbers } from "./numbering.js";
import { characterPieces, mergedPieces, unigramPieces } from "./pieces.js";
import {
  continuesWord, lettersOf, PYTHON_SPACE, singlySpaced, spacedWords,
  splitAtSpaces, splitWords, wordPieces,
} from "./spelling.js";

/** @import { BytePairs } from "./byte-pairs.js" */
/** @import { Piece, Pieces } from "./pieces.js" */
/** @import { Spelling, Words } from "./spelling.js" */
/**
 * @typedef {object} TokeniserData
 * @property {string} kind
 * @property {string[]} names of all tokens, as people read them
 * @property {number[]} scores of all tokens
 * @property {(number | null)[]} bytes the token of each byte; empty if nothing can be spelled
 * @property {Record<"pad" | "unknown" | "begin" | "end", number>} special
 * @property {boolean} caseless whether text is read in lower case
 * @property {BytePairs} [pairs] of a GPT-2
 * @property {Spelling} [spelling] of a WordPiece
 * @property {string[]} [marks] special tokens that a WordPiece recognises in text
 */
/**
 * @typedef {object} Tokeniser
 * @property {number} begin
 * @property {number} end
 * @property {number} unknown
 * @property {boolean} spells whether every token is a letter
 * @property {boolean} readsBreaks whether a line break is an ordinary character
 * @property {(text: string) => number[]} encode
 * @property {(tokens: number[]) => string} decode
 * @property {(tokens: number[]) => string[]} names
 * @property {(tokens: number[]) => string[]} letters their names without signs of continuation
 * @property {(text: string) => string[]} written the words of a text as they are written, if each is a token, or none
 * @property {(tokens: number[]) => number[]} words the number of each token's word; -1 for begin and end
 */

const [SPACE, ESCAPE] = ["▁", "\u{10ffff}"]; // the sign of a space, and a character that no text should contain
const UNKNOWN_TEXT = "⁇";
// JavaScript's `trim` differs by a few characters.
const AROUND = new RegExp(`^[${PYTHON_SPACE}]+|[${PYTHON_SPACE}]+$`, "gu");

/** @type {Record<string, (text: string, pieces: Pieces) => Piece[]>} */
const SPLITS = { unigram: unigramPieces, bpe: mergedPieces, characters: characterPieces };

/**
 * A text without white space around it.
 * @type {(text: string) => string}
 */
export const stripped = (text) => text.replace(AROUND, "");

/** @type {Record<string, Words>} */
const WORDS = {
  words: { split: splitWords, spaced: spacedWords },
  spaces: { split: splitAtSpaces, spaced: singlySpaced },
};

/** @type {(data: TokeniserData) => Tokeniser} */
export function makeTokeniser(data) {
  if (data.kind === "wordpiece") return pieceTokeniser(data);
  if (data.pairs) return bytePairTokeniser({ ...data, pairs: data.pairs });
  return Object.hasOwn(WORDS, data.kind) ? wordTokeniser(data, WORDS[data.kind]) : subwordTokeniser(data);
}

/**
 * A text in the form in which it is split.
 * @type {(data: TokeniserData, text: string) => string}
 */
const cleaned = ({ caseless }, text) => wholeCharacters(caseless ? text.toLowerCase() : text).normalize("NFC");

/** @type {(data: TokeniserData) => Tokeniser} */
function subwordTokeniser(data) {
  const { pad, begin, end } = data.special;
  const silent = new Set([pad, begin, end]);
  const fragments = fragmentsOf(data);
  const split = data.kind === "bytes" ? bytesOf(data) : piecesOf(data);
  /** @type {(tokens: number[]) => string[]} */
  const names = (tokens) => tokens.map((token) => data.names[token]);
  return {
    begin,
    end,
    unknown: data.special.unknown,
    spells: data.kind === "characters",
    readsBreaks: false,
    encode: (text) => split(cleaned(data, text)),
    decode: (tokens) => {
      const text = joinedText(tokens.map((token) => fragments[token]));
      if (data.kind === "bytes") return text;
      const unspaced = text.startsWith(" ") ? text.slice(1) : text;
      return unspaced.replaceAll(`${ESCAPE}1`, SPACE).replaceAll(`${ESCAPE}0`, ESCAPE);
    },
    names,
    letters: names,
    written: () => [],
    words: (tokens) => wordNumbers(tokens, tokens.map((token) => fragments[token]), silent, data.kind !== "bytes"),
  };
}

/** @type {(data: TokeniserData, words: Words) => Tokeniser} */
function wordTokeniser(data, { split, spaced }) {
  const { pad, begin, end, unknown } = data.special;
  const silent = new Set([pad, begin, end]);
  const special = new Set([...silent, unknown]);
  const tokens = new Map(data.names.map((name, token) => /** @type {[string, number]} */ ([name, token])));
  // A word of the vocabulary may have the name of a special token, which comes before it.
  for (const token of special) if (special.has(Number(tokens.get(data.names[token])))) tokens.delete(data.names[token]);
  /** @type {(token: number) => string} */
  const textOf = (token) => (silent.has(token) ? "" : token === unknown ? UNKNOWN_TEXT : data.names[token]);
  /** @type {(tokens: number[]) => string[]} */
  const names = (tokens) => tokens.map((token) => data.names[token]);
  /** @type {(tokens: number[]) => string[]} */
  const fragments = (tokens) => spaced(tokens.map(textOf));
  return {
    begin,
    end,
    unknown,
    spells: false,
    readsBreaks: false,
    encode: (text) => split(cleaned(data, text)).map((word) => tokens.get(word) ?? unknown),
    decode: (tokens) => fragments(tokens).join(""),
    names,
    letters: names,
    written: (text) => split(cleaned({ ...data, caseless: false }, text)),
    words: (tokens) => wordNumbers(tokens, fragments(tokens).map((text) => toBytes.encode(text)), silent, false),
  };
}

/** @type {(data: TokeniserData) => Tokeniser} */
function pieceTokeniser(data) {
  const { pad, begin, end, unknown } = data.special;
  const silent = new Set([pad, begin, end]);
  const { names, marks = [], spelling = { lowerCase: true, stripAccents: true, partIdeographs: true } } = data;
  const encode = wordPieces(names, unknown, marks, spelling);
  return {
    begin,
    end,
    unknown,
    spells: false,
    readsBreaks: false,
    encode: (text) => encode(data.caseless ? text.toLowerCase() : text),
    decode: (tokens) => {
      const shown = tokens.filter((token) => !silent.has(token)).map((token) => names[token]);
      return shown.map((name, place) => (place && !continuesWord(name) ? " " : "") + lettersOf(name)).join("");
    },
    names: (tokens) => tokens.map((token) => names[token]),
    letters: (tokens) => tokens.map((token) => lettersOf(names[token])),
    written: () => [],
    words: (tokens) => {
      let word = -1;
      return tokens.map((token) => {
        if (silent.has(token)) return -1;
        if (word < 0 || !continuesWord(names[token])) word++;
        return word;
      });
    },
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
