// A sheet of paper: a person draws on it with the mouse, a finger or the arrow keys, and a model adds to it.

import { drawing } from "./common.js";

/** @typedef {number[]} Point across and down */
/** @typedef {Point[]} Stroke */
/**
 * @typedef {object} Paper
 * @property {number} side
 * @property {Stroke[]} own what a person drew
 * @property {Stroke[]} added what a model added
 * @property {Stroke | null} stroke the one being drawn
 * @property {Point} pen
 * @property {() => void} changed
 * @property {SVGElement} lines
 * @property {SVGElement} cross
 * @property {SVGSVGElement} root
 */

export const ROOM = 1.25; // side of a sheet, relative to a typical drawing
const STEP = 1 / 40; // of the side; how far an arrow key moves the pen
const FINEST = 1 / 120; // of the side; how far a simplified line may be from the drawn one
/** @type {Record<string, Point>} */
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/**
 * A sheet with a label for screen readers; `changed` is called when a stroke begins or ends.
 * @type {(id: string, label: string, changed: () => void) => Paper}
 */
export function makePaper(id, label, changed) {
  const [lines, cross] = [drawing("g", { class: "lines" }), drawing("path", { class: "pen" })];
  const attributes = {
    id, class: "paper", tabindex: "0", role: "application", "aria-label": label, viewBox: "0 0 1 1",
  };
  const root = drawing("svg", attributes, lines, cross);
  /** @type {Paper} */
  const paper = { side: 1, own: [], added: [], stroke: null, pen: [0.5, 0.5], changed, lines, cross, root };
  listenToPointer(paper);
  listenToKeys(paper);
  return paper;
}

/**
 * Clear the sheet and set the length of its side in units.
 * @type {(paper: Paper, side?: number) => void}
 */
export function clearPaper(paper, side = paper.side) {
  Object.assign(paper, { side, own: [], added: [], stroke: null, pen: [side / 2, side / 2] });
  paper.root.setAttribute("viewBox", `0 0 ${side} ${side}`);
  showPaper(paper);
}

/**
 * Undo the last stroke; strokes added by the model are removed first.
 * @type {(paper: Paper) => void}
 */
export function undoStroke(paper) {
  if (paper.added.length) paper.added = [];
  else paper.own.pop();
  showPaper(paper);
}

/**
 * Show what a model drew: the first `begun` of its points are those of the given strokes.
 * @type {(paper: Paper, strokes: Stroke[], begun: number) => void}
 */
export function addDrawn(paper, strokes, begun) {
  const [left, top] = begun ? paper.own[0][0] : middleOf(paper, strokes);
  paper.added = [];
  let count = 0;
  for (const stroke of strokes) {
    const placed = stroke.map(([x, y]) => [x + left, y + top]);
    const skipped = Math.max(0, begun - count - 1); // keeps one given point, where the new line starts
    if (count + stroke.length > begun) paper.added.push(count >= begun ? placed : placed.slice(skipped));
    count += stroke.length;
  }
  showPaper(paper);
}

/**
 * Where a drawing must start to be centred.
 * @type {(paper: Paper, strokes: Stroke[]) => Point}
 */
function middleOf(paper, strokes) {
  return [0, 1].map((axis) => {
    const values = strokes.flat().map((point) => point[axis]);
    return (paper.side - Math.min(...values) - Math.max(...values)) / 2;
  });
}

/**
 * The strokes that a person drew, without points that lie close to a straight line.
 * @type {(paper: Paper) => Stroke[]}
 */
export const ownStrokes = (paper) => paper.own.map((stroke) => simplify(stroke, paper.side * FINEST));

/**
 * Simplify a line (Ramer, Douglas and Peucker): keep the ends and the points farther away than `finest`.
 * @type {(points: Stroke, finest: number) => Stroke}
 */
export function simplify(points, finest) {
  if (points.length < 3) return points;
  const [first, last] = [points[0], points[points.length - 1]];
  const distances = points.map((point) => distance(point, first, last));
  const farthest = distances.indexOf(Math.max(...distances));
  if (distances[farthest] <= finest) return [first, last];
  const halves = [points.slice(0, farthest + 1), points.slice(farthest)].map((half) => simplify(half, finest));
  return [...halves[0], ...halves[1].slice(1)];
}

/**
 * The distance of a point from the line between two others.
 * @type {(point: Point, one: Point, other: Point) => number}
 */
function distance([x, y], [x1, y1], [x2, y2]) {
  const [across, down] = [x2 - x1, y2 - y1];
  const length = across * across + down * down;
  const part = length ? Math.min(1, Math.max(0, ((x - x1) * across + (y - y1) * down) / length)) : 0;
  return Math.hypot(x - x1 - part * across, y - y1 - part * down);
}

/** @type {(paper: Paper) => void} */
function showPaper(paper) {
  /** @type {(kind: string) => (stroke: Stroke) => SVGElement} */
  const line = (kind) => (stroke) => {
    const points = stroke.length > 1 ? stroke : [stroke[0], stroke[0]]; // a dot is a line of length 0
    return drawing("polyline", { class: kind, points: points.map((point) => point.join(",")).join(" ") });
  };
  const own = paper.stroke ? [...paper.own, paper.stroke] : paper.own;
  paper.lines.replaceChildren(...own.map(line("own")), ...paper.added.map(line("added")));
  const [[x, y], arm] = [paper.pen, paper.side / 50];
  paper.cross.setAttribute("d", `M ${x - arm} ${y} h ${2 * arm} M ${x} ${y - arm} v ${2 * arm}`);
  paper.root.classList.toggle("down", paper.stroke !== null);
}

/** @type {(paper: Paper, point: Point) => void} */
function begin(paper, point) {
  end(paper);
  paper.added = [];
  paper.stroke = [point];
  moveTo(paper, point);
  paper.changed();
}

/** @type {(paper: Paper, point: Point) => void} */
function moveTo(paper, point) {
  paper.pen = point.map((value) => Math.min(paper.side, Math.max(0, value)));
  const last = paper.stroke?.at(-1);
  if (paper.stroke && last && (last[0] !== paper.pen[0] || last[1] !== paper.pen[1])) paper.stroke.push(paper.pen);
  showPaper(paper);
}

/** @type {(paper: Paper) => void} */
function end(paper) {
  if (!paper.stroke) return;
  paper.own.push(paper.stroke);
  paper.stroke = null;
  showPaper(paper);
  paper.changed();
}

/** @type {(paper: Paper) => void} */
function listenToPointer(paper) {
  const { root } = paper;
  /** @type {(event: PointerEvent) => Point} */
  const pointOf = ({ clientX, clientY }) => {
    const { left, top, width, height } = root.getBoundingClientRect();
    return [((clientX - left) / width) * paper.side, ((clientY - top) / height) * paper.side];
  };
  root.addEventListener("pointerdown", (event) => {
    if (event.button || !event.isPrimary) return; // a second finger draws nothing
    root.setPointerCapture(event.pointerId);
    begin(paper, pointOf(event));
  });
  root.addEventListener("pointermove", (event) => {
    if (paper.stroke && root.hasPointerCapture(event.pointerId)) moveTo(paper, pointOf(event));
  });
  for (const name of ["pointerup", "pointercancel"]) {
    root.addEventListener(name, (/** @type {any} */ { isPrimary }) => isPrimary && end(paper));
  }
}

/** @type {(paper: Paper) => void} */
function listenToKeys(paper) {
  paper.root.addEventListener("keydown", (event) => {
    const arrow = ARROWS[event.key];
    if (!arrow && event.key !== " ") return;
    event.preventDefault(); // otherwise the page would scroll
    if (!arrow) return paper.stroke ? end(paper) : begin(paper, paper.pen);
    moveTo(paper, arrow.map((way, axis) => paper.pen[axis] + way * paper.side * STEP));
  });
  paper.root.addEventListener("blur", () => end(paper));
}
