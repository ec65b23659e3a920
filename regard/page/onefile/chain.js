// A linear-chain CRF over tags: the best sequence by Viterbi's algorithm, and the probability of each tag at each word.

/** @typedef {{ between: number[][], first: number[], last: number[] }} Chain scores of pairs, of first and last tags */

/**
 * The most probable tags, and the first of equal ones.
 * @type {(chain: Chain, emissions: Float64Array[]) => number[]}
 */
export function bestTags({ between, first, last }, emissions) {
  let alpha = emissions[0].map((score, tag) => score + first[tag]);
  /** @type {number[][]} */
  const origins = [];
  for (const row of emissions.slice(1)) {
    const origin = [...row.keys()].map((after) => {
      return alpha.reduce((best, score, tag) => {
        return score + between[tag][after] > alpha[best] + between[best][after] ? tag : best;
      }, 0);
    });
    origins.push(origin);
    const before = alpha;
    alpha = row.map((score, after) => score + before[origin[after]] + between[origin[after]][after]);
  }
  const ends = alpha.map((score, tag) => score + last[tag]);
  const tags = [ends.indexOf(Math.max(...ends))];
  for (const origin of origins.reverse()) tags.unshift(origin[tags[0]]);
  return tags;
}

/** @type {(values: number[]) => number} */
function logSum(values) {
  const most = Math.max(...values);
  return most + Math.log(values.reduce((sum, value) => sum + Math.exp(value - most), 0));
}

/**
 * The probability of each tag at each word, by the forward and the backward algorithm.
 * @type {(chain: Chain, emissions: Float64Array[]) => number[][]}
 */
export function marginals({ between, first, last }, emissions) {
  const forward = [[...emissions[0]].map((score, tag) => score + first[tag])];
  for (const row of emissions.slice(1)) {
    const alpha = forward[forward.length - 1];
    forward.push([...row].map((score, after) => {
      return score + logSum(alpha.map((value, tag) => value + between[tag][after]));
    }));
  }
  const backward = [last];
  for (const row of emissions.slice(1).reverse()) {
    const [beta] = backward;
    backward.unshift(last.map((_, tag) => {
      return logSum([...row].map((score, after) => between[tag][after] + score + beta[after]));
    }));
  }
  const total = logSum(forward[forward.length - 1].map((value, tag) => value + last[tag]));
  return forward.map((alpha, place) => alpha.map((value, tag) => Math.exp(value + backward[place][tag] - total)));
}
