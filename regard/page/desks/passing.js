// The forward pass of the text that is typed at a desk, under a heading that opens. While it is closed, nothing is
// requested.

import { remember, wished, wishedAll } from "../parts/address.js";
import { oneAtATime } from "../parts/asking.js";
import { element } from "../parts/common.js";
import { onceSeen } from "../parts/seeing.js";
import { ask } from "../parts/server.js";
import { say } from "../parts/texts.js";
import { mountForward, showForward } from "../views/forward.js";

/** @import { Model } from "../parts/server.js" */
/**
 * @typedef {object} Passing
 * @property {HTMLElement} root
 * @property {(models: Model[]) => void} offer offers those models that can show it
 * @property {() => void} follow shows the state that the address describes
 * @property {() => void} again shows the pass of the text as it is now
 * @property {() => void} typed does the same after a pause in the typing
 */

const PAUSE = 250; // milliseconds without a key press before the text is sent

/**
 * The panel of a desk; its ids and its names in the address begin with `name`, and `textOf` returns the text.
 * @type {(name: string, textOf: () => string) => Passing}
 */
export function makePassing(name, textOf) {
  const ids = { panel: `${name}-pass`, view: `${name}-pass-view`, trouble: `${name}-pass-trouble` };
  const choice = element("select", { "aria-label": say("why.model"), hidden: "" });
  const about = element("small", {}, say("forward.about"));
  const title = element("summary", {}, element("h2", { class: "view-title" }, say("forward.page"), " "), about);
  const trouble = element("p", { id: ids.trouble, class: "trouble", role: "alert", hidden: "" });
  const empty = element("p", { class: "hint" }, say("forward.empty"));
  const holder = element("div", { id: ids.view, hidden: "" });
  const kind = { id: ids.panel, class: "passing", hidden: "" };
  const root = element("details", kind, title, choice, trouble, empty, holder);
  const asking = oneAtATime(ids.view, ids.trouble, () => (holder.hidden = true));
  const view = mountForward(holder, `${name}-forward`, (places, isMissing) => {
    remember({ [`${name}-layers`]: places });
    if (isMissing) again();
  });
  /** @type {number | undefined} */
  let waiting; // timer for a pause in the typing

  function request() {
    clearTimeout(waiting);
    const text = textOf();
    empty.hidden = text.trim() !== "";
    if (!root.open || !text.trim()) {
      asking.forget();
      holder.hidden = true;
      return;
    }
    asking.attempt(async (signal) => {
      const found = await ask("v1/forward", { model: choice.value, text, opened: [...view.open] }, signal);
      if (signal.aborted) return;
      holder.hidden = false;
      showForward(view, found);
    });
  }

  const again = () => onceSeen(root, request);
  const tell = () => remember({ [ids.panel]: root.open ? choice.value : null });
  root.addEventListener("toggle", () => {
    tell();
    again();
  });
  choice.addEventListener("change", () => {
    tell();
    again();
  });
  return {
    root,
    again,
    offer: (models) => offerModels(root, choice, models),
    follow: () => {
      const model = wished()[ids.panel];
      root.open = model !== undefined;
      if ([...choice.options].some(({ value }) => value === model)) choice.value = model;
      view.open = new Set(wishedAll(`${name}-layers`));
    },
    typed: () => {
      clearTimeout(waiting);
      if (root.open) waiting = setTimeout(again, PAUSE);
    },
  };
}

/**
 * List the models whose pass can be shown; without any, there is no panel.
 * @type {(root: HTMLElement, choice: HTMLSelectElement, models: Model[]) => void}
 */
function offerModels(root, choice, models) {
  const names = models.filter(({ can }) => can.includes("forward")).map(({ name }) => name);
  const chosen = names.includes(choice.value) ? choice.value : names[0];
  choice.replaceChildren(...names.map((value) => element("option", { value }, value)));
  if (chosen !== undefined) choice.value = chosen;
  choice.hidden = names.length < 2;
  root.hidden = !names.length;
}
