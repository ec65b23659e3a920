// A language model in one file: open its graph and the writing desk.

import { say } from "../parts/texts.js";
import { makeLanguage } from "./language.js";
import { startPage } from "./starting.js";
import { makeTokeniser } from "./tokeniser.js";
import { mountWritingDesk } from "./writing-desk.js";
import { makeWriting } from "./writing.js";

startPage(say("onefile.motto_write"), ["writer.onnx"], (data, [session], makeTensor) => {
  const language = makeLanguage(session, data.sizes, makeTensor);
  const writing = makeWriting(language, makeTokeniser(data.tokeniser), data.forgets);
  mountWritingDesk(data.model, writing);
  Object.assign(globalThis, { writing }); // for the console, and for measuring
});
