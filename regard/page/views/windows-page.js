// The page of `regard look` for a model that sees a picture through windows.

import { wished } from "../parts/address.js";
import { byId } from "../parts/common.js";
import { enclosed, followAddress, followWidth, openPlainPage } from "../parts/opening.js";
import { say } from "../parts/texts.js";
import { changeWindows, layOutWindows, mountWindows, showWindows } from "./windows.js";

const data = enclosed();
openPlainPage(say("looks.page"), data.title);
mountWindows(byId("views"));
showWindows(data, wished());
followWidth(layOutWindows);
followAddress(changeWindows);
