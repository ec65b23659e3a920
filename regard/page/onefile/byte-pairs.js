// GPT-2's tokeniser: bytes joined pair by pair within the parts of a text, as `regard.data.tokenisers.byte_pairs` does.

import { joinedText, toBytes, wholeCharacters } from "./letters.js";
import { wordNumbers } from "./numbering.js";

/** @import { Tokeniser, TokeniserData } from "./tokeniser.js" */
/** @typedef {{ words: string[], pairs: number[], silent: number[] }} BytePairs pairs as tokens, in merge order */

// White space of Unicode; that of JavaScript's `\s` differs by two characters.
const WHITE = "\\t-\\r \\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
const TEXT_PART = new RegExp(
  `'(?:[stmd]|re|ve|ll)| ?\\p{L}+| ?\\p{N}+| ?[^${WHITE}\\p{L}\\p{N}]+|[${WHITE}]+(?![^${WHITE}])|[${WHITE}]+`,
  "gu",
);

/** Characters that stand for bytes in the words of a vocabulary: printable ones for themselves. */
const BYTE_SYMBOLS = (() => {
  let other = 0x100;
  return Array.from({ length: 0x100 }, (_, byte) => {
    const isPrintable = (byte > 0x20 && byte < 0x7f) || (byte > 0xa0 && byte !== 0xad);
    return String.fromCharCode(isPrintable ? byte : other++);
  });
})();
const BYTES_OF_SYMBOLS = new Map(BYTE_SYMBOLS.map((symbol, byte) => /** @type {[string, number]} */ ([symbol, byte])));

/**
 * The bytes that a word of the vocabulary stands for; an added word may be plain text.
 * @type {(word: string) => Uint8Array}
 */
function spelledBytes(word) {
  const bytes = Array.from(word, (symbol) => BYTES_OF_SYMBOLS.get(symbol));
  return bytes.every((byte) => byte !== undefined) ? Uint8Array.from(bytes) : toBytes.encode(word);
}

/**
 * The tokens of a part of a text: of its neighbours, those are joined first that were learnt first.
 * @type {(tokens: number[], ranks: Map<number, number>, joins: number[], size: number) => number[]}
 */
function joinPairs(tokens, ranks, joins, size) {
  let left = tokens;
  for (;;) {
    let best = Infinity;
    for (let place = 1; place < left.length; place++) {
      best = Math.min(best, ranks.get(left[place - 1] * size + left[place]) ?? Infinity);
    }
    if (best === Infinity) return left;
    /** @type {number[]} */
    const joined = [];
    for (let place = 0; place < left.length; place++) {
      const isPair = place + 1 < left.length && ranks.get(left[place] * size + left[place + 1]) === best;
      joined.push(isPair ? joins[best] : left[place]);
      if (isPair) place++;
    }
    left = joined;
  }
}

/** @type {(data: TokeniserData & { pairs: BytePairs }) => Tokeniser} */
export function bytePairTokeniser({ names, special, caseless, pairs: { words, pairs, silent } }) {
  const mute = new Set(silent);
  const numbers = new Map(words.map((word, token) => /** @type {[string, number]} */ ([word, token])));
  /** @type {(word: string) => number} */
  const tokenOf = (word) => Number(numbers.get(word));
  const ofBytes = BYTE_SYMBOLS.map(tokenOf);
  const fragments = words.map((word, token) => (mute.has(token) ? new Uint8Array() : spelledBytes(word)));
  const ranks = new Map();
  /** @type {number[]} */
  const joins = [];
  for (let place = 0; place < pairs.length; place += 2) {
    ranks.set(pairs[place] * words.length + pairs[place + 1], joins.length);
    joins.push(tokenOf(words[pairs[place]] + words[pairs[place + 1]]));
  }
  /** @type {(tokens: number[]) => string[]} */
  const namesOf = (tokens) => tokens.map((token) => names[token]);
  return {
    begin: special.begin,
    end: special.end,
    unknown: special.unknown,
    spells: false,
    readsBreaks: true,
    encode: (text) => {
      const parts = wholeCharacters(caseless ? text.toLowerCase() : text).match(TEXT_PART) ?? [];
      return parts.flatMap((part) => {
        return joinPairs(Array.from(toBytes.encode(part), (byte) => ofBytes[byte]), ranks, joins, words.length);
      });
    },
    decode: (tokens) => joinedText(tokens.map((token) => fragments[token])),
    names: namesOf,
    letters: namesOf,
    written: () => [],
    words: (tokens) => wordNumbers(tokens, tokens.map((token) => fragments[token]), mute, false),
  };
}
