// The network: ONNX graphs that onnxruntime runs, one that reads a sentence and one that writes a token per row.

import { queriesOf } from "./attending.js";

/** @import { Listing } from "./listing.js" */
/** @import { Step } from "./search.js" */
/** @typedef {{ dims: readonly number[], data: any }} Tensor */
/** @typedef {Record<string, Tensor>} Tensors by name */
/**
 * @typedef {object} Session
 * @property {readonly string[]} inputNames
 * @property {readonly string[]} outputNames
 * @property {(inputs: Tensors) => Promise<Tensors>} run
 */
/** @typedef {{ past: Record<string, number[]>, vocabulary: number }} Sizes shapes of the past before the first token */
/**
 * @typedef {object} Network
 * @property {Session} encoder
 * @property {Session} step
 * @property {Listing | null} listing if only some tokens may be written
 * @property {Sizes} sizes
 * @property {(kind: string, data: any, dims: number[]) => Tensor} makeTensor
 */

/**
 * Read a sentence, whose last token is its end: its attention to itself, and the function that writes one more token
 * per row; `end` is the end of an output.
 * @type {(network: Network, source: number[], end: number) => Promise<{ looks: Float32Array[][], write: Step }>}
 */
export async function readSentence({ encoder, step, listing, sizes, makeTensor }, source, end) {
  /** @type {(values: number[], dims: number[]) => Tensor} */
  const wholes = (values, dims) => makeTensor("int64", BigInt64Array.from(values, BigInt), dims);
  const encoded = await encoder.run({
    source: wholes(source, [1, source.length]),
    lengths: wholes([source.length], [1]),
  });
  const { candidates = null, layer = {} } = (await listing?.(source, end)) ?? {};
  const remembered = Object.entries(encoded).filter(([name]) => name.startsWith("memory."));
  const memory = { ...Object.fromEntries(remembered), ...layer };
  const most = candidates?.length ?? sizes.vocabulary;
  /** @type {(place: number) => number} */
  const tokenAt = (place) => (candidates ? candidates[place] : place);
  const own = encoder.outputNames
    .filter((name) => name.startsWith("own_looks."))
    .map((name) => queriesOf(encoded[name]));
  /** @type {Tensors} */
  let past = Object.fromEntries(
    step.inputNames.filter((name) => name.startsWith("past.")).map((name) => {
      const dims = sizes.past[name.split(".")[1]];
      const size = dims.reduce((one, other) => one * other, 1);
      return [name, makeTensor("float32", new Float32Array(size), dims)];
    }),
  );
  /** @type {(kind: string, outputs: Tensors) => any[][]} */
  const rowsOfBlocks = (kind, outputs) => {
    return step.outputNames.filter((name) => name.startsWith(kind)).map((name) => rowsOf(outputs[name]));
  };
  /** @type {Step} */
  const write = async (tokens, origins, count) => {
    const inputs = {
      target: wholes(tokens, [tokens.length, 1]),
      count: wholes([Math.min(count, most)], [1]),
    };
    const outputs = await step.run({ ...inputs, ...memory, ...chosenRows(past, origins, makeTensor) });
    past = Object.fromEntries(Object.keys(past).map((name) => [name, outputs[name.replace("past", "present")]]));
    const [cross, back] = ["looks.", "own_looks."].map((kind) => rowsOfBlocks(kind, outputs));
    return {
      values: rowsOf(outputs.best).map((row) => [...row]),
      tokens: rowsOf(outputs.tokens).map((row) => Array.from(row, (place) => tokenAt(Number(place)))),
      end: [...outputs.end.data],
      looks: tokens.map((_, row) => cross.map((rows) => rows[row])),
      back: tokens.map((_, row) => back.map((rows) => rows[row])),
    };
  };
  return { looks: source.map((_, place) => own.map((queries) => queries[place])), write };
}

/**
 * The data of a tensor, split along its first axis.
 * @type {(tensor: Tensor) => any[]}
 */
function rowsOf({ data, dims: [rows] }) {
  const size = data.length / rows;
  return Array.from({ length: rows }, (_, row) => data.slice(row * size, (row + 1) * size));
}

/**
 * The caches of these rows, for hypotheses that continue them.
 * @type {(past: Tensors, origins: number[], makeTensor: Network["makeTensor"]) => Tensors}
 */
function chosenRows(past, origins, makeTensor) {
  const rows = Object.values(past)[0].dims[0];
  if (origins.length === rows && origins.every((origin, row) => origin === row)) return past;
  /** @type {(tensor: Tensor) => Tensor} */
  const chosen = ({ data, dims: [, ...dims] }) => {
    const size = dims.reduce((one, other) => one * other, 1);
    const taken = new Float32Array(size * origins.length);
    origins.forEach((origin, row) => taken.set(data.subarray(origin * size, (origin + 1) * size), row * size));
    return makeTensor("float32", taken, [origins.length, ...dims]);
  };
  return Object.fromEntries(Object.entries(past).map(([name, tensor]) => [name, chosen(tensor)]));
}
