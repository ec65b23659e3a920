// Labels beside points without overlaps; labels that do not fit are omitted.

/** @typedef {{ left: number, top: number, right: number, bottom: number }} Box */
/** @typedef {{ x: number, y: number, width: number, height: number }} Named a point, and the size of its label */

// Right of the point, left of it, above, below, and at its corners.
const SIDES = [[1, 0], [-1, 0], [0, -1], [0, 1], [1, -1], [-1, -1], [1, 1], [-1, 1]];
const CELL = 64; // pixels; side of the grid squares that index the boxes

/**
 * The start of a label along one axis, relative to its point: after it, before it, or centred.
 * @type {(side: number, length: number, gap: number) => number}
 */
const start = (side, length, gap) => (side > 0 ? gap : side < 0 ? -gap - length : -length / 2);

/**
 * The grid squares that a box touches.
 * @type {(box: Box) => string[]}
 */
function squares({ left, top, right, bottom }) {
  const found = [];
  for (let x = Math.floor(left / CELL); x <= Math.floor(right / CELL); x += 1) {
    for (let y = Math.floor(top / CELL); y <= Math.floor(bottom / CELL); y += 1) found.push(`${x} ${y}`);
  }
  return found;
}

/** @type {(one: Box, other: Box) => boolean} */
const meet = (one, other) => {
  return one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;
};

/**
 * The boxes of the labels, or null for each that does not fit; earlier points take precedence.
 * @type {(points: Named[], gap: number) => (Box | null)[]}
 */
export function placeLabels(points, gap) {
  /** @type {Map<string, Box[]>} */
  const taken = new Map();
  /** @type {(box: Box) => boolean} */
  const isFree = (box) => squares(box).every((key) => (taken.get(key) ?? []).every((other) => !meet(box, other)));
  /** @type {(box: Box) => void} */
  const take = (box) => squares(box).forEach((key) => taken.set(key, [...(taken.get(key) ?? []), box]));
  points.forEach(({ x, y }) => take({ left: x - 1, top: y - 1, right: x + 1, bottom: y + 1 }));
  return points.map(({ x, y, width, height }) => {
    for (const [across, down] of SIDES) {
      const [left, top] = [x + start(across, width, gap), y + start(down, height, gap)];
      const box = { left, top, right: left + width, bottom: top + height };
      if (!isFree(box)) continue;
      take(box);
      return box;
    }
    return null;
  });
}
