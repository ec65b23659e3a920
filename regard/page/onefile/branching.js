// A beam search as a tree: what became of each hypothesis, and its lane, as `regard.viewing.hypotheses` finds them.

import { scoreOfHypothesis } from "./search.js";
import { visibleToken, visibleWord } from "./visible.js";

/** @import { Kept, Hypothesis, Searching } from "./search.js" */
/** @import { Tokeniser } from "./tokeniser.js" */
/** @typedef {{ parent: number | null, step: number, rank: number | null, fate: string, [fact: string]: any }} Node */
/** @typedef {{ upper: number[], lower: number[] }} Outline the lanes of a branch in each column, from its first */

const LEFTWARDS = /^[^\p{L}]*[\p{sc=Hebr}\p{sc=Arab}\p{sc=Syrc}\p{sc=Thaa}\p{sc=Nkoo}]/u;
const digits = 4; // decimals of a number in the view

/** @type {(value: number) => number} */
const rounded = (value) => Number(value.toFixed(digits));

/**
 * The data of the tree view.
 * @type {(record: Kept[], finished: Hypothesis[], target: Tokeniser, options: Searching) => any}
 */
export function treeOf(record, finished, target, options) {
  /** @type {number[][]} */
  const written = [];
  record.forEach(({ parent, token }) => written.push([...(parent === null ? [] : written[parent]), token]));
  const names = target.names(record.map(({ token }) => token));
  const last = Math.max(...written.map((tokens) => tokens.length));
  const continuing = new Set(record.map(({ parent }) => parent));
  /** @type {Node[]} */
  const nodes = record.map(({ parent, logProbability, total, finished: ended }, place) => {
    const rank = ended ? finished.indexOf(ended) + 1 || null : null;
    const step = written[place].length;
    const text = target.decode(written[place]);
    const unfinished = continuing.has(place) ? "continued" : step < last ? "dropped" : "open";
    return {
      token: visibleToken(names[place]),
      parent,
      step,
      log_probability: rounded(logProbability),
      total: rounded(total),
      score: ended ? rounded(scoreOfHypothesis(ended, options)) : null,
      rank,
      fate: ended ? (rank === null ? "outdone" : rank === 1 ? "won" : "kept") : unfinished,
      text: text ? visibleWord(text) : "",
    };
  });
  const outputs = finished.map((hypothesis) => record.findIndex((kept) => kept.finished === hypothesis));
  const leftwards = LEFTWARDS.test(nodes[outputs[0]]?.text ?? "");
  return { width: options.beam, leftwards, outputs, nodes, lanes: lanesOf(nodes, outputs) };
}

/**
 * The lanes of all hypotheses, and of those alone that led to an output.
 * @type {(nodes: Node[], outputs: number[]) => Record<string, (number | null)[]>}
 */
function lanesOf(nodes, outputs) {
  const all = treeLanes(nodes);
  if (!outputs.length) return { all, outputs: all };
  /** @type {Set<number>} */
  const lasting = new Set();
  for (const output of outputs) {
    for (let at = /** @type {number | null} */ (output); at !== null; at = nodes[at].parent) lasting.add(at);
  }
  const places = [...lasting].sort((one, other) => one - other);
  const renumbered = new Map(places.map((place, number) => [place, number]));
  const lanes = treeLanes(
    places.map((place) => {
      const { parent } = nodes[place];
      return { ...nodes[place], parent: parent === null ? null : Number(renumbered.get(parent)) };
    }),
  );
  return { all, outputs: nodes.map((_, place) => lanes[renumbered.get(place) ?? -1] ?? null) };
}

/**
 * The lane of each hypothesis: 0 is at the top, and each branch moves up as far as its neighbours allow.
 * @type {(nodes: Node[]) => number[]}
 */
export function treeLanes(nodes) {
  const order = orderedChildren(nodes);
  /** @type {Outline[]} */
  const outlines = [];
  /** @type {number[]} */
  const offsets = [];
  for (let place = nodes.length - 1; place >= -1; place--) {
    const branches = order[place + 1].map((child) => ({ child, outline: outlines[child] }));
    const outline = hang(branches, offsets);
    if (place >= 0) outlines[place] = outline;
  }
  /** @type {number[]} */
  const lanes = [];
  nodes.forEach(({ parent }, place) => lanes.push(offsets[place] + (parent === null ? 0 : lanes[parent])));
  return lanes;
}

/**
 * The children of the root and of each hypothesis: first the one in its own lane, which leads farthest, then by length.
 * @type {(nodes: Node[]) => number[][]}
 */
function orderedChildren(nodes) {
  const best = nodes.map(({ rank }) => rank ?? Infinity);
  const last = nodes.map(({ step }) => step);
  /** @type {number[][]} */
  const children = Array.from({ length: nodes.length + 1 }, () => []);
  nodes.forEach(({ parent }, place) => children[parent === null ? 0 : parent + 1].push(place));
  for (let place = nodes.length - 1; place >= 0; place--) {
    const { parent } = nodes[place];
    if (parent === null) continue;
    best[parent] = Math.min(best[parent], best[place]);
    last[parent] = Math.max(last[parent], last[place]);
  }
  /** @type {(one: number, other: number) => number} */
  const before = (one, other) => (best[one] === best[other] ? last[other] - last[one] : best[one] - best[other]);
  return children.map((each) => {
    const [first] = [...each].sort(before);
    const others = each.filter((child) => child !== first).sort((one, other) => last[one] - last[other]);
    return first === undefined ? [] : [first, ...others];
  });
}

/**
 * Stack branches, record by how many lanes each is lowered, and return the outline including their parent.
 * @type {(branches: { child: number, outline: Outline }[], offsets: number[]) => Outline}
 */
function hang(branches, offsets) {
  /** @type {number[]} */
  let upper = [];
  /** @type {number[]} */
  let lower = [];
  for (const { child, outline } of branches) {
    const shared = Math.min(lower.length, outline.upper.length);
    const gaps = Array.from({ length: shared }, (_, column) => lower[column] - outline.upper[column] + 1);
    const shift = gaps.length ? Math.max(...gaps) : 0;
    offsets[child] = shift;
    upper = [...upper, ...outline.upper.slice(upper.length).map((lane) => lane + shift)];
    lower = [...outline.lower.map((lane) => lane + shift), ...lower.slice(outline.lower.length)];
  }
  return { upper: [0, ...upper], lower: [0, ...lower] };
}
