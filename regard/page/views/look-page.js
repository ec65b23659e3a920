// The page of `regard look`: all views of one sentence in one file.

import { remember, wished } from "../parts/address.js";
import { layOutAttention, mountAttention, showAttention } from "./attention.js";
import { byId, element } from "../parts/common.js";
import { mountNext, showNext } from "./next.js";
import { enclosed, followAddress, followWidth, openPage } from "../parts/opening.js";
import { changeTree, mountTree, showTree } from "./tree.js";
import { changeAttention } from "./attention/state.js";
import { say } from "../parts/texts.js";

/** @import { Wish } from "../parts/address.js" */

const data = enclosed();
/** @type {((wish: Wish) => void)[]} */
const followers = [];

/**
 * A container for one more view, with a heading if there are several.
 * @type {(name: string, title: string, about: string) => HTMLDivElement}
 */
function room(name, title, about) {
  const heading = element("h2", { class: "view-title", id: `${name}-view-title` }, title);
  const holder = element("div", { id: `${name}-view`, class: "view" });
  byId("views").append(heading, element("p", { class: "caption" }, about), holder);
  return holder;
}

function beginAttention() {
  mountAttention(byId("views"));
  showAttention(data, { ...data.start, ...wished() });
  followWidth(layOutAttention);
  followers.push(changeAttention);
}

/** The candidates at each place of the output; the fragment names the place. */
function beginNext() {
  const { places, tokens } = data.next;
  /** @type {(wish: Wish) => void} */
  const show = (wish) => {
    const at = places[wish.at] ? Number(wish.at) : 0;
    const outputs = "output";
    const around = { before: tokens.slice(0, at), after: tokens.slice(at), language: data.target.language, outputs };
    showNext({ ...places[at], ...around }, wish);
  };
  /** @type {(at: number) => void} */
  const go = (at) => {
    remember({ at: at || null });
    show(wished());
  };
  mountNext(room("next", say("next.view"), say("next.view_about")), { go });
  show(wished());
  followers.push(show);
}

function beginTree() {
  mountTree(room("beam", say("tree.view"), say("tree.view_about")));
  showTree({ source: data.source, ...data.beam }, wished());
  followers.push(changeTree);
}

openPage(say("attention.page"), data);
beginAttention();
if (data.next) beginNext();
if (data.beam) beginTree();
followAddress((wish) => followers.forEach((change) => change(wish)));
