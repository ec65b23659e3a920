// Words in the plane, which can be dragged, zoomed and searched. A word chosen by a click, by the search or by the
// fragment of the address shows its nearest neighbours, by lines and as a list.

import { remember } from "../parts/address.js";
import { byId, button, choiceName, drawing, element, percent, section, signed } from "../parts/common.js";
import { placeLabels } from "../parts/labels.js";
import { savable } from "../parts/saving.js";
import { outline } from "../parts/shapes.js";
import { say, sayParts } from "../parts/texts.js";

/** @import { Wish } from "../parts/address.js" */
/** @typedef {{ x: number, y: number }} Spot */
/** @typedef {{ word: string, place: number[], group: number, near: [number, number][] }} Word */
/** @typedef {{ words: Word[], variance: number | null }} WordMap */

const COLOURS = 8; // for groups; with more groups they repeat
const RADIUS = 3; // of a point, in pixels
const GAP = 6; // pixels between a point and its name
const BOLDER = 1.12; // width of a bold name, relative to a normal one
const STILL = 4; // pixels that the pointer may move during a click
const MARGIN = 60; // pixels around all points
const MOST_ZOOM = 60;
const STEP = 60; // pixels that an arrow key moves
const FACTOR = 1.4; // for zooming by a key or a button

/** @type {WordMap} */
let map; // the displayed map
let view = { x: 0, y: 0, zoom: 1 }; // the centre and the scale
/** @type {number | null} */
let chosen = null; // the number of a word
/** @type {{ width: number, height: number }[]} */
let sizes = []; // of the names, in pixels
/** @type {Map<number, Spot>} */
const touching = new Map(); // the pointers that are down, by id
let moved = 0; // pixels since the first of them went down

/**
 * A text in lower case without accents, for searching.
 * @type {(text: string) => string}
 */
const plain = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();

/** @type {(word: Word) => string} */
const hue = ({ group }) => (group < 0 ? "" : `hue-${(group % COLOURS) + 1}`);
const field = () => byId("map");
const pixels = () => (Math.min(field().clientWidth, field().clientHeight) / 2 - MARGIN) * view.zoom;

/**
 * Show a map with the requested word.
 * @type {(found: WordMap, wish: Wish) => void}
 */
export function showMap(found, wish) {
  map = found;
  const names = map.words.map((each, number) => {
    return button({ class: `map-word ${hue(each)}`, "data-word": number, tabindex: -1 }, each.word);
  });
  byId("map-words").replaceChildren(...names);
  byId("map-known").replaceChildren(...map.words.map(({ word }) => element("option", { value: word })));
  sizes = names.map(({ offsetWidth, offsetHeight }) => ({ width: offsetWidth, height: offsetHeight }));
  byId("map-caption").textContent = say("map.caption", { method: methodOf(map) });
  changeMap(wish);
}

/**
 * How the places were computed.
 * @type {(map: WordMap) => string}
 */
function methodOf({ variance }) {
  return variance === null ? say("map.by_t_sne") : say("map.by_components", { share: percent(variance) });
}

/**
 * Show the requested word, if it is on the map.
 * @type {(wish: Wish) => void}
 */
export function changeMap(wish) {
  const number = map.words.findIndex(({ word }) => word === wish.word);
  choose(number < 0 ? null : number, number >= 0);
}

/**
 * Choose a word, or none; if it was searched for, the map moves to it.
 * @type {(number: number | null, isLookedFor?: boolean) => void}
 */
function choose(number, isLookedFor = false) {
  chosen = number;
  if (number !== null && isLookedFor) {
    const [x, y] = map.words[number].place;
    view = { x, y, zoom: Math.max(view.zoom, 2) };
  }
  remember({ word: number === null ? null : map.words[number].word });
  tellChosen();
  layOutMap();
}

/** Place all points and names; the chosen word and its neighbours are named first. */
export function layOutMap() {
  const { clientWidth: width, clientHeight: height } = field();
  const scale = pixels();
  const near = new Map(chosen === null ? [] : map.words[chosen].near);
  const spots = map.words.map(({ place: [x, y] }) => {
    return { x: width / 2 + (x - view.x) * scale, y: height / 2 - (y - view.y) * scale };
  });
  /** @type {(spot: Spot) => boolean} */
  const isSeen = ({ x, y }) => x > -RADIUS && y > -RADIUS && x < width + RADIUS && y < height + RADIUS;
  /** @type {(number: number) => number} */
  const rank = (number) => (number === chosen ? 0 : near.has(number) ? 1 : 2);
  const seen = spots.flatMap((spot, number) => (isSeen(spot) ? [number] : []));
  seen.sort((one, other) => rank(one) - rank(other) || one - other);
  /** @type {(number: number) => { width: number, height: number }} */
  const room = (number) => ({ ...sizes[number], width: sizes[number].width * (rank(number) < 2 ? BOLDER : 1) });
  const boxes = placeLabels(seen.map((number) => ({ ...spots[number], ...room(number) })), GAP);
  const names = byId("map-words").children;
  [...names].forEach((name, number) => {
    name.hidden = true;
    name.setAttribute("aria-pressed", number === chosen);
  });
  seen.forEach((number, place) => {
    const [name, box] = [names[number], boxes[place]];
    name.classList.toggle("near", rank(number) < 2);
    if (!box) return;
    name.hidden = false;
    Object.assign(name.style, { left: `${box.left}px`, top: `${box.top}px` });
  });
  const lines = [...near.keys()].map((number) => {
    const { x, y } = spots[number];
    const { x: left, y: top } = spots[chosen ?? 0]; // where the lines start
    return drawing("path", { class: "map-line", d: `M ${left} ${top} L ${x} ${y}` });
  });
  const points = seen.map((number) => {
    const kind = rank(number) < 2 ? "near" : "";
    const { x, y } = spots[number];
    const size = number === chosen ? RADIUS * 2 : RADIUS;
    const about = { class: `map-point ${kind} ${hue(map.words[number])}`, "data-word": number };
    return drawing("path", { ...about, d: outline(0, x, y, size) });
  });
  field().classList.toggle("choosing", chosen !== null);
  byId("map-points").replaceChildren(...lines, ...points);
}

/** List the nearest neighbours of the chosen word. */
function tellChosen() {
  if (chosen === null) {
    byId("map-readout").replaceChildren(element("p", { class: "unsaved" }, say("map.hint")));
    return;
  }
  const others = map.words[chosen].near.map(([number, cosine]) => {
    return button({ class: "map-neighbour", "data-word": number }, `${map.words[number].word} ${signed(cosine)}`);
  });
  const title = element("p", {}, ...sayParts("map.near", { word: element("b", {}, map.words[chosen].word) }));
  byId("map-readout").replaceChildren(title, element("p", { id: "map-neighbours" }, ...others));
}

/** @type {(across: number, down: number) => void} */
function move(across, down) {
  const scale = pixels();
  /** @type {(value: number) => number} */
  const within = (value) => Math.min(1.2, Math.max(-1.2, value));
  view = { ...view, x: within(view.x - across / scale), y: within(view.y + down / scale) };
  layOutMap();
}

/**
 * Zoom around a point of the field, which stays in place.
 * @type {(factor: number, x?: number, y?: number) => void}
 */
function zoom(factor, x = field().clientWidth / 2, y = field().clientHeight / 2) {
  const [across, down] = [x - field().clientWidth / 2, y - field().clientHeight / 2];
  const before = pixels();
  view.zoom = Math.min(MOST_ZOOM, Math.max(1, view.zoom * factor));
  const grown = 1 / before - 1 / pixels();
  view = { ...view, x: view.x + across * grown, y: view.y - down * grown };
  layOutMap();
}

function showAll() {
  view = { x: 0, y: 0, zoom: 1 };
  layOutMap();
}

/**
 * Choose the first word that equals the text, or that begins with it.
 * @type {(text: string) => void}
 */
function search(text) {
  const wanted = plain(text.trim());
  const words = map.words.map(({ word }) => plain(word));
  const exact = map.words.findIndex(({ word }) => word === text.trim());
  const alike = exact >= 0 ? exact : words.indexOf(wanted);
  const found = alike >= 0 ? alike : words.findIndex((word) => word.startsWith(wanted));
  if (wanted && found >= 0) choose(found, true);
  byId("map-unknown").textContent = wanted && found < 0 ? say("map.unknown", { word: text.trim() }) : "";
}

/**
 * Mount the view.
 * @type {(holder: HTMLElement) => void}
 */
export function mountMap(holder) {
  const input = element("input", { id: "map-search", type: "search", list: "map-known", autocomplete: "off" });
  const label = element("label", { for: "map-search" }, say("map.find"));
  const known = element("datalist", { id: "map-known" });
  const unknown = element("output", { id: "map-unknown", for: "map-search" });
  const keys = [["+", "+", "map.zoom_in"], ["−", "−", "map.zoom_out"], ["0", choiceName("all"), "map.show_all"]];
  const zooms = keys.map(([key, name, does]) => {
    return button({ class: "map-key", "data-key": key, "aria-label": say(does) }, name);
  });
  const bar = element("form", { class: "map-bar", role: "search" }, label, input, known, ...zooms, unknown);
  const points = drawing("svg", { id: "map-points", "aria-hidden": true });
  const plane = { id: "map", tabindex: 0, role: "group", "aria-label": say("map.about") };
  const readout = element("div", { id: "map-readout", class: "readout", role: "status" });
  const words = element("div", { id: "map-words" });
  const part = section("map", say("map.title"), readout, element("div", plane, points, words));
  holder.append(bar, element("p", { id: "map-caption", class: "caption" }), part);
  savable(part, "map", () => map);
  bar.addEventListener("submit", (event) => event.preventDefault());
  input.addEventListener("change", () => search(input.value));
  zooms.forEach((each) => each.addEventListener("click", () => pressed(each.dataset.key ?? "")));
  part.addEventListener("click", (/** @type {any} */ { target }) => {
    const isListed = target.className === "map-neighbour";
    if (target.dataset?.word === undefined || (!isListed && moved > STILL)) return;
    choose(Number(target.dataset.word), isListed);
  });
  listenToMap();
}

/**
 * Handle a key of the map; returns whether the key has a function.
 * @type {(key: string) => boolean}
 */
function pressed(key) {
  const does = {
    "+": () => zoom(FACTOR), "=": () => zoom(FACTOR), "-": () => zoom(1 / FACTOR), "−": () => zoom(1 / FACTOR),
    0: showAll, Escape: () => choose(null),
    ArrowLeft: () => move(STEP, 0), ArrowRight: () => move(-STEP, 0),
    ArrowUp: () => move(0, STEP), ArrowDown: () => move(0, -STEP),
  }[key];
  does?.();
  return Boolean(does);
}

function listenToMap() {
  /** @type {HTMLElement} */
  const plane = field();
  /** @type {(event: MouseEvent) => Spot} */
  const at = ({ clientX, clientY }) => {
    const { left, top } = plane.getBoundingClientRect();
    return { x: clientX - left, y: clientY - top };
  };
  plane.addEventListener("keydown", (event) => pressed(event.key) && event.preventDefault());
  plane.addEventListener("pointerdown", (event) => {
    if (!touching.size) moved = 0;
    touching.set(event.pointerId, at(event));
  });
  plane.addEventListener("pointermove", (event) => touching.has(event.pointerId) && drag(event.pointerId, at(event)));
  for (const name of ["pointerup", "pointercancel", "pointerleave"]) {
    plane.addEventListener(name, (/** @type {any} */ { pointerId }) => touching.delete(pointerId));
  }
  /** @type {(event: WheelEvent) => void} */
  const turn = (event) => {
    event.preventDefault();
    const { x, y } = at(event);
    zoom(Math.exp(-event.deltaY / 400), x, y);
  };
  plane.addEventListener("wheel", turn, { passive: false });
}

/**
 * One pointer moves the map; two zoom it around their midpoint.
 * @type {(pointer: number, to: Spot) => void}
 */
function drag(pointer, to) {
  const from = touching.get(pointer) ?? to;
  touching.set(pointer, to);
  moved += Math.hypot(to.x - from.x, to.y - from.y);
  const other = [...touching].find(([number]) => number !== pointer)?.[1];
  if (!other) return move(to.x - from.x, to.y - from.y);
  /** @type {(place: Spot) => number} */
  const apart = (place) => Math.hypot(place.x - other.x, place.y - other.y) || 1;
  zoom(apart(to) / apart(from), (to.x + other.x) / 2, (to.y + other.y) / 2);
}
