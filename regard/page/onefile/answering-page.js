// A classifier, a tagger or a BERT in one file: open its graph and the answering desk.

import { say } from "../parts/texts.js";
import { mountAnsweringDesk } from "./answering-desk.js";
import { makeAnswer } from "./reading.js";
import { startPage } from "./starting.js";

startPage(say("onefile.motto_answer"), ["reader.onnx"], (data, [session], makeTensor) => {
  const answer = makeAnswer(data, session, makeTensor);
  mountAnsweringDesk(data.model, data.kind, answer);
  Object.assign(globalThis, { answer }); // for the console, and for measuring
});
