// A part of the page as an SVG: its boxes, words, canvases and curves, as the browser has laid them out.

import { drawing } from "./common.js";
import { brushOf } from "./raster.js";

/** @import { Attributes } from "./common.js" */
/** @typedef {{ left: number, top: number, right: number, bottom: number }} Extent */
/** @typedef {{ text: string, box: DOMRect, right: number }} Line */

const LEFT_OUT = "[hidden], .unsaved, .unseen, input, select, textarea, details, script, style";
const FIGURES = "path, line, circle, text"; // the elements of the drawings inside the page
const FIGURE_STYLE = [
  "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "stroke-linecap", "fill", "fill-opacity", "opacity",
  "vector-effect", "font-size", "font-family", "text-anchor",
];
const UNPRINTABLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g; // characters that XML does not allow

const measuring = brushOf(document.createElement("canvas"));

/**
 * A part of the page as an SVG element, including what is scrolled out of sight.
 * @type {(root: HTMLElement) => SVGSVGElement}
 */
export function snapshot(root) {
  root.classList.add("whole");
  const scrolled = [...root.querySelectorAll("*")].filter((each) => each.scrollLeft || each.scrollTop);
  const before = scrolled.map(({ scrollLeft: left, scrollTop: top }) => ({ left, top }));
  scrolled.forEach((each) => each.scrollTo(0, 0));
  const { left, top, width, height } = root.getBoundingClientRect();
  const extent = { left, top, right: left + width, bottom: top + height };
  const content = drawn(root, extent);
  root.classList.remove("whole");
  scrolled.forEach((each, place) => each.scrollTo(before[place]));
  const size = [Math.ceil(extent.right - left), Math.ceil(extent.bottom - top)];
  const ground = { width: size[0], height: size[1], fill: getComputedStyle(document.body).backgroundColor };
  const whole = { width: size[0], height: size[1], viewBox: `0 0 ${size[0]} ${size[1]}` };
  return drawing("svg", whole, drawing("rect", ground), ...content);
}

/**
 * An element and everything in it; `extent` grows to contain it.
 * @type {(node: any, extent: Extent) => SVGElement[]}
 */
function drawn(node, extent) {
  if (node.nodeType === Node.TEXT_NODE) return lettering(node, extent);
  if (node.nodeType !== Node.ELEMENT_NODE || node.matches(LEFT_OUT)) return [];
  const style = getComputedStyle(node);
  if (style.display === "none" || style.visibility === "hidden") return [];
  if (style.transform !== "none") return [turned(node, style, extent)];
  const box = node.getBoundingClientRect();
  if (box.width && !style.overflowX.match(/auto|scroll|hidden/)) widen(extent, box);
  if (node.tagName === "CANVAS") return [picture(node, box, extent)];
  if (node.tagName === "svg") return [curves(node, box, extent)];
  const parts = [...framed(style, box, extent), ...[...node.childNodes].flatMap((child) => drawn(child, extent))];
  return style.opacity === "1" ? parts : [drawing("g", { opacity: style.opacity }, ...parts)];
}

/** @type {(extent: Extent, box: { right: number, bottom: number }) => void} */
function widen(extent, { right, bottom }) {
  extent.right = Math.max(extent.right, right);
  extent.bottom = Math.max(extent.bottom, bottom);
}

/**
 * A rotated element is measured without its rotation and rotated in the drawing.
 * @type {(node: HTMLElement, style: CSSStyleDeclaration, extent: Extent) => SVGElement}
 */
function turned(node, style, extent) {
  const { transform } = style;
  const own = node.style.transform;
  node.style.transform = "none";
  const box = node.getBoundingClientRect();
  const [x, y] = style.transformOrigin.split(" ").map(Number.parseFloat);
  const [right, down] = [box.left - extent.left + x, box.top - extent.top + y];
  const parts = drawn(node, extent);
  node.style.transform = own;
  const about = `translate(${right} ${down}) ${transform} translate(${-right} ${-down})`;
  return drawing("g", { transform: about }, ...parts);
}

/**
 * The background and the border of an element.
 * @type {(style: CSSStyleDeclaration, box: DOMRect, extent: Extent) => SVGElement[]}
 */
function framed(style, box, extent) {
  const border = Number.parseFloat(style.borderTopWidth);
  const [isFilled, isEdged] = [style.backgroundColor, border && style.borderTopColor].map(isSeen);
  if (!box.width || (!isFilled && !isEdged)) return [];
  if (border && !Number.parseFloat(style.borderBottomWidth)) return [rule(style, box, extent, border)];
  const inset = border / 2;
  const place = { x: box.left - extent.left + inset, y: box.top - extent.top + inset };
  const size = { width: Math.max(box.width - border, 0), height: Math.max(box.height - border, 0) };
  /** @type {Attributes} */
  const attributes = { ...place, ...size, rx: Number.parseFloat(style.borderTopLeftRadius) || 0 };
  attributes.fill = isFilled ? style.backgroundColor : "none";
  if (isEdged) Object.assign(attributes, { stroke: style.borderTopColor, "stroke-width": border });
  if (style.borderTopStyle === "dashed") attributes["stroke-dasharray"] = "4 3";
  return [drawing("rect", attributes)];
}

/**
 * A border at the top only.
 * @type {(style: CSSStyleDeclaration, box: DOMRect, extent: Extent, height: number) => SVGElement}
 */
function rule(style, box, extent, height) {
  const place = { x: box.left - extent.left, y: box.top - extent.top };
  return drawing("rect", { ...place, width: box.width, height, fill: style.borderTopColor });
}

/** @type {(colour: string | number) => boolean} */
const isSeen = (colour) => Boolean(colour) && !/^(transparent|rgba\(.*, 0\))$/.test(String(colour));

/** @type {(canvas: HTMLCanvasElement, box: DOMRect, extent: Extent) => SVGElement} */
function picture(canvas, box, extent) {
  const place = { x: box.left - extent.left, y: box.top - extent.top, width: box.width, height: box.height };
  const how = { preserveAspectRatio: "none", "image-rendering": getComputedStyle(canvas).imageRendering };
  return drawing("image", { ...place, ...how, href: canvas.toDataURL() });
}

/**
 * The shapes of a drawing inside the page, with their style and scale.
 * @type {(root: SVGElement, box: DOMRect, extent: Extent) => SVGElement}
 */
function curves(root, box, extent) {
  const kept = [...root.querySelectorAll(FIGURES)].filter((shape) => !shape.hasAttribute("hidden"));
  const copies = kept.map((shape) => {
    const copy = /** @type {SVGElement} */ (shape.cloneNode(true));
    ["class", "style"].forEach((name) => copy.removeAttribute(name)); // they have no meaning outside the page
    const style = getComputedStyle(shape);
    for (const name of FIGURE_STYLE) copy.setAttribute(name, style.getPropertyValue(name));
    return copy;
  });
  const place = { x: box.left - extent.left, y: box.top - extent.top, width: box.width, height: box.height };
  const scale = ["viewBox", "preserveAspectRatio"].filter((name) => root.hasAttribute(name));
  const scaled = Object.fromEntries(scale.map((name) => [name, root.getAttribute(name)]));
  return drawing("svg", { ...place, ...scaled, overflow: "visible" }, ...copies);
}

/**
 * The words of a text node, one SVG text per line.
 * @type {(node: Text, extent: Extent) => SVGElement[]}
 */
function lettering(node, extent) {
  const style = getComputedStyle(/** @type {HTMLElement} */ (node.parentElement));
  const range = document.createRange();
  /** @type {Line[]} */
  const lines = [];
  for (const { index, 0: piece } of node.data.matchAll(/\S+\s*/g)) {
    range.setStart(node, index);
    range.setEnd(node, index + piece.trimEnd().length);
    const box = range.getBoundingClientRect();
    if (!box.width) continue;
    widen(extent, box);
    const line = lines.at(-1);
    if (line && Math.abs(line.box.top - box.top) < 2) {
      line.text += piece;
      line.right = Math.max(box.right, line.right);
    } else lines.push({ text: piece, box, right: box.right });
  }
  return lines.map((line) => lettered(line, style, extent));
}

/** @type {(line: Line, style: CSSStyleDeclaration, extent: Extent) => SVGElement} */
function lettered({ text, box, right }, style, extent) {
  measuring.font = `${style.fontStyle} ${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
  const { fontBoundingBoxAscent: above, fontBoundingBoxDescent: under } = measuring.measureText(text);
  const leftwards = style.direction === "rtl";
  const attributes = {
    x: (leftwards ? right : box.left) - extent.left,
    y: box.top - extent.top + (box.height * above) / (above + under),
    fill: style.color,
    "font-family": style.fontFamily,
    "font-size": style.fontSize,
    "font-weight": style.fontWeight,
    "font-style": style.fontStyle,
    direction: style.direction,
  };
  return drawing("text", attributes, text.trimEnd().toWellFormed().replace(UNPRINTABLE, "\ufffd"));
}
