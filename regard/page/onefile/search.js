// Beam search for one sentence, by the rules of `regard.engines.plain_beam`, with a record of what it kept.

/**
 * @typedef {object} Best the outcome of a step, by row
 * @property {number[][]} values log-probabilities of the best continuations, best first
 * @property {number[][]} tokens their tokens
 * @property {number[]} end the log-probability of the end
 * @property {Float32Array[][]} looks the attention of each block to the source, (head, source) row by row
 * @property {Float32Array[][]} back its attention to the tokens so far, (head, token) row by row
 */
/** @typedef {(tokens: number[], origins: number[], count: number) => Promise<Best>} Step */
/**
 * @typedef {object} Searching
 * @property {number} beam
 * @property {number} length_penalty
 * @property {string} length_penalty_kind
 * @property {string} stop
 * @property {number} longest_ratio
 * @property {number} longest_extra
 */
/**
 * @typedef {object} Hypothesis
 * @property {number[]} tokens
 * @property {number[]} scores log-probabilities, the end's last if it ended
 * @property {Float32Array[][]} looks
 * @property {Float32Array[][]} back
 * @property {number} total
 * @property {number} row that it continues
 * @property {number | null} place in the record
 */
/**
 * @typedef {object} Kept a hypothesis that was alive after a step, or ended in it
 * @property {number | null} parent
 * @property {number} token
 * @property {number} logProbability
 * @property {number} total
 * @property {Hypothesis | null} finished
 */

/** @type {Hypothesis} */
const NOTHING = { tokens: [], scores: [], looks: [], back: [], total: 0, row: 0, place: null };

/**
 * The length penalty for this many tokens, including the end.
 * @type {(options: Searching, length: number) => number}
 */
export function divisor({ length_penalty: alpha, length_penalty_kind: kind }, length) {
  if (kind === "wu") return ((5 + length) / 6) ** alpha;
  return kind === "average" ? length ** alpha : 1;
}

/**
 * The most tokens of an output, with its end, for an input of `tokens` tokens.
 * @type {(options: Searching, tokens: number, longest: number) => number}
 */
export function outputLimit({ longest_ratio: ratio, longest_extra: extra }, tokens, longest) {
  return Math.min(Math.trunc(tokens * ratio + 1e-9) + extra, longest);
}

/**
 * The score of a finished hypothesis.
 * @type {(hypothesis: Hypothesis, options: Searching) => number}
 */
export const scoreOfHypothesis = ({ total, scores }, options) => total / divisor(options, scores.length);

/**
 * Search: the finished hypotheses, best first, and the record of all that were kept.
 * @type {(step: Step, limit: number, begin: number, end: number, options: Searching) =>
 *   Promise<{ finished: Hypothesis[], record: Kept[] }>}
 */
export async function beamSearch(step, limit, begin, end, options) {
  const { beam, stop } = options;
  const count = beam === 1 && stop !== "exhaustive" ? 1 : 2 * beam;
  /** @type {Kept[]} */
  const record = [];
  let [living, finished] = [[NOTHING], /** @type {Hypothesis[]} */ ([])];
  while (living.length) {
    const last = living.map(({ tokens }) => tokens.at(-1) ?? begin);
    const best = await step(last, living.map(({ row }) => row), count);
    const length = living[0].tokens.length + 1;
    const isLast = length >= limit;
    const { ended, alive } = isLast ? brokenOff(living, best, beam) : continued(living, best, end, beam);
    for (const hypothesis of ended) keep(record, hypothesis, end, hypothesis);
    for (const hypothesis of alive) keep(record, hypothesis, Number(hypothesis.tokens.at(-1)), null);
    living = alive;
    // A stable sort: among equals the earlier stays first.
    finished = [...finished, ...ended]
      .sort((one, other) => scoreOfHypothesis(other, options) - scoreOfHypothesis(one, options))
      .slice(0, beam);
    if (!living.length || finished.length < beam) continue;
    const most = Math.max(...living.map(({ total }) => total));
    const hope = most / divisor(options, stop === "exhaustive" ? limit : length);
    if (stop === "first" || hope <= scoreOfHypothesis(finished[beam - 1], options)) break;
  }
  return { finished, record };
}

/** @type {(record: Kept[], hypothesis: Hypothesis, token: number, finished: Hypothesis | null) => void} */
function keep(record, hypothesis, token, finished) {
  const { place: parent, scores, total } = hypothesis;
  record.push({ parent, token, logProbability: Number(scores.at(-1)), total, finished });
  if (!finished) hypothesis.place = record.length - 1;
}

/**
 * Of the 2 · beam best continuations, those among the first `beam` that end, and the first `beam` that do not.
 * @type {(living: Hypothesis[], best: Best, end: number, beam: number) =>
 *   { ended: Hypothesis[], alive: Hypothesis[] }}
 */
function continued(living, best, end, beam) {
  const all = living.flatMap((hypothesis, row) => {
    return best.values[row].map((value, column) => ({ row, value, column, sum: hypothesis.total + value }));
  });
  // A stable sort: among equals the earlier row comes first, then the better rank.
  all.sort((one, other) => other.sum - one.sum);
  /** @type {{ ended: Hypothesis[], alive: Hypothesis[] }} */
  const { ended, alive } = { ended: [], alive: [] };
  all.slice(0, 2 * beam).forEach(({ row, value, column }, rank) => {
    const [token, before] = [best.tokens[row][column], living[row]];
    if (token !== end && alive.length < beam) {
      const more = { tokens: [...before.tokens, token], ...lookedAt(before, best, row), row };
      alive.push({ ...before, ...more, scores: [...before.scores, value], total: before.total + value });
    } else if (token === end && rank < beam) ended.push(endedWith(before, value, best, row));
  });
  return { ended, alive };
}

/**
 * All live hypotheses ended, best first, where an output may not be longer.
 * @type {(living: Hypothesis[], best: Best, beam: number) => { ended: Hypothesis[], alive: Hypothesis[] }}
 */
function brokenOff(living, best, beam) {
  const ended = living.map((hypothesis, row) => endedWith(hypothesis, best.end[row], best, row));
  return { ended: ended.sort((one, other) => other.total - one.total).slice(0, beam), alive: [] };
}

/** @type {(before: Hypothesis, value: number, best: Best, row: number) => Hypothesis} */
function endedWith(before, value, best, row) {
  const more = { scores: [...before.scores, value], total: before.total + value };
  return { ...before, ...more, ...lookedAt(before, best, row) };
}

/**
 * The attention of a hypothesis after one more token.
 * @type {(before: Hypothesis, best: Best, row: number) => Pick<Hypothesis, "looks" | "back">}
 */
function lookedAt({ looks, back }, best, row) {
  return { looks: [...looks, best.looks[row]], back: [...back, best.back[row]] };
}
