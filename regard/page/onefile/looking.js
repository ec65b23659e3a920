// The views of a one-file page, each under a tab: the attention, the beam, or the next word.

import { remember, wished } from "../parts/address.js";
import { button, byId, element, reachable, walkable } from "../parts/common.js";
import { followWidth } from "../parts/opening.js";
import { say } from "../parts/texts.js";

/**
 * @typedef {object} View
 * @property {(holder: HTMLElement) => void} mount
 * @property {(found: any, wish: any) => void} show
 * @property {() => void} [layOut] draw again for another width
 */
/** @typedef {() => Record<string, any>} Explain the data of the views, by their names */

/** @type {Record<string, View>} */
let views = {};
let openTab = "";
/** @type {Explain | null} */
let explained = null;

/**
 * Show what a model did in the open view.
 * @type {(explain: Explain) => void}
 */
export function showOutput(explain) {
  explained = explain;
  views[openTab].show(explain()[openTab], wished());
}

/**
 * Open a view; the first if there is none of this name.
 * @type {(name: string) => void}
 */
export function openTabOf(name) {
  const tabs = Object.keys(views);
  openTab = tabs.includes(name) ? name : tabs[0];
  for (const each of tabs) {
    byId(`${each}-tab`).setAttribute("aria-selected", each === openTab);
    byId(`${each}-view`).hidden = each !== openTab;
  }
  reachable(tabs.map((each) => byId(`${each}-tab`)), byId(`${openTab}-tab`));
  if (explained) showOutput(explained);
}

/**
 * Mount the views that a page offers; their names are those of the tabs.
 * @type {(offered: Record<string, View>) => void}
 */
export function mountLooking(offered) {
  views = offered;
  [openTab] = Object.keys(views);
  for (const [name, { mount, layOut }] of Object.entries(views)) {
    const controls = { role: "tab", id: `${name}-tab`, class: "tab", "aria-controls": `${name}-view` };
    byId("tabs").append(button({ ...controls, "data-view": name }, say(`why.${name}`)));
    const about = { role: "tabpanel", "aria-labelledby": `${name}-tab` };
    byId("views").append(element("div", { id: `${name}-view`, class: "view", hidden: "", ...about }));
    mount(byId(`${name}-view`));
    if (layOut) followWidth(() => explained && openTab === name && layOut(), byId(`${name}-view`));
  }
  walkable(byId("tabs"), ".tab");
  for (const event of ["click", "focusin"]) {
    byId("tabs").addEventListener(event, (/** @type {any} */ { target }) => {
      const { view } = target.dataset;
      if (!view || view === openTab) return;
      remember({ view: view === Object.keys(views)[0] ? null : view });
      openTabOf(view);
    });
  }
}
