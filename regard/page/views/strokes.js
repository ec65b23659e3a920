// Attention of the points of a drawing: its strokes so far, or all if the model attends to later points; each piece is
// as strong as the attention to the point at its end.

import { remember } from "../parts/address.js";
import { byId, drawing, element, percent, section } from "../parts/common.js";
import { headControls, headWeights, settleHead } from "../parts/heads.js";
import { savable } from "../parts/saving.js";
import { say } from "../parts/texts.js";

/** @import { Wish } from "../parts/address.js" */
/** @import { Chosen, Looks } from "../parts/heads.js" */

const STRONGEST = 5; // pixels added to the width of the line with the largest weight

/** @type {Looks & { points: number[][], ends: boolean[], looking: number, ahead: boolean }} */
let strokes; // the displayed data
/** @type {Chosen & { point: number }} */
let wanted = { layer: 1, head: "mean", point: 1 }; // its block, head and point
/** @type {number | null} */
let overPoint = null; // the point under the pointer, counted from 0

const current = () => overPoint ?? wanted.point - 1;

/**
 * Show the attention of the requested block and point, for one head or all combined.
 * @type {(found: typeof strokes, wish: Wish) => void}
 */
export function showStrokes(found, wish) {
  [strokes, overPoint] = [found, null]; // the element under the pointer no longer exists
  byId("strokes-point").max = strokes.looking;
  settleStrokes({ ...strokes.start, point: Math.ceil(strokes.looking / 2), ...wish });
}

/**
 * Change the selection and record it in the address.
 * @type {(wish: Wish) => void}
 */
export function changeStrokes(wish) {
  settleStrokes({ ...wanted, ...wish });
  remember(wanted);
}

/** @type {(wish: Wish) => void} */
function settleStrokes(wish) {
  const isThere = strokes.points[wish.point - 1] && wish.point <= strokes.looking;
  wanted = { ...settleHead("strokes", strokes, wish), point: isThere ? Number(wish.point) : 1 };
  byId("strokes-point").value = wanted.point;
  drawStrokes();
}

/**
 * The weights of one point over all points, for one head or all combined.
 * @type {(place: number) => number[]}
 */
function pointWeights(place) {
  const count = strokes.looking;
  return headWeights(strokes, wanted, place * count, (place + 1) * count);
}

function drawStrokes() {
  const { points, ends } = strokes;
  const place = current();
  const reach = strokes.ahead ? strokes.looking - 1 : place; // the last point that can be attended to
  const weights = pointWeights(place);
  const most = Math.max(...weights) || 1;
  const pieces = points.slice(1).flatMap(([x2, y2], before) => {
    if (ends[before]) return [];
    const [x1, y1] = points[before];
    const share = before + 1 <= reach ? weights[before + 1] / most : 0;
    const line = drawing("line", { x1, y1, x2, y2, class: before + 1 <= reach ? "piece" : "piece unread" });
    if (before + 1 <= reach) line.style.strokeOpacity = String(0.15 + 0.85 * share);
    line.style.strokeWidth = `${1.5 + STRONGEST * share}px`;
    return [line];
  });
  const [[left, top], [width, height]] = frame();
  const radius = Math.max(width, height) / 80;
  /** @type {(point: number[], kind: string, r?: number) => SVGCircleElement} */
  const spot = ([cx, cy], kind, r = radius) => drawing("circle", { cx, cy, r, class: kind });
  // The first point of a stroke has no piece that leads to it, and is a dot.
  const firsts = points.flatMap((point, at) => {
    if (at > reach || (at && !ends[at - 1])) return [];
    const dot = spot(point, "first", radius * (0.3 + weights[at] / most));
    dot.style.fillOpacity = String(0.15 + (0.85 * weights[at]) / most);
    return [dot];
  });
  const marks = [...firsts, spot(points[place], "here")];
  if (!strokes.ahead && points[place + 1]) marks.push(spot(points[place + 1], "next"));
  byId("strokes").setAttribute("viewBox", `${left} ${top} ${width} ${height}`);
  byId("strokes").replaceChildren(...pieces, ...marks);
  const farthest = weights.indexOf(Math.max(...weights));
  const told = { point: place + 1, most: farthest + 1, share: percent(weights[farthest]) };
  byId("strokes-readout").textContent = say(strokes.ahead ? "strokes.most_of_all" : "strokes.most", told);
}

/** The corner and the sides of the displayed area: the drawing and a margin. */
function frame() {
  const axes = [0, 1].map((axis) => strokes.points.map((point) => point[axis]));
  const low = axes.map((values) => Math.min(...values));
  const sides = axes.map((values, axis) => Math.max(...values) - low[axis]);
  const margin = 0.06 * Math.max(...sides, 1);
  return [low.map((value) => value - margin), sides.map((side) => side + 2 * margin)];
}

/**
 * Mount the view.
 * @type {(holder: HTMLElement) => void}
 */
export function mountStrokes(holder) {
  const slider = element("input", { id: "strokes-point", type: "range", min: "1", step: "1" });
  const chosen = element("label", { class: "worded" }, say("strokes.point"), slider);
  const form = headControls("strokes", changeStrokes, chosen);
  const field = drawing("svg", { id: "strokes", role: "img", "aria-label": say("strokes.about") });
  const readout = element("p", { id: "strokes-readout", class: "readout", role: "status" });
  const part = section("strokes", say("strokes.title"), readout, field);
  holder.append(form, part, element("p", { id: "strokes-caption", class: "caption" }));
  savable(part, "strokes", () => ({ ...wanted, points: strokes.points, weights: pointWeights(current()) }));
  slider.addEventListener("input", () => changeStrokes({ point: slider.value }));
  field.addEventListener("pointermove", ({ clientX, clientY }) => {
    const spot = new DOMPoint(clientX, clientY).matrixTransform(field.getScreenCTM()?.inverse());
    const distances = strokes.points.slice(0, strokes.looking).map(([x, y]) => Math.hypot(x - spot.x, y - spot.y));
    overPoint = distances.indexOf(Math.min(...distances));
    drawStrokes();
  });
  field.addEventListener("click", () => overPoint !== null && changeStrokes({ point: overPoint + 1 }));
  field.addEventListener("pointerleave", () => {
    overPoint = null;
    drawStrokes();
  });
}
