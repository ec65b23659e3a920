// The page of `regard show forward`: the whole pass of one sentence, from token to logits.

import { remember, wishedAll } from "../parts/address.js";
import { byId } from "../parts/common.js";
import { enclosed, followAddress, openPlainPage } from "../parts/opening.js";
import { say } from "../parts/texts.js";
import { mountForward, showForward } from "./forward.js";

const data = enclosed();
openPlainPage(say("forward.page"), data.text);
const view = mountForward(byId("views"), "forward", (places) => remember({ layers: places }));
settle();
followAddress(settle);

/** Open the layers that the address names. */
function settle() {
  view.open = new Set(wishedAll("layers"));
  showForward(view, data);
}
