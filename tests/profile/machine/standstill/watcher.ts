/** Watches for what stops it, and says what it has seen once it is resumed. */
import { watchStandstill } from "../../../../src/profile/machine/standstill.ts";

const stop = watchStandstill();
const alive = setInterval(() => {}, 60_000);
process.on("SIGCONT", () => {
  clearInterval(alive);
  console.log(JSON.stringify(stop()));
});
console.log("watching");
