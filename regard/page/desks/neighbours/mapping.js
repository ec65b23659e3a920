// The map of words: the most frequent ones, or those around the requested word.

import { remember } from "../../parts/address.js";
import { oneAtATime } from "../../parts/asking.js";
import { byId, element, offer } from "../../parts/common.js";
import { changeMap, layOutMap, mountMap, showMap } from "../../views/map.js";
import { onceSeen } from "../../parts/seeing.js";
import { ask } from "../../parts/server.js";
import { say } from "../../parts/texts.js";

/** @import { Wish } from "../../parts/address.js" */

const COUNT = 300; // most frequent words
const AROUND = 40; // neighbours of the requested word
const SCOPES = ["frequent", "around"];
/** @type {Record<string, string>} */
const METHODS = { pca: "mapping.by_pca", "t-sne": "mapping.by_t_sne" }; // and the keys of their names
const [USUAL] = Object.keys(METHODS);

let subject = () => ({ model: "", word: "" }); // the model and the word of the desk
/** @type {{ scope: string | null, method: string }} */
let wanted = { scope: null, method: USUAL };
/** @type {any} */
let shown = null; // the displayed map

const hideMap = () => {
  shown = null;
  byId("map-view").hidden = true;
};
const asking = oneAtATime("map-view", "map-trouble", hideMap);

/**
 * Show the map that the address describes.
 * @param {Wish} wish
 */
export function followMap({ map, layout }) {
  wanted = { scope: SCOPES.includes(map) ? map : null, method: Object.hasOwn(METHODS, layout) ? layout : USUAL };
  settleControls();
  draw();
}

/**
 * Show a word on the map: centre on it, or load the map of its neighbours.
 * @type {(word: string) => void}
 */
export function showOnMap(word) {
  if (wanted.scope === "around") draw();
  else if (shown?.words.some((/** @type {{ word: string }} */ each) => each.word === word)) changeMap({ word });
}

function settleControls() {
  offer(byId("map-scope"), SCOPES, wanted.scope, (scope) => say(`mapping.of_${scope}`));
  offer(byId("map-method"), Object.keys(METHODS), wanted.method, (method) => say(METHODS[method]));
  byId("map-method").hidden = !wanted.scope;
}

const draw = () => onceSeen(byId("words-desk"), askForMap);

async function askForMap() {
  const { model, word } = subject();
  if (!wanted.scope || (wanted.scope === "around" && !word)) {
    asking.forget();
    return hideMap();
  }
  const words = wanted.scope === "around" ? { words: [word], around: AROUND } : { count: COUNT };
  await asking.attempt(async (signal) => {
    const found = await ask("v1/map", { model, method: wanted.method, ...words }, signal);
    if (signal.aborted) return;
    shown = found.map;
    byId("map-view").hidden = false;
    showMap(shown, wanted.scope === "around" ? {} : { word }); // a map around a word is shown as a whole
    remember({ word: word || null });
  });
}

/**
 * Mount the map; `about` returns the model and the word of the desk, `chosen` is called with a clicked word.
 * @type {(holder: HTMLElement, about: () => { model: string, word: string }, chosen: (word: string) => void) => void}
 */
export function mountMapping(holder, about, chosen) {
  subject = about;
  /** @type {(id: string, legend: string) => HTMLFieldSetElement} */
  const group = (id, legend) => element("fieldset", { id }, element("legend", {}, legend));
  const groups = [group("map-scope", say("mapping.words")), group("map-method", say("mapping.layout"))];
  const form = element("form", { class: "controls", "aria-label": say("map.page") }, ...groups);
  const trouble = element("p", { id: "map-trouble", class: "trouble", role: "alert", hidden: "" });
  const view = element("div", { id: "map-view", hidden: "" });
  holder.append(element("h2", { class: "view-title" }, say("map.page")), form, trouble, view);
  mountMap(view);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("change", (/** @type {any} */ { target }) => {
    const name = target.name === "map-scope" ? "scope" : "method";
    wanted = { ...wanted, [name]: target.value };
    remember({ map: wanted.scope, layout: wanted.method === USUAL ? null : wanted.method });
    settleControls();
    draw();
  });
  view.addEventListener("click", (/** @type {any} */ { target }) => {
    const clicked = target.closest(".map-word, .map-point, .map-neighbour")?.dataset.word;
    const pressed = byId("map-words").querySelector("[aria-pressed=true]");
    if (pressed && pressed.dataset.word === clicked) chosen(pressed.textContent); // not the end of a drag
  });
  new ResizeObserver(() => shown && view.offsetWidth && layOutMap()).observe(view);
}
