// The matrix: cells on a canvas, words around it as HTML text, and its values as a table.

import { byId, element, section, spokenToken, tokenParts } from "../../parts/common.js";
import { brushOf } from "../../parts/raster.js";
import { isEdited, lookingSides, relink, shown, sight, title, weightAt, wordOf } from "./state.js";
import { decimal, say } from "../../parts/texts.js";

/** @import { Party } from "./state.js" */

const WORTH_A_NUMBER = 0.1;
const SLANT = (50 * Math.PI) / 180;
const UPRIGHT = Math.PI / 2;

/** @type {number[][]} */
export let colours = []; // for weights from 0 to 1
let editedColour = ""; // of the frame around cells that a person edited
let cell = 0; // pixels
let corner = [0, 0]; // where the cells start
/** @type {number[] | null} */
let cursor = null; // the highlighted cell: [row, column]
/** @type {number[] | null} */
let held = null; // the cell whose link is being dragged along its row

/** 256 colours from the style, for light or dark mode. */
export function mixColours() {
  const style = getComputedStyle(document.documentElement);
  editedColour = `rgb(${style.getPropertyValue("--in").trim()})`;
  const stops = [0, 1, 2].map((stop) => style.getPropertyValue(`--ramp-${stop}`).trim().split(" ").map(Number));
  colours = Array.from({ length: 256 }, (_, step) => {
    const place = (step / 255) ** 0.8 * 2; // small weights get slightly more contrast than large ones
    const half = Math.min(Math.floor(place), 1);
    return stops[half].map((from, channel) => Math.round(from + (stops[half + 1][channel] - from) * (place - half)));
  });
}

/** @type {(weight: number) => number[]} */
const colourOf = (weight) => colours[Math.min(255, Math.round(weight * 255))];

/**
 * Fill a canvas with weights, one pixel each.
 * @type {(canvas: HTMLCanvasElement, columns: number, values: Float32Array) => void}
 */
export function paint(canvas, columns, values) {
  const picture = new ImageData(columns, values.length / columns);
  values.forEach((weight, place) => picture.data.set([...colourOf(weight), 255], place * 4));
  [canvas.width, canvas.height] = [picture.width, picture.height];
  brushOf(canvas).putImageData(picture, 0, 0);
}

/** @type {(kind: string) => HTMLElement[]} */
const labels = (kind) => [...byId("frame").querySelectorAll(`.label.${kind}`)];
/** @type {(words: HTMLElement[]) => number} */
const widest = (words) => Math.max(...words.map((label) => label.offsetWidth));

export function showMatrix() {
  hold(null);
  const [looksFrom, looksAt] = lookingSides();
  const { rows, columns } = shown();
  /** @type {(kind: string, side: Party) => (text: string) => HTMLDivElement} */
  const label = (kind, side) => (text) => {
    const about = { class: `label ${kind}`, title: spokenToken(text), lang: sight[side].language, dir: "auto" };
    return element("div", about, ...tokenParts(text));
  };
  [...labels("row"), ...labels("column")].forEach((old) => old.remove());
  byId("frame").append(...rows.map(label("row", looksFrom)), ...columns.map(label("column", looksAt)));
  byId("row-axis").textContent = say("axes.rows", { what: say(`axes.${looksFrom}`) });
  byId("column-axis").textContent = say("axes.columns", { what: say(`axes.${looksAt}`) });
  byId("matrix-title").textContent = say("matrix.titled", { what: title() });
  const size = { rows: rows.length, columns: columns.length };
  byId("cells").setAttribute("aria-label", say("matrix.about", { what: title(), ...size }));
  layOutMatrix();
  showNumbers();
}

/** Make cells as large as fits; the words above them are horizontal if they fit, else slanted, else vertical. */
export function layOutMatrix() {
  const [rows, columns] = [labels("row"), labels("column")];
  /** @type {(size: number) => void} */
  const write = (size) => [...rows, ...columns].forEach((label) => (label.style.fontSize = `${size}px`));
  /** @type {(spare: number) => number} */
  const fitting = (spare) => Math.floor((byId("matrix").clientWidth - beside() - 12 - spare) / columns.length);
  const beside = () => Math.max(widest(rows), byId("row-axis").offsetWidth);
  byId("pictures").classList.toggle("stacked", columns.length > 26);
  write(14);
  let turn = 0;
  cell = Math.min(52, fitting(0));
  if (widest(columns) > cell - 6) {
    turn = SLANT;
    cell = Math.min(46, fitting(widest(columns) * Math.cos(SLANT)));
  }
  if (cell < 20) {
    turn = UPRIGHT;
    write(11);
    cell = Math.min(24, Math.max(14, fitting(0)));
  }
  const titled = byId("column-axis").offsetHeight;
  const above = Math.ceil(turn ? widest(columns) * Math.sin(turn) + 12 : rows[0].offsetHeight + 4);
  corner = [beside() + 8, above + titled];
  placeLabels(rows, columns, turn);
  byId("column-axis").style.left = `${corner[0]}px`;
  byId("row-axis").style.right = `calc(100% - ${corner[0] - 6}px)`;
  byId("row-axis").style.top = `${corner[1] - byId("row-axis").offsetHeight - 2}px`;
  const overhang = turn === SLANT ? Math.max(0, widest(columns) * Math.cos(SLANT) - cell / 2) : 0;
  byId("frame").style.width = `${corner[0] + columns.length * cell + overhang}px`;
  byId("frame").style.height = `${corner[1] + rows.length * cell}px`;
  drawCells();
  moveCursor(cursor && cellAt(cursor[0], cursor[1])); // there may be fewer cells than before
}

/** @type {(rows: HTMLElement[], columns: HTMLElement[], turn: number) => void} */
function placeLabels(rows, columns, turn) {
  const high = rows[0].offsetHeight;
  rows.forEach((label, row) => {
    label.style.right = `calc(100% - ${corner[0] - 6}px)`;
    label.style.top = `${corner[1] + row * cell + (cell - high) / 2}px`;
  });
  columns.forEach((label, column) => {
    // A label is rotated about its lower left corner, which lies above the middle of its column.
    const shift = { 0: -label.offsetWidth / 2, [SLANT]: 4, [UPRIGHT]: high / 2 }[turn];
    label.style.left = `${corner[0] + (column + 0.5) * cell + shift}px`;
    label.style.top = `${corner[1] - high - (turn ? 4 : 2)}px`;
    label.style.transform = turn ? `rotate(${-turn}rad)` : "";
  });
}

function drawCells() {
  const { rows, columns } = shown();
  const canvas = byId("cells");
  const sharp = Math.min(window.devicePixelRatio || 1, 3);
  const [width, height] = [columns.length * cell, rows.length * cell];
  [canvas.width, canvas.height] = [width * sharp, height * sharp];
  const place = { left: `${corner[0]}px`, top: `${corner[1]}px`, width: `${width}px`, height: `${height}px` };
  Object.assign(canvas.style, place);
  const pen = canvas.getContext("2d");
  pen.scale(sharp, sharp);
  Object.assign(pen, { font: "12px system-ui, sans-serif", textAlign: "center", textBaseline: "middle" });
  rows.forEach((_, row) => columns.forEach((_, column) => drawCell(pen, row, column)));
  paint(byId("scale"), 256, Float32Array.from({ length: 256 }, (_, step) => step / 255));
}

/** @type {(pen: CanvasRenderingContext2D, row: number, column: number) => void} */
function drawCell(pen, row, column) {
  const weight = weightAt(row, column);
  const [red, green, blue] = colourOf(weight);
  pen.fillStyle = `rgb(${red} ${green} ${blue})`;
  pen.fillRect(column * cell, row * cell, cell - 1, cell - 1);
  if (isEdited(row, column)) {
    Object.assign(pen, { strokeStyle: editedColour, lineWidth: 3 });
    pen.strokeRect(column * cell + 1.5, row * cell + 1.5, cell - 4, cell - 4);
  }
  if (cell < 32 || weight < WORTH_A_NUMBER) return;
  pen.fillStyle = 0.3 * red + 0.59 * green + 0.11 * blue > 145 ? "#1d2127" : "#ffffff";
  pen.fillText(decimal(weight, 2).replace(/^0/, ""), (column + 0.5) * cell, (row + 0.5) * cell);
}

/**
 * Take the link of a cell, or none.
 * @type {(from: number[] | null) => void}
 */
function hold(from) {
  held = from;
  byId("held").hidden = !from;
  if (from) placeFrame("held", from);
}

/** Move the held link to the cell under the cursor, in its own row. */
function drop() {
  const [from, to] = [held, cursor];
  hold(null);
  if (from && to && from[1] !== to[1]) relink?.(from[0], from[1], to[1]);
}

/** @type {(id: string, at: number[]) => void} */
function placeFrame(id, [row, column]) {
  const [left, top] = [corner[0] + column * cell - 2, corner[1] + row * cell - 2];
  const place = { left: `${left}px`, top: `${top}px`, width: `${cell + 3}px`, height: `${cell + 3}px` };
  Object.assign(byId(id).style, place);
}

/**
 * Highlight a cell, or none, and show its value.
 * @type {(to: number[] | null) => void}
 */
function moveCursor(to) {
  cursor = to;
  labels("row").forEach((label, row) => label.classList.toggle("pointed", row === to?.[0]));
  labels("column").forEach((label, column) => label.classList.toggle("pointed", column === to?.[1]));
  byId("cursor").hidden = !to;
  byId("value").replaceChildren();
  if (!to) return;
  const [row, column] = to;
  placeFrame("cursor", to);
  const [looksFrom, looksAt] = lookingSides();
  const [looking, looked] = [wordOf(shown().rows[row], looksFrom), wordOf(shown().columns[column], looksAt)];
  byId("value").replaceChildren(looking, " → ", looked, ` ${decimal(weightAt(row, column), 4)}`);
}

/**
 * The nearest existing cell.
 * @type {(row: number, column: number) => number[]}
 */
function cellAt(row, column) {
  /** @type {(value: number, count: number) => number} */
  const kept = (value, count) => Math.min(Math.max(value, 0), count - 1);
  return [kept(row, shown().rows.length), kept(column, shown().columns.length)];
}

/**
 * Build the matrix.
 * @type {(holder: HTMLElement) => HTMLElement}
 */
export function mountMatrix(holder) {
  const role = { role: "application", "aria-roledescription": say("matrix.role") };
  const canvas = element("canvas", { id: "cells", ...role, tabindex: 0 });
  const axes = ["row-axis", "column-axis"].map((id) => element("div", { id, class: "axis" }));
  const frames = ["held", "cursor"].map((id) => element("div", { id, hidden: "" }));
  const frame = element("div", { id: "frame" }, canvas, ...axes, ...frames);
  const scale = element("span", { class: "scale", "aria-hidden": true }, "0", element("canvas", { id: "scale" }), "1");
  const below = element("p", { class: "below" }, scale, element("output", { id: "value", for: "cells" }));
  const numbers = element("details", { id: "numbers" }, element("summary", {}, say("numbers.title")));
  numbers.append(element("div", { id: "table" }));
  const made = section("matrix", say("matrix.title"), element("div", { id: "matrix" }, frame), below, numbers);
  numbers.addEventListener("toggle", showNumbers);
  listenToCells(canvas);
  listenToDragging(canvas);
  holder.append(made);
  return made;
}

/** @type {(canvas: HTMLCanvasElement) => void} */
function listenToCells(canvas) {
  canvas.addEventListener("pointermove", ({ offsetX, offsetY }) => {
    moveCursor(cellAt(held?.[0] ?? Math.floor(offsetY / cell), Math.floor(offsetX / cell)));
  });
  canvas.addEventListener("pointerleave", () => document.activeElement === canvas || moveCursor(null));
  canvas.addEventListener("focus", () => moveCursor(cursor ?? [0, 0]));
  canvas.addEventListener("blur", () => {
    hold(null);
    moveCursor(null);
  });
  canvas.addEventListener("keydown", (event) => {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (!step) return;
    event.preventDefault();
    const [row, column] = cursor ?? [0, 0];
    moveCursor(cellAt(held?.[0] ?? row + step[0], column + step[1]));
  });
}

/**
 * Links are dragged along their row, by pointer, or by Enter, the arrow keys and Enter again.
 * @type {(canvas: HTMLCanvasElement) => void}
 */
function listenToDragging(canvas) {
  canvas.addEventListener("pointerdown", ({ offsetX, offsetY, pointerId, button }) => {
    if (!relink || button) return;
    canvas.setPointerCapture(pointerId);
    hold(cellAt(Math.floor(offsetY / cell), Math.floor(offsetX / cell)));
    moveCursor(held);
  });
  canvas.addEventListener("pointerup", drop);
  canvas.addEventListener("pointercancel", () => hold(null));
  canvas.addEventListener("keydown", (event) => {
    if (event.key === "Escape") hold(null);
    if (!relink || event.key !== "Enter") return;
    event.preventDefault();
    if (held) drop();
    else hold(cursor);
  });
}

/** The matrix as a table, filled when it is opened. */
function showNumbers() {
  if (!byId("numbers").open) return;
  const { rows, columns } = shown();
  const [looksFrom, looksAt] = lookingSides();
  /** @type {(scope: string, side: Party) => (text: string) => HTMLTableCellElement} */
  const heading = (scope, side) => (text) => element("th", { scope }, wordOf(text, side));
  /** @type {(text: string, row: number) => HTMLTableRowElement} */
  const line = (text, row) => {
    const numbers = columns.map((_, column) => element("td", {}, decimal(weightAt(row, column), 4)));
    return element("tr", {}, heading("row", looksFrom)(text), ...numbers);
  };
  const first = element("tr", {}, element("td"), ...columns.map(heading("col", looksAt)));
  byId("table").replaceChildren(element("table", {}, first, ...rows.map(line)));
}
