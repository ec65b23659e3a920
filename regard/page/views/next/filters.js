// The filters of sampling, as in decoding/filters.py; a test compares the two. Distributions are arrays of
// log-probabilities in descending order of the model's probabilities, with -Infinity for removed tokens.

/** @typedef {typeof OFF} Options */

const ROUNDING = 1e-12; // a sum of probabilities this close to a bound counts as reaching it

/**
 * The log-probabilities that are kept, normalized to a sum of 1.
 * @type {(values: Float64Array) => Float64Array}
 */
export function normalised(values) {
  const best = values.reduce((most, value) => Math.max(most, value), -Infinity);
  const sum = values.reduce((total, value) => total + Math.exp(value - best), 0);
  return values.map((value) => value - best - Math.log(sum));
}

/**
 * Keep, in this order, the places before which `mass` was not yet reached.
 * @type {(values: Float64Array, order: number[], mass: number) => Float64Array}
 */
function fewest(values, order, mass) {
  const kept = new Float64Array(values.length).fill(-Infinity);
  let before = 0;
  for (const place of order) {
    if (before < mass - ROUNDING) kept[place] = values[place];
    before += Math.exp(values[place]);
  }
  return normalised(kept);
}

/** @type {(values: Float64Array) => number[]} */
const places = (values) => Array.from(values, (_, place) => place);

/** @type {(values: Float64Array) => number} */
export function entropyOf(values) {
  return values.reduce((sum, value) => (value === -Infinity ? sum : sum - value * Math.exp(value)), 0);
}

/** @type {Record<keyof Options, (values: Float64Array, by: number) => Float64Array>} */
const CUTS = {
  temperature: (values, by) => {
    if (by === 0) return CUTS.top_k(values, 1);
    const best = values[0];
    return normalised(values.map((value) => (value - best) / by));
  },
  top_k: (values, count) => normalised(values.map((value, place) => (place < count ? value : -Infinity))),
  top_p: (values, mass) => fewest(values, places(values), mass),
  min_p: (values, fraction) => {
    const best = values.reduce((most, value) => Math.max(most, value), -Infinity);
    return normalised(values.map((value) => (Math.exp(value - best) < fraction * (1 - ROUNDING) ? -Infinity : value)));
  },
  typical: (values, mass) => {
    const middle = entropyOf(values);
    const distance = values.map((value) => Math.abs(-value - middle));
    return fewest(values, places(values).sort((one, other) => distance[one] - distance[other] || one - other), mass);
  },
};

/**
 * Apply all requested filters in their fixed order.
 * @type {(values: Float64Array, options: Options) => Float64Array}
 */
export function distribution(values, options) {
  const names = /** @type {(keyof Options)[]} */ (Object.keys(CUTS));
  return names.reduce((kept, name) => {
    return options[name] === OFF[name] ? kept : CUTS[name](kept, options[name]);
  }, normalised(values));
}

export const OFF = { temperature: 1, top_k: 0, top_p: 1, min_p: 0, typical: 1 }; // values that change nothing
