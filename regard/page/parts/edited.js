// The edits under which a page was made, each in a sentence, as `Edit.describe` of regard/base/edits.py writes it.

import { percent } from "./common.js";
import { inLanguage, say } from "./texts.js";

/**
 * @typedef {object} Edit
 * @property {string} at
 * @property {string} [part]
 * @property {string} do
 * @property {number[]} [queries]
 * @property {number[]} [keys]
 * @property {number[]} [units]
 * @property {number[]} [rows]
 * @property {number} [to]
 * @property {number} [by]
 */

const MOST_PLACES = 8; // places along one axis

/**
 * The name of one place, or of several.
 * @type {(one: string, several: string, places: number[]) => string}
 */
function placesText(one, several, places) {
  const more = places.length - MOST_PLACES;
  const first = places.slice(0, MOST_PLACES).join(", ");
  const numbers = more > 0 ? say("edited.and_more", { numbers: first, more }) : first;
  return say(places.length === 1 ? one : several, { numbers });
}

/** @type {(edit: Edit) => string} */
function weightsDeed({ do: deed, keys: places, to, by }) {
  const keys = places ? placesText("edited.key", "edited.keys", places) : say("edited.every_key");
  if (deed === "zero") return say("edited.no_weight", { keys });
  if (deed === "scale") return say("edited.weight_scaled", { keys, by: inLanguage(by ?? 1) });
  if (deed === "force") return say("edited.all_weight", { keys });
  if (deed !== "move") return say("edited.given_weights", { keys });
  if ((by ?? 1) === 1) return say("edited.all_moved", { keys, to: String(to) });
  return say("edited.share_moved", { share: percent(by ?? 1), keys, to: String(to) });
}

/**
 * What an edit changes, and where.
 * @type {(edit: Edit) => string}
 */
export function describedEdit(edit) {
  const { at, part = "weights", do: deed, queries: places, units, rows, by } = edit;
  const inRows = rows ? say("edited.in_rows", { rows: placesText("edited.row", "edited.rows", rows) }) : "";
  if (part === "weights") {
    const queries = places ? placesText("edited.query", "edited.queries", places) : say("edited.every_query");
    return say("edited.weights", { at, deed: weightsDeed(edit), queries, rows: inRows });
  }
  const deeds = /** @type {Record<string, string>} */ ({
    zero: say("edited.zero"),
    scale: say("edited.scaled", { by: inLanguage(by ?? 1) }),
  });
  return say("edited.part", {
    at,
    part: say(`edited.${part}`),
    units: units ? say("edited.of_units", { units: placesText("edited.unit", "edited.units", units) }) : "",
    deed: deeds[deed] ?? say("edited.replaced"),
    places: places ? say("edited.at_places", { places: placesText("edited.place", "edited.places", places) }) : "",
    rows: inRows,
  });
}
