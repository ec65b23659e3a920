// A translator in one file: open its two graphs and the desk.

import { say } from "../parts/texts.js";
import { mountDesk } from "./desk.js";
import { startPage } from "./starting.js";
import { makeTranslate } from "./translating.js";

startPage(say("onefile.motto"), ["encoder.onnx", "step.onnx"], (data, [encoder, step], makeTensor) => {
  const translate = makeTranslate(data, { encoder, step, sizes: data.sizes, makeTensor });
  mountDesk(data.model, translate);
  Object.assign(globalThis, { translate }); // for the console, and for measuring
});
