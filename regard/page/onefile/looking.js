// The views of the one-file page: the attention and the beam of one line, each under a tab.

import { remember, wished } from "../parts/address.js";
import { layOutAttention, mountAttention, showAttention } from "../views/attention.js";
import { button, byId, element, reachable, walkable } from "../parts/common.js";
import { followWidth } from "../parts/opening.js";
import { say } from "../parts/texts.js";
import { mountTree, showTree } from "../views/tree.js";

/** @import { Output } from "./translating.js" */

const TABS = ["attention", "beam"];
/** @type {Record<string, (found: any) => void>} */
const SHOWN_BY = {
  attention: ({ attention }) => showAttention(attention, wished()),
  beam: ({ beam }) => showTree(beam, wished()),
};

let openTab = TABS[0];
/** @type {Output | null} */
let explained = null;

/**
 * Show one translation in the open view.
 * @type {(output: Output) => void}
 */
export function showOutput(output) {
  explained = output;
  SHOWN_BY[openTab](output.explain());
}

/**
 * Open a view; the first if there is none of this name.
 * @type {(name: string) => void}
 */
export function openTabOf(name) {
  openTab = TABS.includes(name) ? name : TABS[0];
  for (const each of TABS) {
    byId(`${each}-tab`).setAttribute("aria-selected", each === openTab);
    byId(`${each}-view`).hidden = each !== openTab;
  }
  reachable(TABS.map((each) => byId(`${each}-tab`)), byId(`${openTab}-tab`));
  if (explained) showOutput(explained);
}

/** Mount the views. */
export function mountLooking() {
  for (const name of TABS) {
    const controls = { role: "tab", id: `${name}-tab`, class: "tab", "aria-controls": `${name}-view` };
    byId("tabs").append(button({ ...controls, "data-view": name }, say(`why.${name}`)));
    const about = { role: "tabpanel", "aria-labelledby": `${name}-tab` };
    byId("views").append(element("div", { id: `${name}-view`, class: "view", hidden: "", ...about }));
  }
  mountAttention(byId("attention-view"));
  mountTree(byId("beam-view"));
  followWidth(() => explained && openTab === "attention" && layOutAttention(), byId("attention-view"));
  walkable(byId("tabs"), ".tab");
  for (const event of ["click", "focusin"]) {
    byId("tabs").addEventListener(event, (/** @type {any} */ { target }) => {
      const { view } = target.dataset;
      if (!view || view === openTab) return;
      remember({ view: view === TABS[0] ? null : view });
      openTabOf(view);
    });
  }
}
