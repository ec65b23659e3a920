// A panel of a desk under a heading that opens, about the text that is typed there. While it is closed, nothing is
// requested.

import { remember, wished } from "../parts/address.js";
import { oneAtATime } from "../parts/asking.js";
import { element } from "../parts/common.js";
import { onceSeen } from "../parts/seeing.js";
import { say } from "../parts/texts.js";

/** @import { Child } from "../parts/common.js" */
/** @import { Model } from "../parts/server.js" */
/**
 * @typedef {object} Folded
 * @property {HTMLElement} root
 * @property {HTMLElement} holder
 * @property {(models: Model[]) => void} offer offers those models that can show it
 * @property {() => void} follow shows the state that the address describes
 * @property {() => void} again shows it for the text as it is now
 * @property {() => void} typed does the same after a pause in the typing
 */
/**
 * @typedef {object} Folding
 * @property {string} name its ids and its names in the address begin with it
 * @property {string} kind the end of its id and of its name in the address
 * @property {{ title: string, about: string, empty: string }} texts its heading, and what it says without an input
 * @property {string} can what models have to be able to do
 * @property {() => any} given returns what is typed; nothing is shown without it
 * @property {(model: string, given: any, signal: AbortSignal) => Promise<void>} show
 * @property {Child[]} [controls]
 */

const PAUSE = 250; // milliseconds without a key press before the text is sent

/** @type {(given: any) => boolean} */
const isBlank = (given) => given === undefined || given === null || (typeof given === "string" && !given.trim());

/** @type {(panel: Folding) => Folded} */
export function makeFolded({ name, kind, texts, can, given, show, controls = [] }) {
  const id = `${name}-${kind}`;
  const choice = element("select", { "aria-label": say("why.model"), hidden: "" });
  const about = element("small", {}, texts.about);
  const title = element("summary", {}, element("h2", { class: "view-title" }, texts.title, " "), about);
  const trouble = element("p", { id: `${id}-trouble`, class: "trouble", role: "alert", hidden: "" });
  const empty = element("p", { class: "hint" }, texts.empty);
  const holder = element("div", { id: `${id}-view`, hidden: "" });
  const root = element("details", { id, class: "passing", hidden: "" });
  root.append(title, choice, ...controls, trouble, empty, holder);
  const asking = oneAtATime(`${id}-view`, `${id}-trouble`, () => (holder.hidden = true));
  /** @type {number | undefined} */
  let waiting; // timer for a pause in the typing

  function request() {
    clearTimeout(waiting);
    const input = given();
    empty.hidden = !isBlank(input);
    if (!root.open || isBlank(input)) {
      asking.forget();
      holder.hidden = true;
      return;
    }
    asking.attempt((signal) => show(choice.value, input, signal));
  }

  const again = () => onceSeen(root, request);
  const change = () => {
    remember({ [id]: root.open ? choice.value : null });
    again();
  };
  root.addEventListener("toggle", change);
  choice.addEventListener("change", change);
  return {
    root,
    holder,
    again,
    offer: (models) => offerModels(root, choice, models.filter((model) => model.can.includes(can))),
    follow: () => {
      const model = wished()[id];
      root.open = model !== undefined;
      if ([...choice.options].some(({ value }) => value === model)) choice.value = model;
    },
    typed: () => {
      clearTimeout(waiting);
      if (root.open) waiting = setTimeout(again, PAUSE);
    },
  };
}

/**
 * List the models that can be asked; without any, there is no panel.
 * @type {(root: HTMLElement, choice: HTMLSelectElement, models: Model[]) => void}
 */
function offerModels(root, choice, models) {
  const names = models.map(({ name }) => name);
  const chosen = names.includes(choice.value) ? choice.value : names[0];
  choice.replaceChildren(...names.map((value) => element("option", { value }, value)));
  if (chosen !== undefined) choice.value = chosen;
  choice.hidden = names.length < 2;
  root.hidden = !names.length;
}
