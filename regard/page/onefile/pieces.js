// Splitting text into pieces as SentencePiece does: unigram, byte pairs or characters. A piece without a token is null.

/**
 * @typedef {object} Pieces
 * @property {Map<string, number>} tokens the tokens of pieces that may occur in text
 * @property {number[]} scores by token
 * @property {number} longest characters of the longest piece
 * @property {number} lowest score of a piece
 */
/** @typedef {{ text: string, token: number | null }} Piece */

const UNKNOWN_PENALTY = 10;

/**
 * The most probable way to split a text, by Viterbi's algorithm. Scores are added in 32 bits, as in SentencePiece.
 * @type {(text: string, pieces: Pieces) => Piece[]}
 */
export function unigramPieces(text, { tokens, scores, longest, lowest }) {
  const characters = [...text];
  const unknownScore = Math.fround(lowest - UNKNOWN_PENALTY);
  const best = new Float32Array(characters.length + 1);
  const from = new Int32Array(characters.length + 1).fill(-1);
  /** @type {(number | null)[]} */
  const last = Array(characters.length + 1).fill(null);
  /** @type {(start: number, end: number, score: number, token: number | null) => void} */
  const offerPath = (start, end, score, token) => {
    const total = Math.fround(best[start] + score);
    if (from[end] >= 0 && total <= best[end]) return;
    [best[end], from[end], last[end]] = [total, start, token];
  };
  for (let start = 0; start < characters.length; start++) {
    let piece = "";
    let isSingle = false; // whether the character is a piece of its own
    for (let end = start + 1; end <= Math.min(start + longest, characters.length); end++) {
      piece += characters[end - 1];
      const token = tokens.get(piece);
      if (token === undefined) continue;
      isSingle ||= end === start + 1;
      offerPath(start, end, scores[token], token);
    }
    if (!isSingle) offerPath(start, start + 1, unknownScore, null);
  }
  const found = [];
  for (let end = characters.length; end > 0; end = from[end]) {
    found.push({ text: characters.slice(from[end], end).join(""), token: last[end] });
  }
  return found.reverse();
}

/**
 * The pieces that merging leaves: always the neighbours with the best score, and among equals the leftmost.
 * @type {(text: string, pieces: Pieces) => Piece[]}
 */
export function mergedPieces(text, { tokens, scores }) {
  const parts = [...text];
  /** @type {(left: string, right: string | undefined) => number} */
  const scoreOf = (left, right) => {
    const token = right === undefined ? undefined : tokens.get(left + right);
    return token === undefined ? -Infinity : scores[token];
  };
  const joining = parts.map((part, place) => scoreOf(part, parts[place + 1]));
  for (;;) {
    let place = 0;
    for (let other = 1; other < joining.length; other++) if (joining[other] > joining[place]) place = other;
    if (!parts.length || joining[place] === -Infinity) break;
    parts.splice(place, 2, parts[place] + parts[place + 1]);
    joining.splice(place, 2, scoreOf(parts[place], parts[place + 1]));
    if (place) joining[place - 1] = scoreOf(parts[place - 1], parts[place]);
  }
  return parts.map((part) => ({ text: part, token: tokens.get(part) ?? null }));
}

/**
 * Every character as a piece.
 * @type {(text: string, pieces: Pieces) => Piece[]}
 */
export const characterPieces = (text, { tokens }) => {
  return [...text].map((character) => ({ text: character, token: tokens.get(character) ?? null }));
};
