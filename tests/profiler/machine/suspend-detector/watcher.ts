/** Watches for what stops it, and says what it has seen once it is resumed. */
import { detectSuspension } from "../../../../src/profiler/machine/suspend-detector.ts";

const stop = detectSuspension();
const alive = setInterval(() => {}, 60_000);
process.on("SIGCONT", () => {
  clearInterval(alive);
  console.log(JSON.stringify(stop()));
});
console.log("watching");
