// A translator in one file: open its graphs and the desk.

import { say } from "../parts/texts.js";
import { mountDesk } from "./desk.js";
import { makeListing } from "./listing.js";
import { startPage } from "./starting.js";
import { makeTranslate } from "./translating.js";

const GRAPHS = ["encoder.onnx", "step.onnx", "candidates.onnx"];

startPage(say("onefile.motto"), GRAPHS, (data, [encoder, step, candidates], makeTensor, { shortlist }) => {
  const listing = shortlist ? makeListing(candidates, shortlist, makeTensor) : null;
  const translate = makeTranslate(data, { encoder, step, listing, sizes: data.sizes, makeTensor });
  mountDesk(data.model, translate);
  Object.assign(globalThis, { translate }); // for the console, and for measuring
});
