// The state of the page is kept in the fragment of the address, which browsers never send to a server.

/** @typedef {Record<string, any>} Wish the requested state, by name; strings if it comes from an address */

/** @type {string | null} */
let aside = null; // the fragment if the address cannot be changed, as in the frames of a notebook

const written = () => new URLSearchParams(aside ?? location.hash.slice(1));

/**
 * The state in the fragment; if a name occurs twice, the last value counts.
 * @returns {Wish}
 */
export const wished = () => Object.fromEntries(written());

/**
 * All values of a name in the fragment.
 * @param {string} name
 */
export const wishedAll = (name) => written().getAll(name);

/**
 * Put values into the fragment: a list gives several values, null removes a name, all other names stay.
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
    aside = String(fragment); // some browsers also limit the rate of changes
  }
}
