// The forward pass of one sentence: a tree of layers that open and close, and the most probable tokens at its end.

import { button, element, percent, section, spokenToken, tokenParts } from "../parts/common.js";
import { numberTable, tidyNumber } from "../parts/numbers.js";
import { savable } from "../parts/saving.js";
import { decimal, isSaid, say } from "../parts/texts.js";

/** @import { NumberTable } from "../parts/numbers.js" */
/** @typedef {{ place: string, name: string, kind: string, number: number, norm: number, shape: number[] }} Facts */
/** @typedef {Omit<NumberTable, "values"> & { values: NumberTable["values"] | null }} Numbers null if not asked for */
/** @typedef {Numbers & Facts & { inside: Layer[] }} Layer */
/** @typedef {{ place: string, tokens: [string, number, number][] }} Guess */
/** @typedef {{ layers: Layer[], guesses: Guess[] }} Pass */
/** @typedef {(places: string[], isMissing: boolean) => void} Changed */
/** @typedef {{ tree: HTMLElement, best: HTMLElement, open: Set<string>, changed: Changed, followed: Pass }} View */

/**
 * Make room for the view; its ids begin with `name`. `changed` is called with the places of the open layers when a
 * person opens or closes some, and whether the numbers of any are missing.
 * @type {(holder: HTMLElement, name: string, changed: Changed) => View}
 */
export function mountForward(holder, name, changed) {
  const more = button({ class: "plain" }, say("forward.open"));
  const close = button({ class: "plain" }, say("forward.close"));
  const controls = element("div", { class: "tree-controls unsaved" }, more, close);
  const hint = element("p", { class: "hint" }, say("forward.hint"));
  const tree = element("div", { id: `${name}-layers` });
  const part = section(name, say("forward.layers"), hint, controls, tree);
  const best = element("div", { id: `${name}-best`, class: "numbers guesses", tabindex: 0 });
  const guesses = section(`${name}-guesses`, say("forward.guesses"), best);
  holder.append(part, guesses);
  /** @type {View} */
  const view = { tree, best, open: new Set(), changed, followed: { layers: [], guesses: [] } };
  savable(part, "forward", () => view.followed.layers);
  savable(guesses, "guesses", () => view.followed.guesses);
  more.addEventListener("click", () => openLevel(view));
  close.addEventListener("click", () => closeAll(view));
  return view;
}

/**
 * Show a pass; the layers that were open stay open.
 * @type {(view: View, found: Pass) => void}
 */
export function showForward(view, found) {
  const { tree, best } = view;
  view.followed = found;
  const focused = tree.contains(document.activeElement) ? placeOf(document.activeElement) : undefined;
  const scrolled = new Map(shownTables(tree).map((each) => [placeOf(each), each.scrollLeft]));
  tree.replaceChildren(...found.layers.map((layer) => layerTree(view, layer)));
  shownTables(tree).forEach((each) => (each.scrollLeft = scrolled.get(placeOf(each)) ?? 0));
  const summary = focused && tree.querySelector(`[data-place="${focused}"] > summary`);
  if (summary) /** @type {HTMLElement} */ (summary).focus({ preventScroll: true });
  best.replaceChildren(guessTable(found.guesses));
}

/** @type {(tree: HTMLElement) => HTMLElement[]} */
const shownTables = (tree) => [...tree.querySelectorAll(".numbers")].map((each) => /** @type {HTMLElement} */ (each));

/** @type {(thing: Element | null) => string | undefined} */
const placeOf = (thing) => /** @type {HTMLElement | null | undefined} */ (thing?.closest(".layer"))?.dataset.place;

/** @type {WeakMap<Element, Layer>} */
const layerOf = new WeakMap();

/**
 * Open the layers that can be seen and are closed.
 * @type {(view: View) => void}
 */
function openLevel(view) {
  const closed = [...view.tree.querySelectorAll("details:not([open])")];
  const seen = closed.filter((each) => !each.parentElement?.closest("details:not([open])"));
  const opened = seen.map((each) => unfold(view, /** @type {HTMLDetailsElement} */ (each)));
  if (opened.length) tellChange(view, opened);
}

/** @type {(view: View) => void} */
function closeAll(view) {
  view.open.clear();
  view.tree.querySelectorAll("details").forEach((each) => (each.open = false));
  tellChange(view, []);
}

/**
 * Say which layers are open, after some were opened.
 * @type {(view: View, opened: Layer[]) => void}
 */
function tellChange(view, opened) {
  view.changed([...view.open], opened.some(({ values }) => values === null));
}

/** @type {(view: View, layer: Layer) => HTMLDetailsElement} */
function layerTree(view, layer) {
  const { kind, number, place } = layer;
  const name = isSaid(`layers.${kind}`) ? say(`layers.${kind}`, { number }) : layer.name;
  const facts = [layer.shape.join(" × "), say("forward.norm", { norm: decimal(layer.norm, 2) })].join(" · ");
  const summary = element("summary", {}, element("b", {}, name), " ", element("span", { class: "facts" }, facts));
  const details = element("details", { class: "layer", "data-place": place }, summary);
  layerOf.set(details, layer);
  if (view.open.has(place)) unfold(view, details);
  details.addEventListener("toggle", () => {
    if (details.open === view.open.has(place)) return; // the page did it, not a person
    if (details.open) return tellChange(view, [unfold(view, details)]);
    view.open.delete(place);
    tellChange(view, []);
  });
  return details;
}

/**
 * Open a layer; its numbers and the layers inside are made when it is opened for the first time.
 * @type {(view: View, details: HTMLDetailsElement) => Layer}
 */
function unfold(view, details) {
  const layer = /** @type {Layer} */ (layerOf.get(details));
  const { columns, shape, inside, values } = layer;
  view.open.add(layer.place);
  details.open = true;
  if (values === null || details.childElementCount > 1) return layer;
  const counts = { shown: columns.length, count: shape[1] };
  details.append(
    ...inside.map((each) => layerTree(view, each)),
    ...(inside.length ? [element("p", { class: "rest" }, say("forward.output"))] : []),
    numberTable({ ...layer, values }),
    ...(columns.length < shape[1] ? [element("p", { class: "rest" }, say("steps.columns", counts))] : []),
  );
  return layer;
}

/** @type {(guesses: Guess[]) => HTMLTableElement} */
function guessTable(guesses) {
  const rows = guesses.map(({ place, tokens }) => {
    const cells = tokens.map(([token, logit, chance]) => {
      const title = say("forward.logit", { token: spokenToken(token), logit: tidyNumber(logit) });
      const cell = element("td", { class: "above-zero", title });
      cell.append(element("bdi", {}, ...tokenParts(token)), ` ${percent(chance)}`);
      cell.style.setProperty("--weight", String(chance));
      return cell;
    });
    return element("tr", {}, element("th", { scope: "row", dir: "auto" }, ...tokenParts(place)), ...cells);
  });
  const head = element("tr", {}, element("th", { scope: "col" }, say("forward.at")));
  return element("table", {}, element("thead", {}, head), ...rows);
}
