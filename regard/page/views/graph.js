// A node and its neighbourhood: attention along the edges of a graph, each head in its own colour. Pointing at
// a node, by pointer, by keyboard or by the fragment of the address, shows the weights of the attention to it.

import { remember } from "../parts/address.js";
import {
  byId, button, choiceName, drawing, element, offer, partName, percent, reachable, section, walkable,
} from "../parts/common.js";
import { savable } from "../parts/saving.js";
import { bow, cross, KINDS_OF_SHAPES, outline } from "../parts/shapes.js";
import { decimal, say, sayParts } from "../parts/texts.js";

/** @import { Wish } from "../parts/address.js" */
/** @import { Block, Chosen } from "../parts/heads.js" */
/** @typedef {(place: number[]) => number[]} Spot from a place on the ring to its position on the screen */
/** @typedef {{ name: string, place: number[], answer: string, label: string }} GraphNode */
/**
 * @typedef {object} Graph
 * @property {GraphNode[]} nodes
 * @property {number[][]} edges
 * @property {boolean[]} outward
 * @property {number} room
 * @property {number} hidden
 * @property {number[] | null} itself
 * @property {string[]} classes
 * @property {Block[]} blocks
 * @property {Chosen} start
 */

const WHOLE = 10_000; // how the server encodes a weight of 1
const COLOURS = 8; // for heads; with more heads they repeat
const CROWD = 22; // from this number of nodes on, names are rotated along the ring
const MIDDLE_RADIUS = 13; // pixels
const LONGEST_NAME = 140; // pixels
const MOST_FOR_NAMES = 0.22; // share of the width for names on either side

/** @type {Graph} */
let graph; // the displayed graph
/** @type {{ layer: number, head: number | "all" }} */
let chosen = { layer: 1, head: "all" }; // its block and head
/** @type {number | null} */
let pointedNode = null; // the highlighted node
let keptNode = false; // whether it stays highlighted when the pointer leaves

const graphBlock = () => graph.blocks[chosen.layer - 1];
/** @type {() => number[]} */
const shownHeads = () => (chosen.head === "all" ? graphBlock().heads.map((_, head) => head) : [chosen.head - 1]);
/** @type {(head: number, edge: number) => number} */
const weightOf = (head, edge) => graphBlock().heads[head][edge] / WHOLE;
const largestWeight = () => Math.max(0, ...shownHeads().flatMap((head) => graphBlock().heads[head])) / WHOLE;
/** @type {(head: number) => string} */
const headName = (head) => say("heads.head", { number: head + 1 });
/** @type {(head: number) => string} */
const hue = (head) => `hue-${(head % COLOURS) + 1}`;
/** @type {(ends: number[]) => boolean} */
const looksAtItself = ([from, to]) => from === 0 && to === 0;

/**
 * Show a neighbourhood with the requested block, one head or all, and highlighted node.
 * @type {(found: Graph, wish: Wish) => void}
 */
export function showGraph(found, wish) {
  graph = found;
  [pointedNode, keptNode] = [null, false];
  byId("graph-nodes").replaceChildren(...graph.nodes.map(nodeButton));
  settleGraph({ ...graph.start, ...wish });
}

/**
 * Change the selection and record it in the address.
 * @type {(wish: Wish) => void}
 */
export function changeGraph(wish) {
  settleGraph({ ...chosen, ...wish });
  remember({ ...chosen, node: keptNode ? pointedNode : null });
}

/**
 * The valid state nearest to the requested one.
 * @type {(wish: Wish) => void}
 */
function settleGraph(wish) {
  const layer = graph.blocks[wish.layer - 1] ? Number(wish.layer) : graph.start.layer;
  const head = graph.blocks[layer - 1].heads[wish.head - 1] ? Number(wish.head) : "all";
  chosen = { layer, head };
  if (wish.node !== undefined && graph.nodes[wish.node]) [pointedNode, keptNode] = [Number(wish.node), true];
  const heads = graphBlock().heads.map((_, each) => String(each + 1));
  offer(byId("graph-layer"), graph.blocks.map((_, each) => String(each + 1)), layer);
  offer(byId("graph-head"), heads.length > 1 ? ["all", ...heads] : [], head, choiceName);
  layOutGraph();
  pointAtNode(pointedNode);
  showKey();
  showTable();
}

/** @type {(node: GraphNode, place: number) => HTMLButtonElement} */
function nodeButton({ name }, place) {
  if (place) return button({ class: "node-name", "data-node": place }, name);
  return button({ class: "node-name middle", "data-node": place, "aria-label": name });
}

/** Draw it as large as fits. */
export function layOutGraph() {
  const names = [...byId("graph-nodes").children];
  byId("graph").style.width = ""; // so that it takes the full width
  const room = byId("graph").clientWidth;
  byId("graph").style.setProperty("--longest", `${Math.min(LONGEST_NAME, room * MOST_FOR_NAMES)}px`);
  const longest = Math.max(0, ...names.map(({ offsetWidth }) => offsetWidth));
  const size = Math.min(room, 400 + 6 * names.length + 2 * longest);
  const radius = size / 2 - longest - 14;
  byId("graph").style.width = byId("graph").style.height = `${size}px`;
  /** @type {(place: number[]) => number[]} */
  const spot = ([across, up]) => [size / 2 + across * radius, size / 2 - up * radius];
  const nodeRadius = Math.max(5, 9 - names.length / 15);
  const lines = graph.edges.flatMap((ends, edge) => looksAlong(ends, edge, spot, radius));
  const shapes = graph.nodes.map((node, place) => {
    return shapeOf(node, spot(node.place), place ? nodeRadius : MIDDLE_RADIUS, "node-shape");
  });
  const own = graph.itself ? [shapeOf(graph.nodes[0], spot(graph.itself), nodeRadius, "node-shape ghost")] : [];
  const marks = graph.nodes.flatMap((node, place) => (isMistaken(node) ? [crossOn(node, place, spot)] : []));
  byId("graph-lines").replaceChildren(...lines, ...shapes, ...own, ...marks);
  names.forEach((name, place) => placeName(name, graph.nodes[place].place, spot, place ? nodeRadius : MIDDLE_RADIUS));
  byId("graph-itself").hidden = !graph.itself;
  if (graph.itself) placeName(byId("graph-itself"), graph.itself, spot, nodeRadius);
}

/**
 * The attention along one edge: a curve for each head if it leads outwards, otherwise one thin line.
 * @type {(ends: number[], edge: number, spot: Spot, radius: number) => SVGPathElement[]}
 */
function looksAlong(ends, edge, spot, radius) {
  const [from, to] = ends;
  const heads = shownHeads();
  const strongest = largestWeight() || 1;
  const start = spot(graph.nodes[from].place);
  const end = spot(graph.itself && looksAtItself(ends) ? graph.itself : graph.nodes[to].place);
  const about = { "data-from": from, "data-to": to };
  if (!graph.outward[edge]) {
    if (from === to) return [];
    const share = heads.reduce((sum, head) => sum + weightOf(head, edge), 0) / heads.length / strongest;
    const line = { d: bow(start, end, 0.15 * radius), "stroke-opacity": (0.6 * share).toFixed(3) };
    return [drawing("path", { class: "look beside", ...line, ...about })];
  }
  const room = Math.min(graph.room, 0.16) * radius;
  const widest = Math.min(6, Math.max(3, (room / heads.length) * 1.2));
  return heads.map((head, line) => {
    const share = weightOf(head, edge) / strongest;
    const ink = { "stroke-opacity": (0.15 + 0.85 * share).toFixed(3), "stroke-width": 0.5 + (widest - 0.5) * share };
    const offset = ((line - (heads.length - 1) / 2) / heads.length) * room;
    return drawing("path", { class: `look ${hue(head)}`, d: bow(start, end, offset), ...ink, ...about });
  });
}

/** @type {(node: GraphNode, number: number, spot: Spot) => SVGPathElement} */
const crossOn = ({ place }, number, spot) => {
  return drawing("path", { class: "mistaken", d: cross(spot(place), number ? 3 : 5) });
};

/** @type {(node: GraphNode) => boolean} */
const isMistaken = ({ answer, label }) => Boolean(answer && label) && answer !== label;

/**
 * @param {{ answer: string }} node
 * @param {number[]} spot
 * @param {number} radius
 * @param {string} name
 */
function shapeOf({ answer }, [x, y], radius, name) {
  const kind = Math.max(0, graph.classes.indexOf(answer)) % KINDS_OF_SHAPES;
  return drawing("path", { class: `${name} kind-${kind + 1}`, d: outline(kind, x, y, radius) });
}

/**
 * Place a name outside its node; with many nodes it is rotated along the ring.
 * @type {(name: HTMLElement, place: number[], spot: Spot, radius: number) => void}
 */
function placeName(name, place, spot, radius) {
  const [x, y] = spot(place);
  const distance = Math.hypot(...place);
  const [across, up] = distance ? [place[0] / distance, place[1] / distance] : [0, 0];
  const [left, top] = [x + across * (radius + 4), y - up * (radius + 4)];
  const { offsetWidth: width, offsetHeight: height } = name;
  Object.assign(name.style, { left: `${left}px`, top: `${top - height / 2}px`, transform: "", transformOrigin: "" });
  const isOuter = distance > 0.99;
  name.classList.toggle("inner", distance > 0 && !isOuter);
  if (graph.nodes.length > CROWD && isOuter) {
    const angle = Math.atan2(-up, across);
    const leftwards = across < 0;
    if (leftwards) name.style.left = `${left - width}px`;
    name.style.transformOrigin = leftwards ? "100% 50%" : "0 50%";
    name.style.transform = `rotate(${leftwards ? angle + Math.PI : angle}rad)`;
  } else if (Math.abs(across) < 0.2) {
    name.style.left = `${left - width / 2}px`;
    if (distance) name.style.top = `${up > 0 ? top - height + 2 : top - 2}px`;
  } else if (across < 0) name.style.left = `${left - width}px`;
}

/**
 * Highlight a node, or none: the attention to it in full colour, all other faded, and its weights.
 * @type {(place: number | null) => void}
 */
function pointAtNode(place) {
  pointedNode = place;
  byId("graph").classList.toggle("pointing", place !== null);
  for (const line of byId("graph-lines").querySelectorAll(".look")) {
    line.classList.toggle("on", Number(line.dataset.to) === place);
  }
  for (const name of byId("graph-nodes").children) {
    name.setAttribute("aria-pressed", keptNode && Number(name.dataset.node) === place);
  }
  reachable([...byId("graph-nodes").children], byId("graph-nodes").children[place ?? 0]);
  byId("graph-readout").replaceChildren(...(place === null ? [howToPointAtNodes()] : toldOfNode(place)));
}

function howToPointAtNodes() {
  return element("p", { class: "unsaved" }, say("graph.hint"));
}

/** @type {(place: number) => HTMLElement[]} */
function toldOfNode(place) {
  const { name, answer, label } = graph.nodes[place];
  const node = element("b", {}, say("graph.node", { name }));
  const kind = isMistaken(graph.nodes[place]) ? "graph.mistaken" : "graph.classed";
  const about = element("p", {}, ...(answer ? sayParts(kind, { node, answer, label }) : [node]));
  const looks = graph.edges.flatMap(([from, to], edge) => (to === place ? [[from, edge]] : []));
  return [about, ...looks.map(([from, edge]) => toldOfLook(from, place, edge))];
}

/** @type {(from: number, to: number, edge: number) => HTMLElement} */
function toldOfLook(from, to, edge) {
  const shares = shownHeads().map((head) => {
    return element("span", { class: `head-share ${hue(head)}` }, `${head + 1}: ${percent(weightOf(head, edge))}`);
  });
  const how = from === to ? "graph.looks_at_itself" : "graph.looked_at_by";
  const weights = element("span", {}, ...shares);
  return element("p", {}, ...sayParts(how, { name: graph.nodes[from].name, weights }));
}

/** The legend of colours and shapes. */
function showKey() {
  const heads = shownHeads().map((head) => {
    return element("li", {}, element("span", { class: `stroke ${hue(head)}` }), headName(head));
  });
  const classes = graph.classes.map((name) => {
    const sample = drawing("svg", { width: 16, height: 16 }, shapeOf({ answer: name }, [8, 8], 6, "node-shape"));
    return element("li", {}, sample, say("graph.class", { name }));
  });
  byId("graph-key").replaceChildren(...heads, ...classes);
  const sentences = [say("graph.scale", { largest: decimal(largestWeight(), 2) })];
  if (graph.nodes.some(isMistaken)) sentences.push(say("graph.cross"));
  if (graph.hidden) sentences.push(say("graph.hidden", { count: graph.hidden }));
  const { where } = graphBlock();
  const place = where ? [" ", ...sayParts("shown.where", { where: partName(where) })] : [];
  byId("graph-caption").replaceChildren(sentences.join(" "), ...place);
}

/** All weights as a table, filled when it is opened. */
function showTable() {
  if (!byId("graph-numbers").open) return;
  /** @type {(name: "th" | "td", text: string) => HTMLTableCellElement} */
  const cell = (name, text) => element(name, {}, text);
  const titles = [say("graph.column_looks"), say("graph.column_at"), ...shownHeads().map(headName)];
  const first = element("tr", {}, ...titles.map((title) => cell("th", title)));
  /** @type {(ends: number[], edge: number) => HTMLTableRowElement} */
  const line = ([from, to], edge) => {
    const numbers = shownHeads().map((head) => cell("td", decimal(weightOf(head, edge), 4)));
    return element("tr", {}, cell("th", graph.nodes[from].name), cell("th", graph.nodes[to].name), ...numbers);
  };
  byId("graph-table").replaceChildren(element("table", {}, first, ...graph.edges.map(line)));
}

/**
 * Mount the view.
 * @type {(holder: HTMLElement) => void}
 */
export function mountGraph(holder) {
  /** @type {(id: string) => HTMLFieldSetElement} */
  const group = (id) => element("fieldset", { id: `graph-${id}` }, element("legend", {}, say(`controls.${id}`)));
  const groups = ["layer", "head"].map(group);
  const form = element("form", { class: "controls", "aria-label": say("controls.what") }, ...groups);
  const nodes = element("div", { id: "graph-nodes", role: "toolbar", "aria-label": say("graph.about") });
  const itself = element("span", { id: "graph-itself", class: "node-name" }, say("graph.itself"));
  const lines = drawing("svg", { id: "graph-lines", "aria-hidden": true });
  const field = element("div", { id: "graph" }, lines, nodes, itself);
  const readout = element("div", { id: "graph-readout", class: "readout", role: "status" });
  const key = element("ul", { id: "graph-key", "aria-label": say("graph.key") });
  const part = section("graph", say("graph.title"), readout, field, key);
  const numbers = element("details", { id: "graph-numbers" }, element("summary", {}, say("numbers.title")));
  numbers.append(element("div", { id: "graph-table" }));
  numbers.addEventListener("toggle", showTable);
  part.append(numbers);
  holder.append(form, element("p", { id: "graph-caption", class: "caption" }), part);
  savable(part, () => `neighbourhood-block-${chosen.layer}-head-${chosen.head}`, () => graph);
  form.addEventListener("change", (/** @type {any} */ { target }) => {
    changeGraph({ [target.name.replace("graph-", "")]: target.value });
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  walkable(nodes, ".node-name");
  listenToGraph(field);
}

/** @type {(field: HTMLElement) => void} */
function listenToGraph(field) {
  /** @type {(target: any) => number | null} */
  const nodeUnder = (target) => {
    const found = target.dataset?.node ?? target.dataset?.to;
    return found === undefined ? null : Number(found);
  };
  field.addEventListener("pointerover", (/** @type {any} */ { target }) => keptNode || pointAtNode(nodeUnder(target)));
  field.addEventListener("pointerleave", () => keptNode || pointAtNode(null));
  field.addEventListener("focusin", (/** @type {any} */ { target }) => keptNode || pointAtNode(nodeUnder(target)));
  field.addEventListener("click", (/** @type {any} */ { target }) => {
    const place = nodeUnder(target);
    if (place === null) return;
    keptNode = !(keptNode && pointedNode === place);
    pointAtNode(place);
    remember({ node: keptNode ? place : null });
  });
  field.addEventListener("keydown", ({ key }) => {
    if (key !== "Escape") return;
    keptNode = false;
    pointAtNode(null);
    remember({ node: null });
  });
}
