// The page of `regard look` for a model that reads and writes the slots of a memory.

import { wished } from "../parts/address.js";
import { byId } from "../parts/common.js";
import { enclosed, followAddress, followWidth, openPlainPage } from "../parts/opening.js";
import { changeSlots, layOutSlots, mountSlots, showSlots } from "./slots.js";
import { say } from "../parts/texts.js";

const data = enclosed();
openPlainPage(say("looks.page"), data.title);
mountSlots(byId("views"));
showSlots(data, wished());
followWidth(layOutSlots);
followAddress(changeSlots);
