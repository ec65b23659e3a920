// What is shown stands in the fragment of the address, which no server is ever told.

/** @typedef {Record<string, any>} Wish what is wished for, by name; from an address, texts */

/** @type {string | null} */
let aside = null; // the same, where the address cannot be changed: in a notebook a page stands in a frame without one

const written = () => new URLSearchParams(aside ?? location.hash.slice(1));

/**
 * What the fragment asks for; of what is named twice, the last.
 * @returns {Wish}
 */
export const wished = () => Object.fromEntries(written());

/**
 * All values that the fragment has under a name.
 * @param {string} name
 */
export const wishedAll = (name) => written().getAll(name);

/**
 * Put values into the fragment: a list under one name, null for none; what else stands there stays.
 * @param {Wish} values
 */
export function remember(values) {
  const fragment = written();
  for (const [name, value] of Object.entries(values)) {
    const [first, ...more] = Array.isArray(value) ? value : [value];
    if (first === null || first === undefined) fragment.delete(name);
    else fragment.set(name, first);
    more.forEach((each) => fragment.append(name, each));
  }
  if (String(fragment) === String(written())) return;
  try {
    history.replaceState(null, "", `#${fragment}`);
    aside = null;
  } catch {
    aside = String(fragment); // some browsers also allow only so many changes in a while
  }
}
