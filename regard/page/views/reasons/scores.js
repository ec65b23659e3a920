// Scores of an input's parts: joined into words, compared with each other and, as a whole map, with chance.

/** @typedef {{ tokens: string[], words: string[], word_of_token: number[] }} Tokens */
/** @typedef {{ value: number | null, random: number | null, deviation: number | null }} Figure null: not a number */
/** @typedef {{ value: number | null, random: number | null }} Agreement */
/** @typedef {{ name: string, area: Agreement, mass: Agreement, top: Agreement }} Truth */
/** @typedef {{ figures: Record<string, Figure>, truth?: Truth | null }} Trust */
/** @typedef {{ method: string, scores: (number | null)[], remarks: string[], trust?: Trust | null }} ScoreMap */
/** @typedef {{ name: string, score: number, places: number[] }} Part a word, a token or another unit of the input */

export const MOST_PARTS = 60; // parts that are shown if they are not words of a text

/**
 * The parts of an input with their scores: its words, each with the sum of its tokens, or all units.
 * @param {string[]} units
 * @param {(number | null)[]} scores
 * @param {Tokens | null} words
 * @returns {Part[]}
 */
export function partsOf(units, scores, words) {
  if (!words) return units.map((name, place) => ({ name, score: scores[place] ?? 0, places: [place] }));
  /** @type {Part[]} */
  const parts = words.words.map((name) => ({ name, score: 0, places: [] }));
  words.word_of_token.forEach((word, token) => {
    parts[word].score += scores[token] ?? 0;
    parts[word].places.push(token);
  });
  return parts.filter(({ places }) => places.length);
}

/**
 * The parts to show: all, or those with the largest scores in their order.
 * @param {Part[]} parts
 * @param {number} most
 */
export function strongest(parts, most = MOST_PARTS) {
  if (parts.length <= most) return parts;
  const ranked = [...parts].sort((one, other) => Math.abs(other.score) - Math.abs(one.score));
  const kept = new Set(ranked.slice(0, most));
  return parts.filter((part) => kept.has(part));
}

/**
 * Each score divided by the largest absolute one: how full its colour is, from −1 to 1.
 * @param {number[]} scores
 */
export function tintsOf(scores) {
  const largest = Math.max(...scores.map(Math.abs), 0);
  return scores.map((score) => (largest ? score / largest : 0));
}

/**
 * Each score divided by the sum of absolute values, so that methods can be compared.
 * @param {number[]} scores
 */
export function sharesOf(scores) {
  const sum = scores.reduce((total, score) => total + Math.abs(score), 0);
  return scores.map((score) => (sum ? score / sum : 0));
}

const SAME = 0.005; // probabilities that differ by less look the same with two digits

/**
 * How a figure for which high is good compares with random orders: outside of one deviation it is better or worse.
 * @param {Figure} figure
 * @returns {"better" | "chance" | "worse" | "unknown"}
 */
export function verdictOf({ value, random, deviation }) {
  if (value === null || random === null || deviation === null) return "unknown";
  if (Math.abs(value - random) <= Math.max(deviation, SAME)) return "chance";
  return value > random ? "better" : "worse";
}

/**
 * The words of a text that can be explained by the text before them, with where each begins; the first has none.
 * @param {string} text
 * @returns {{ word: string, start: number }[]}
 */
export function explainableWords(text) {
  return [...text.matchAll(/\S+/gu)].map((found) => ({ word: found[0], start: found.index })).slice(1);
}

/**
 * The choices as parts: words with the place of their first token, or tokens, each with the places it covers.
 * @param {Tokens} choices
 * @param {boolean} byWord
 */
export function choiceParts(choices, byWord) {
  const parts = partsOf(choices.tokens, choices.tokens.map(() => 0), byWord ? choices : null);
  return parts.map(({ name, places }) => ({ name, places }));
}

/**
 * Whether some word has several tokens, so that words and tokens differ.
 * @param {Tokens | null} words
 */
export const areSplit = (words) => words !== null && new Set(words.word_of_token).size < words.tokens.length;
