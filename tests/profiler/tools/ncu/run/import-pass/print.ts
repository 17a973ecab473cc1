/** Prints a page with the ncu that is named first, into the file that is named second, and says what came of it. */
import { importPage, RAW } from "../../../../../../src/profiler/tools/ncu/run/import-pass.ts";

const [path = "", file = ""] = process.argv.slice(2);
const ncu = { path, version: "2024.1", options: new Set<string>(), accepts: () => true };
const control = { stop: new AbortController().signal, say: () => {} };
void importPage(ncu, "r1.ncu-rep", RAW, file, control).then((printed) =>
  console.log(JSON.stringify(printed)),
);
