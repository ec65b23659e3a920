// The page of `regard look` for a model that attends to the cells of a picture.

import { wished } from "../parts/address.js";
import { byId } from "../parts/common.js";
import { enclosed, followAddress, openPlainPage } from "../parts/opening.js";
import { changeOverlay, mountOverlay, showOverlay } from "./overlay.js";
import { say } from "../parts/texts.js";

const data = enclosed();
openPlainPage(say("looks.page"), data.title);
mountOverlay(byId("views"));
showOverlay(data, wished());
followAddress(changeOverlay);
