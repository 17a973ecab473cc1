/** `FOLDER FACTS ROUNDS`: writes a manifest with a list of its own so many times, each with a job more, as who takes a sweep up does. */

import { removeUnlistedFiles } from "../../../../src/app/record/cleanup.ts";
import { createJobList } from "../../../../src/app/record/job-list.ts";
import { type SweepFacts, writeManifest } from "../../../../src/app/record/manifest.ts";
import { jobOf } from "../written.ts";

const [folder = "", facts = "", rounds] = process.argv.slice(2);
for (let round = 0; round < Number(rounds); round++) {
  const list = createJobList(folder, [jobOf(0)], []);
  writeManifest(folder, JSON.parse(facts) as SweepFacts, list.name);
  removeUnlistedFiles(folder, list.name);
  list.add(Array.from({ length: round }, (_, index) => jobOf(index + 1)));
}
