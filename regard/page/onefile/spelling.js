// Tokenisers of words: runs between spaces, words and punctuation, or WordPiece, as in Python's `data/tokenisers`.

/** @typedef {{ split: (text: string) => string[], spaced: (words: string[]) => string[] }} Words */
/** @typedef {{ lowerCase: boolean, stripAccents: boolean, partIdeographs: boolean }} Spelling of a WordPiece */

const OPENING = "¿¡$£#@/";
const CLOSING = ".,;:!?…%‰°/؟،؛।॥。、！？：；，";
const QUOTES = ["'", '"'];
// Punctuation and symbols of the basic plane except _, and emoji; Python's white space.
const MARKS = "(?:(?![_\\u{10000}-\\u{10ffff}])[\\p{P}\\p{S}]|[\\u{1f000}-\\u{1faff}])";
export const PYTHON_SPACE = "\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
const LETTER = `(?:(?!${MARKS})[^${PYTHON_SPACE}])`;
const WORD = new RegExp(
  `${LETTER}+(?:['’\\-‐·]${LETTER}+|(?<=\\p{Nd})[.,:](?=\\p{Nd})${LETTER}+)*|(${MARKS})\\1*`,
  "gu",
);
const BETWEEN_SPACES = /[^\0\t-\r ]+/gu;

/**
 * The words and punctuation marks of a text.
 * @type {(text: string) => string[]}
 */
export const splitWords = (text) => text.match(WORD) ?? [];

/**
 * The runs of characters between spaces.
 * @type {(text: string) => string[]}
 */
export const splitAtSpaces = (text) => text.match(BETWEEN_SPACES) ?? [];

/**
 * Each word with the space before it, if any; punctuation is attached as in English.
 * @type {(words: string[]) => string[]}
 */
export function spacedWords(words) {
  /** @type {Record<string, boolean>} */
  const inside = Object.fromEntries(QUOTES.map((quote) => [quote, false]));
  let isGlued = true;
  return words.map((word) => {
    if (!word) return "";
    const [first] = word;
    let opens = OPENING.includes(first) || /^[\p{Ps}\p{Pi}]/u.test(word);
    let closes = CLOSING.includes(first) || /^[\p{Pe}\p{Pf}]/u.test(word);
    if (QUOTES.includes(word)) {
      [opens, closes] = [!inside[word], inside[word]];
      inside[word] = opens;
    }
    const written = isGlued || closes ? word : ` ${word}`;
    isGlued = opens;
    return written;
  });
}

/**
 * Each word with a space before it, except the first.
 * @type {(words: string[]) => string[]}
 */
export function singlySpaced(words) {
  const first = words.findIndex(Boolean);
  return words.map((word, place) => (word && place > first ? ` ${word}` : word));
}

const INSIDE = "##"; // before a piece that continues a word
const LONGEST_WORD = 100; // characters; a longer word is unknown
const SPACES = /[\t\n\r\p{Z}]/u;
const HIDDEN_SIGNS = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\0\ufffd]/u;
const IDEOGRAPH = new RegExp(
  "[\\u4e00-\\u9fff\\u3400-\\u4dbf\\u{20000}-\\u{2a6df}\\u{2a700}-\\u{2b73f}\\u{2b740}-\\u{2b81f}" +
    "\\u{2b920}-\\u{2ceaf}\\uf900-\\ufaff\\u{2f800}-\\u{2fa1f}]",
  "u",
);
const STOP = /\p{P}|[\x21-\x2f\x3a-\x40\x5b-\x60\x7b-\x7e]/u; // $ + < = > ^ ` | ~ too
const PYTHON_SPACES = new RegExp(`[${PYTHON_SPACE}]+`, "u");

/**
 * The words and punctuation marks of a text as BERT spells them.
 * @type {(text: string, spelling: Spelling) => string[]}
 */
function spelledWords(text, { lowerCase, stripAccents, partIdeographs }) {
  let spelled = [...text].map((character) => {
    if (SPACES.test(character)) return " ";
    if (HIDDEN_SIGNS.test(character)) return "";
    return partIdeographs && IDEOGRAPH.test(character) ? ` ${character} ` : character;
  }).join("");
  if (stripAccents) spelled = spelled.normalize("NFD").replace(/\p{Mn}/gu, "");
  if (lowerCase) spelled = [...spelled].map((character) => character.toLowerCase()).join("");
  return spelled.split(PYTHON_SPACES).filter(Boolean).flatMap(stoppedParts);
}

/**
 * A word and each punctuation mark in or around it.
 * @type {(word: string) => string[]}
 */
function stoppedParts(word) {
  /** @type {string[]} */
  const parts = [];
  let isOpen = false; // whether the last part may grow
  for (const character of word) {
    const isMark = STOP.test(character);
    if (isOpen && !isMark) parts[parts.length - 1] += character;
    else parts.push(character);
    isOpen = !isMark;
  }
  return parts;
}

/**
 * A function from text to WordPiece tokens; the marks in brackets are recognised anywhere.
 * @type {(names: string[], unknown: number, marks: string[], spelling: Spelling) => (text: string) => number[]}
 */
export function wordPieces(names, unknown, marks, spelling) {
  const tokens = new Map(names.map((name, token) => /** @type {[string, number]} */ ([name, token])));
  const longest = Math.max(...names.map((name) => [...name].length));
  /** @type {(word: string) => number[]} */
  const cut = (word) => {
    const letters = [...word];
    if (letters.length > LONGEST_WORD) return [unknown];
    const found = [];
    for (let first = 0; first < letters.length; ) {
      let last = Math.min(letters.length, first + longest);
      const before = first ? INSIDE : "";
      while (last > first && !tokens.has(before + letters.slice(first, last).join(""))) last--;
      if (last === first) return [unknown];
      found.push(Number(tokens.get(before + letters.slice(first, last).join(""))));
      first = last;
    }
    return found;
  };
  const bracketed = new RegExp(`(${marks.map((mark) => mark.replace(/[[\]]/g, "\\$&")).join("|")})`, "u");
  return (text) => {
    return text.split(bracketed).flatMap((part, place) => {
      if (place % 2) return [Number(tokens.get(part))];
      return part.split(" ").flatMap((chunk) => spelledWords(chunk, spelling).flatMap(cut));
    });
  };
}

/**
 * Whether a WordPiece token continues the word before it.
 * @type {(name: string) => boolean}
 */
export const continuesWord = (name) => name.startsWith(INSIDE) && name.length > INSIDE.length;

/**
 * The letters of a WordPiece token.
 * @type {(name: string) => string}
 */
export const lettersOf = (name) => (continuesWord(name) ? name.slice(INSIDE.length) : name);
