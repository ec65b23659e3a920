// A panel of a desk about the text that is typed there, under a heading that opens. While it is closed, nothing is
// requested.

import { remember, wished } from "../parts/address.js";
import { oneAtATime } from "../parts/asking.js";
import { element } from "../parts/common.js";
import { onceSeen } from "../parts/seeing.js";
import { say } from "../parts/texts.js";

/** @import { Model } from "../parts/server.js" */
/**
 * @typedef {object} Panel
 * @property {HTMLElement} root
 * @property {HTMLElement} holder its content
 * @property {(models: Model[]) => void} offer offers those models that can show it
 * @property {() => void} follow shows the state that the address describes
 * @property {() => void} again shows the content for the text as it is now
 * @property {() => void} typed does the same after a pause in the typing
 */
/** @typedef {{ page: string, about: string, empty: string }} Says */
/** @typedef {(model: Model, text: string, signal: AbortSignal) => Promise<() => void>} Load */

const PAUSE = 250; // milliseconds without a key press before the text is sent

/**
 * Make a panel. Its id, also in the address, is `id`, and `says` has its heading and what it says without a text.
 * `textOf` returns the text, `offers` says which models can show it, and `load` requests the content for a text and
 * returns the function that shows it.
 * @type {(id: string, says: Says, textOf: () => string, offers: (model: Model) => boolean, load: Load) => Panel}
 */
export function makeFolding(id, says, textOf, offers, load) {
  const ids = { view: `${id}-view`, trouble: `${id}-trouble` };
  const choice = element("select", { "aria-label": say("why.model"), hidden: "" });
  const about = element("small", {}, says.about);
  const title = element("summary", {}, element("h2", { class: "view-title" }, says.page, " "), about);
  const trouble = element("p", { id: ids.trouble, class: "trouble", role: "alert", hidden: "" });
  const empty = element("p", { class: "hint" }, says.empty);
  const holder = element("div", { id: ids.view, hidden: "" });
  const root = element("details", { id, class: "folding", hidden: "" }, title, choice, trouble, empty, holder);
  const asking = oneAtATime(ids.view, ids.trouble, () => (holder.hidden = true));
  /** @type {Model[]} */
  let models = [];
  /** @type {number | undefined} */
  let waiting; // timer for a pause in the typing

  function request() {
    clearTimeout(waiting);
    const text = textOf();
    const model = models.find(({ name }) => name === choice.value);
    empty.hidden = text.trim() !== "";
    if (!root.open || !text.trim() || !model) {
      asking.forget();
      holder.hidden = true;
      return;
    }
    asking.attempt(async (signal) => {
      const show = await load(model, text, signal);
      if (signal.aborted) return;
      holder.hidden = false; // only visible elements can be measured
      show();
    });
  }

  const again = () => onceSeen(root, request);
  const tell = () => {
    remember({ [id]: root.open ? choice.value : null });
    again();
  };
  root.addEventListener("toggle", tell);
  choice.addEventListener("change", tell);
  return {
    root,
    holder,
    again,
    offer: (served) => {
      models = served.filter(offers);
      offerModels(root, choice, models.map(({ name }) => name));
    },
    follow: () => {
      const model = wished()[id];
      root.open = model !== undefined;
      if (models.some(({ name }) => name === model)) choice.value = model;
    },
    typed: () => {
      clearTimeout(waiting);
      if (root.open) waiting = setTimeout(again, PAUSE);
    },
  };
}

/**
 * List the models that can show it; without any, there is no panel.
 * @type {(root: HTMLElement, choice: HTMLSelectElement, names: string[]) => void}
 */
function offerModels(root, choice, names) {
  const chosen = names.includes(choice.value) ? choice.value : names[0];
  choice.replaceChildren(...names.map((value) => element("option", { value }, value)));
  if (chosen !== undefined) choice.value = chosen;
  choice.hidden = names.length < 2;
  root.hidden = !names.length;
}
