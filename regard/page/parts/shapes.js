// Outlines in drawings: curves between two points, and a shape for each class.

// The corners of each shape, and its rotation; one without corners is a circle.
const SHAPES = [[0, 0], [4, 0.125], [3, 0], [4, 0], [3, 0.5], [5, 0], [6, 0], [8, 0.0625], [5, 0.5], [7, 0]];

export const KINDS_OF_SHAPES = SHAPES.length;

/**
 * @param {number} x
 * @param {number} y
 */
const point = (x, y) => `${x.toFixed(1)} ${y.toFixed(1)}`;

/**
 * A curve between two points whose middle lies `offset` beside the straight line.
 * @param {number[]} from
 * @param {number[]} to
 * @param {number} offset
 */
export function bow([x1, y1], [x2, y2], offset) {
  const length = Math.hypot(x2 - x1, y2 - y1) || 1;
  const x = (x1 + x2) / 2 + (2 * offset * (y2 - y1)) / length;
  const y = (y1 + y2) / 2 - (2 * offset * (x2 - x1)) / length;
  return `M ${point(x1, y1)} Q ${point(x, y)} ${point(x2, y2)}`;
}

/**
 * The shape of a class around a point; shapes with fewer corners extend farther, so that all look equally large.
 * @param {number} kind
 * @param {number} x
 * @param {number} y
 * @param {number} radius
 */
export function outline(kind, x, y, radius) {
  const [corners, turn] = SHAPES[kind];
  const half = `a ${radius} ${radius} 0 1 0`;
  if (!corners) return `M ${x - radius} ${y} ${half} ${2 * radius} 0 ${half} ${-2 * radius} 0 z`;
  const reach = radius * (corners < 5 ? 1.25 : 1.1);
  const around = Array.from({ length: corners }, (_, corner) => 2 * Math.PI * (corner / corners + turn));
  return `M ${around.map((at) => point(x + reach * Math.sin(at), y - reach * Math.cos(at))).join(" L ")} z`;
}

/**
 * Two lines that cross at a point.
 * @param {number[]} point
 * @param {number} arm
 */
export const cross = ([x, y], arm) => {
  return `M ${x - arm} ${y - arm} l ${2 * arm} ${2 * arm} m 0 ${-2 * arm} l ${-2 * arm} ${2 * arm}`;
};
