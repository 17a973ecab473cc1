/**
 * Claims a file again and again: `FOLDER ROUNDS DEAD`. While it holds the claim it makes a directory that
 * nobody else may have made, and removes it. Every other time it leaves a claim of a dead process (DEAD).
 */
import { mkdirSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { tryClaim } from "../../../../src/foundation/system/process-claim.ts";

const [folder = "", rounds, dead] = process.argv.slice(2);
const witness = join(folder, "witness");
for (let round = 0; round < Number(rounds); ) {
  const attempt = tryClaim(join(folder, "claim.json"));
  if (attempt.kind === "held") continue;
  mkdirSync(witness);
  rmdirSync(witness);
  if (round % 2 === 0) attempt.claim.handOver(Number(dead));
  else attempt.claim.release();
  round++;
}
