// Labels of tokens on an axis: whole words with separate punctuation, as `regard.data.tokenisers.labels` makes them.

/** @import { Tokeniser } from "./tokeniser.js" */
/** @typedef {{ texts: string[], places: number[] }} Labels labels, and for each token the label it belongs to */
/** @typedef {{ text: string, tokens: number }} Unit some text within a word, and the number of tokens that wrote it */

const BYTES = /<0x([0-9A-F]{2})>/; // a byte of a character that the vocabulary lacks
const PUNCTUATION = /^\p{P}+$/u;
// Scripts without spaces between words, where a token is closest to a word.
const SCRIPTS = ["Han", "Hira", "Kana", "Thai", "Laoo", "Khmr", "Mymr", "Tibt"].map((name) => `\\p{sc=${name}}`);
const UNSPACED = new RegExp(`^[${SCRIPTS.join("")}\\u3000-\\u303f\\uff01-\\uff60]`, "u");
const LONGEST_CHARACTER = 4; // bytes in UTF-8
const asCharacters = new TextDecoder("utf-8", { ignoreBOM: true });
const asBytes = new TextEncoder();

/**
 * A label for each word, for the punctuation around it, and for the end; a word spelled out alone has one per letter.
 * @type {(tokeniser: Tokeniser, tokens: number[]) => Labels}
 */
export function wordLabels(tokeniser, tokens) {
  const [names, numbers] = [tokeniser.letters(tokens), tokeniser.words(tokens)];
  if (tokeniser.spells && Math.max(0, ...numbers) === 0) return { texts: names, places: [...names.keys()] };
  /** @type {Labels} */
  const { texts, places } = { texts: [], places: [] };
  for (let start = 0; start < tokens.length; ) {
    let end = start + 1;
    while (end < tokens.length && numbers[end] === numbers[start]) end++;
    const units = unitsOf(names.slice(start, end));
    for (const part of numbers[start] < 0 ? units.map((unit) => [unit]) : partsOf(units)) {
      const count = part.reduce((sum, unit) => sum + unit.tokens, 0);
      places.push(...Array(count).fill(texts.length));
      texts.push(part.map(({ text }) => text).join(""));
    }
    start = end;
  }
  return { texts, places };
}

/**
 * The text of each token, or of as many as make whole characters; a bare space joins what follows.
 * @type {(names: string[]) => Unit[]}
 */
function unitsOf(names) {
  /** @type {Unit[]} */
  const units = [];
  let bare = 0; // tokens of spaces
  /** @type {number[]} */
  let spelled = []; // bytes of an incomplete character
  let spelling = 0; // their tokens
  const flush = () => {
    units.push({ text: asCharacters.decode(Uint8Array.from(spelled)), tokens: spelling + bare });
    [bare, spelled, spelling] = [0, [], 0];
  };
  for (const name of names) {
    const text = name.replaceAll("▁", "");
    if (BYTES.test(text)) {
      spelled.push(...bytesIn(text));
      spelling++;
      const isWhole = !asCharacters.decode(Uint8Array.from(spelled)).endsWith("\ufffd");
      if (isWhole || spelled.length >= LONGEST_CHARACTER) flush();
      continue;
    }
    if (spelled.length) flush();
    if (!text) bare++;
    else {
      units.push({ text, tokens: 1 + bare });
      bare = 0;
    }
  }
  if (bare || spelled.length) flush();
  return units;
}

/** @type {(text: string) => number[]} */
function bytesIn(text) {
  return text.split(BYTES).flatMap((part, place) => (place % 2 ? [parseInt(part, 16)] : [...asBytes.encode(part)]));
}

/**
 * A word, and separately the punctuation before and after it; punctuation alone is a word.
 * @type {(units: Unit[]) => Unit[][]}
 */
function partsOf(units) {
  const inner = [...units.keys()].filter((place) => !PUNCTUATION.test(units[place].text));
  const [first, after] = inner.length ? [inner[0], Number(inner.at(-1)) + 1] : [units.length, units.length + 1];
  /** @type {Unit[][]} */
  const parts = [];
  units.forEach((unit, place) => {
    const last = parts.at(-1)?.at(-1);
    const isApart = place === first || place === after || UNSPACED.test(unit.text) || UNSPACED.test(last?.text ?? "");
    if (!last || isApart) parts.push([unit]);
    else parts.at(-1)?.push(unit);
  });
  return parts;
}

/**
 * The links of words: for each target word the source word with the largest weight, summed over the tokens of both.
 * @type {(weights: ArrayLike<number>[], targets: number[], sources: number[]) => [number, number][]}
 */
export function wordLinks(weights, targets, sources) {
  const read = Math.max(-1, ...sources) + 1;
  const sums = Array.from({ length: Math.max(-1, ...targets) + 1 }, () => new Float64Array(read));
  targets.forEach((target, row) => {
    sources.forEach((source, column) => {
      if (target >= 0 && source >= 0 && weights[row]) sums[target][source] += weights[row][column];
    });
  });
  return sums.flatMap((row, word) => {
    const most = row.reduce((one, other) => Math.max(one, other), 0);
    return most > 0 ? [/** @type {[number, number]} */ ([row.indexOf(most), word])] : [];
  });
}
