// Edits of attention, as the server and `regard look --edit` read them: how to make, name, save and undo them.

/** @typedef {number | string} Head the number of a head, or "mean" or "max" for all heads of a block */
/** @typedef {{ side: string, layer: number, head: Head }} Shown */
/** @typedef {Record<string, any> & { at: string, do: string }} Edit for the server; places count tokens from 0 */
/** @typedef {{ rows: string[], columns: string[], row_of_token: number[], column_of_token: number[] }} Side */
/** @typedef {{ query: string[], from: string[], to: string[] }} Named the words that an edit is about */
/**
 * @typedef {object} Entry an edit, and what the page knows about it
 * @property {Edit} edit
 * @property {string | null} text the sentence whose places it names; null holds for every sentence
 * @property {Named | null} named
 * @property {string | null} model the checksum of the model that a record names
 */

const MOST_EDITS = 64; // that the server takes
const MOST_CHARACTERS = 1_000_000; // of a record
const SPACE = /[^\S\u00a0\u202f]+/; // between words; other spaces are inside numbers

/**
 * The places of the tokens of a row or a column.
 * @type {(places: number[], at: number) => number[]}
 */
const tokensOf = (places, at) => [...places.keys()].filter((token) => places[token] === at);

/** @type {(shown: Shown) => string} */
export const nameOf = ({ side, layer, head }) => {
  return typeof head === "number" ? `${side}.${layer}.${head}` : `${side}.${layer}`;
};

/**
 * The edit that moves a link of one row to another column; without a column to move it from, all its weight goes there.
 * @type {(side: Side, shown: Shown, row: number, from: number | null, to: number) => Edit}
 */
export function linkEdit(side, shown, row, from, to) {
  const at = nameOf(shown);
  const queries = tokensOf(side.row_of_token, row);
  const keys = tokensOf(side.column_of_token, to);
  if (from === null) return { at, do: "force", queries, keys };
  return { at, do: "move", queries, keys: tokensOf(side.column_of_token, from), to: keys[0] };
}

/**
 * The edit that switches a head off.
 * @type {(shown: Shown) => Edit}
 */
export const headEdit = (shown) => ({ at: nameOf(shown), part: "head", do: "zero" });

/**
 * Whether an edit switches a whole head off.
 * @type {(edit: Edit) => boolean}
 */
export const isOff = (edit) => edit.part === "head" && edit.do === "zero" && !namesPlaces(edit);

/** @type {(edit: Edit) => boolean} */
export const namesPlaces = (edit) => ["queries", "keys", "rows", "to"].some((name) => (edit[name] ?? null) !== null);

/**
 * Side, block and head that an edit names; nothing for a module.
 * @type {(at: string) => { side: string, layer: number, head: number | null } | null}
 */
export function placeOf(at) {
  const found = /^([a-z ]+)\.(\d+)(?:\.(\d+))?$/.exec(at);
  return found && { side: found[1], layer: Number(found[2]), head: found[3] ? Number(found[3]) : null };
}

/**
 * The name of a block or a head with its side, which may be omitted if there is only one.
 * @type {(at: string, sides: string[]) => string}
 */
export const fullName = (at, sides) => (sides.length === 1 && /^\d+(\.\d+)?$/.test(at) ? `${sides[0]}.${at}` : at);

/** @type {(places: unknown) => number[]} */
const listed = (places) => [places ?? []].flat().map(Number);

/**
 * The rows and columns of tokens, each once.
 * @type {(places: number[], tokens: number[]) => number[]}
 */
const linesOf = (places, tokens) => [...new Set(tokens.map((token) => places[token]))].filter((at) => at !== undefined);

/**
 * The words that an edit is about, as they stand on a side.
 * @type {(edit: Edit, side: Side) => Named}
 */
export function namedIn(edit, { rows, columns, row_of_token, column_of_token }) {
  const keys = linesOf(column_of_token, listed(edit.keys)).map((at) => columns[at]);
  const to = linesOf(column_of_token, listed(edit.to)).map((at) => columns[at]);
  const query = linesOf(row_of_token, listed(edit.queries)).map((at) => rows[at]);
  return edit.do === "move" ? { query, from: keys, to } : { query, from: [], to: keys };
}

/**
 * Where edits show on the sides: the cells they give weight to, and the heads they switch off.
 * @type {(edits: Edit[], sides: Record<string, Side>) => import("../../views/attention/state.js").Edited[]}
 */
export function marksOf(edits, sides) {
  return edits.flatMap((edit) => {
    const place = placeOf(edit.at);
    const side = place && sides[place.side];
    if (!side) return [];
    const rows = edit.queries === undefined ? null : linesOf(side.row_of_token, listed(edit.queries));
    const columns = linesOf(side.column_of_token, listed(edit.do === "move" ? edit.to : edit.keys));
    return [{ ...place, rows, columns, off: isOff(edit) }];
  });
}

/**
 * The entries that hold for a sentence.
 * @type {(entries: Entry[], text: string) => Entry[]}
 */
export const holding = (entries, text) => entries.filter((entry) => entry.text === null || entry.text === text);

/**
 * The states before the last change that this sentence shows.
 * @type {(past: Entry[][], now: Entry[], text: string) => Entry[][]}
 */
export function pastOf(past, now, text) {
  /** @type {(entries: Entry[]) => string} */
  const shown = (entries) => JSON.stringify(holding(entries, text).map(({ edit }) => edit));
  const last = past.findLastIndex((entries) => shown(entries) !== shown(now));
  return past.slice(0, last + 1);
}

/**
 * The record to save.
 * @type {(edits: Edit[], model: string | null) => object}
 */
export const recordOf = (edits, model) => ({ format: 1, ...(model ? { model } : {}), edits });

/**
 * The edits of a saved record, and its model; nothing if it is no record.
 * @type {(written: string) => { edits: Edit[], model: string | null } | null}
 */
export function readRecord(written) {
  if (written.length > MOST_CHARACTERS) return null;
  let record;
  try {
    record = JSON.parse(written);
  } catch {
    return null;
  }
  const edits = record?.edits;
  if (record?.format !== 1 || !Array.isArray(edits) || !edits.length || edits.length > MOST_EDITS) return null;
  const isEdit = (/** @type {any} */ edit) => typeof edit?.at === "string" && typeof edit.do === "string";
  return edits.every(isEdit) ? { edits, model: typeof record.model === "string" ? record.model : null } : null;
}

/** @typedef {{ word: string, isNew: boolean }[]} Marked */

/**
 * The words of a text, each with whether the other text lacks it: place by place, or else at that place of the order.
 * @type {(text: string, other: string) => Marked}
 */
export function changedWords(text, other) {
  const [words, others] = [text, other].map((each) => each.split(SPACE).filter(Boolean));
  const inOrder = changedInOrder(words, others);
  const byPlace = words.map((word, place) => ({ word, isNew: word !== others[place] }));
  /** @type {(marked: Marked) => number} */
  const count = (marked) => marked.filter(({ isNew }) => isNew).length;
  return words.length === others.length && count(byPlace) <= count(inOrder) ? byPlace : inOrder;
}

/** @type {(words: string[], others: string[]) => Marked} */
function changedInOrder(words, others) {
  // common[i][j]: the most words in the same order that words from i on and others from j on share
  const common = Array.from({ length: words.length + 1 }, () => new Array(others.length + 1).fill(0));
  for (let i = words.length - 1; i >= 0; i--) {
    for (let j = others.length - 1; j >= 0; j--) {
      common[i][j] = words[i] === others[j] ? common[i + 1][j + 1] + 1 : Math.max(common[i + 1][j], common[i][j + 1]);
    }
  }
  let j = 0;
  return words.map((word, i) => {
    while (j < others.length && others[j] !== word && common[i][j + 1] === common[i][j]) j++;
    const isNew = others[j] !== word;
    if (!isNew) j++;
    return { word, isNew };
  });
}
