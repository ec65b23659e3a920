// The page of `regard heads --roles`: a table of heads by roles for each side.

import { byId, element, section } from "../parts/common.js";
import { enclosed, openPlainPage } from "../parts/opening.js";
import { decimal, isSaid, say } from "../parts/texts.js";

/** @typedef {{ where: string, block: number, head: number, strongest: number, mean_weight: number }} Head */
/**
 * @typedef {object} Role
 * @property {string} side
 * @property {string} role
 * @property {number | null} position_alone
 * @property {number | null} offset
 * @property {Head} best
 * @property {boolean} beats_position
 * @property {Head[]} heads
 */

/** @type {(head: Head) => string} */
const nameOf = ({ block, head }) => `${block}.${head}`;

/** @type {(role: Role) => boolean} */
const isDistance = ({ offset, position_alone: alone }) => offset === null && alone !== null;

/** @type {(role: Role, value: number) => string} */
const shown = (role, value) => (isDistance(role) ? decimal(value, 1) : decimal(100 * value, 0));

/**
 * A cell, as dark as its share, or its part of the largest distance.
 * @type {(role: Role, value: number) => HTMLTableCellElement}
 */
function cell(role, value) {
  const largest = isDistance(role) ? Math.max(...role.heads.map((head) => head.strongest)) : 1;
  const share = largest ? Math.min(1, value / largest) : 0;
  const made = element("td", {}, shown(role, value));
  made.style.setProperty("--share", share.toFixed(3));
  return made;
}

/** @type {(roles: Role[], head: Head) => HTMLTableRowElement} */
function headRow(roles, head) {
  const cells = roles.map((role) => {
    const found = role.heads.find((other) => nameOf(other) === nameOf(head));
    if (!found) return element("td", {});
    const made = cell(role, found.strongest);
    const values = { strongest: shown(role, found.strongest), weight: shown(role, found.mean_weight) };
    made.title = say("roles.mean", { head: nameOf(head), ...values });
    const isBest = nameOf(role.best) === nameOf(head);
    if (isBest) made.setAttribute("aria-current", role.beats_position ? "true" : "location");
    return made;
  });
  return element("tr", {}, element("th", { scope: "row" }, nameOf(head)), ...cells);
}

/** @type {(roles: Role[]) => HTMLElement} */
function tableOf(roles) {
  const names = roles.map(({ role }) => {
    const name = role.replaceAll(" ", "_");
    return isSaid(`role_names.${name}`) ? say(`role_names.${name}`) : role;
  });
  const titles = [say("roles.head"), ...names].map((name) => element("th", { scope: "col" }, name));
  const heads = [...new Map(roles.flatMap(({ heads }) => heads).map((head) => [nameOf(head), head])).values()];
  const alone = roles.map((role) => {
    return role.position_alone === null ? element("td", {}, "–") : cell(role, role.position_alone);
  });
  const table = element(
    "table",
    {},
    element("thead", {}, element("tr", {}, ...titles)),
    element("tbody", {}, ...heads.map((head) => headRow(roles, head))),
    element("tfoot", {}, element("tr", {}, element("th", { scope: "row" }, say("roles.alone")), ...alone)),
  );
  return element("div", { class: "roles", tabindex: 0 }, table);
}

const data = enclosed();
openPlainPage(say("roles.page"), `${data.title}. ${say("roles.about", { count: data.sentences })}`);
byId("views").append(element("p", { class: "caption" }, say("roles.caption")));
for (const side of new Set(data.roles.map((/** @type {Role} */ role) => role.side))) {
  const roles = data.roles.filter((/** @type {Role} */ role) => role.side === side);
  const name = `sides.${side.replaceAll(" ", "_")}`;
  const title = isSaid(name) ? say(name) : side;
  byId("views").append(section(`side-${side.replaceAll(" ", "-")}`, title, tableOf(roles)));
}
