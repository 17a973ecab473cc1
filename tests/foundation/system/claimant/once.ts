/** Claims a file once and prints what came of it; `FILE hold` then waits for the end of its input. */
import { tryClaim } from "../../../../src/foundation/system/process-claim.ts";

const [file = "", hold] = process.argv.slice(2);
const attempt = tryClaim(file);
console.log(attempt.kind === "taken" ? "taken" : `held ${attempt.alive}`);
if (hold === "hold") process.stdin.resume();
