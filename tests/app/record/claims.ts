/** Claims a sweep as its launcher does: `claims FOLDER READY`; the file READY is there when it is about to. */
import { writeFileSync } from "node:fs";
import { claimSweep } from "../../../src/app/record/launcher-claim.ts";

const [, , folder = "", ready = ""] = process.argv;
writeFileSync(ready, "");
claimSweep(folder).release();
