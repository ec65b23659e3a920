// Pixel images on canvases.

/** @typedef {{ width: number, height: number, bytes: number[] }} Picture */

/**
 * The 2D context of a canvas.
 * @param {HTMLCanvasElement} canvas
 */
export const brushOf = (canvas) => /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));

/**
 * A colour from the style of the page, by the name of its property: red, green and blue.
 * @param {string} name
 */
export const pageColour = (name) => {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim().split(" ").map(Number);
};

/** The tint colour from the style of the page. */
export const tintColour = () => pageColour("--tint");

/**
 * Fill a canvas with a picture: bytes of grey, or of red, green and blue, row by row; converted to grey if asked.
 * @param {HTMLCanvasElement} canvas
 * @param {Picture} picture
 */
export function paintPicture(canvas, { width, height, bytes }, isGrey = false) {
  const picture = new ImageData(width, height);
  const channels = bytes.length / (width * height);
  for (let pixel = 0; pixel < width * height; pixel += 1) {
    const own = bytes.slice(pixel * channels, (pixel + 1) * channels);
    const colours = channels === 1 ? [own[0], own[0], own[0]] : own;
    const [red, green, blue] = colours;
    const grey = 0.299 * red + 0.587 * green + 0.114 * blue;
    picture.data.set([...(isGrey ? [grey, grey, grey] : colours), 255], pixel * 4);
  }
  [canvas.width, canvas.height] = [width, height];
  brushOf(canvas).putImageData(picture, 0, 0);
}

/**
 * Fill a canvas with one colour, a pixel for each weight; larger weights are more opaque.
 * @param {HTMLCanvasElement} canvas
 * @param {number} columns
 * @param {number[]} weights
 * @param {number[]} colour
 */
export function paintTint(canvas, columns, weights, [red, green, blue]) {
  const most = weights.reduce((largest, weight) => Math.max(largest, weight), 0) || 1; // too many to spread
  const picture = new ImageData(columns, weights.length / columns);
  weights.forEach((weight, place) => picture.data.set([red, green, blue, (205 * weight) / most], place * 4));
  [canvas.width, canvas.height] = [picture.width, picture.height];
  brushOf(canvas).putImageData(picture, 0, 0);
}
