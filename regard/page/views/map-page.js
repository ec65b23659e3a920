// The page of `regard map`: words in the plane.

import { wished } from "../parts/address.js";
import { byId } from "../parts/common.js";
import { changeMap, layOutMap, mountMap, showMap } from "./map.js";
import { enclosed, followAddress, followWidth, openPlainPage } from "../parts/opening.js";
import { say } from "../parts/texts.js";

const data = enclosed();
openPlainPage(say("map.page"), data.title);
mountMap(byId("views"));
showMap(data, wished());
followWidth(layOutMap);
followAddress(changeMap);
