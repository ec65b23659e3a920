// The lexicon of a tagger: the numbers of words, letters and shapes, and the spans that tags spell, as in Python.

/**
 * @typedef {object} LexiconData
 * @property {string[]} words
 * @property {string[]} letters
 * @property {boolean} fold_case
 * @property {boolean} fold_digits
 */

const [UNKNOWN_WORD, KNOWN_FROM] = [1, 2];
const [BEGIN_LETTER, END_LETTER, LETTERS_FROM] = [2, 3, 4];
const MOST_LETTERS = 32; // letters read; of a longer word, the first and the last half of them

/** @type {WeakMap<string[], Map<string, number>>} */
const numberings = new WeakMap();

/**
 * The numbers of values, counted once.
 * @type {(values: string[], first: number) => Map<string, number>}
 */
function numbered(values, first) {
  const made = numberings.get(values) ?? new Map(values.map((value, place) => [value, place + first]));
  numberings.set(values, made);
  return made;
}

/**
 * The number of a word, which may be looked up in lower case and with 0 for every digit.
 * @type {(lexicon: LexiconData, word: string) => number}
 */
export function foldedWord({ words, fold_case: folds, fold_digits: foldsDigits }, word) {
  const lower = folds ? word.toLowerCase() : word;
  return numbered(words, KNOWN_FROM).get(foldsDigits ? lower.replace(/\p{Nd}/gu, "0") : lower) ?? UNKNOWN_WORD;
}

/**
 * The letters of a word between a begin and an end.
 * @type {(lexicon: LexiconData, word: string) => number[]}
 */
export function letterNumbers({ letters }, word) {
  const all = [...word];
  const half = MOST_LETTERS / 2;
  const read = all.length > MOST_LETTERS ? [...all.slice(0, half), ...all.slice(-half)] : all;
  const numbers = numbered(letters, LETTERS_FROM);
  return [BEGIN_LETTER, ...read.map((letter) => numbers.get(letter) ?? UNKNOWN_WORD), END_LETTER];
}

const SMALL = 1;
const [CAPITAL, CAPITALS, MIXED, DIGITS, DIGITS_AND_MORE, NO_LETTER] = [2, 3, 4, 5, 6, 7];
// Decimal digits, and those in circles or above and below the line.
const DIGIT = /\p{Nd}|[\u00b2\u00b3\u00b9\u2070\u2074-\u2079\u2080-\u2089\u2460-\u2468\u2474-\u247c\u2488-\u2490]/u;
const ALPHABETIC = /\p{L}/u;
const [UPPER, LOWER] = [/\p{Uppercase}/u, /\p{Lowercase}/u];

/**
 * How a word is written, regardless of its letters.
 * @type {(word: string) => number}
 */
export function shapeOf(word) {
  const all = [...word];
  const hasLetter = all.some((letter) => ALPHABETIC.test(letter));
  if (all.some((letter) => DIGIT.test(letter))) return hasLetter ? DIGITS_AND_MORE : DIGITS;
  const cased = all.filter((letter) => UPPER.test(letter) || LOWER.test(letter));
  if (!cased.length) return hasLetter ? SMALL : NO_LETTER;
  if (cased.every((letter) => LOWER.test(letter))) return SMALL;
  if (UPPER.test(cased[0]) && cased.slice(1).every((letter) => LOWER.test(letter))) return CAPITAL;
  return cased.every((letter) => UPPER.test(letter)) ? CAPITALS : MIXED;
}

/** @typedef {[string, number, number]} Span its type, its first place and the place after its last */

/**
 * The spans that tags spell, in any scheme: B and S begin one, E and S end one, and another type parts two.
 * @type {(tags: string[]) => Span[]}
 */
export function spansOf(tags) {
  /** @type {Span[]} */
  const spans = [];
  /** @type {number | null} */
  let start = null;
  let [mark, type] = ["O", ""];
  [...tags, "O"].forEach((tag, place) => {
    const [nextMark] = tag.split("-", 1);
    const nextType = tag.slice(nextMark.length + 1);
    const isParted = type !== nextType || "OBS".includes(nextMark) || "ES".includes(mark);
    if (start !== null && isParted) {
      spans.push([type, start, place]);
      start = null;
    }
    if (start === null && nextMark !== "O") start = place;
    [mark, type] = [nextMark, nextType];
  });
  return spans;
}
