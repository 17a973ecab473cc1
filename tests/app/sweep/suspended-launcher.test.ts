import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { suspendGroups } from "../../../src/foundation/system/process-signals.ts";
import { until } from "../../wait.ts";
import { workplace } from "./program/start.ts";

const onLinux = test.skipIf(process.platform !== "linux");

/** Of a process, as the kernel tells it: `T` for one that was stopped. */
const stateOf = (pid: number): string | undefined =>
  /\) (\w)/.exec(readFileSync(`/proc/${pid}/stat`, "utf8"))?.[1];

/** A sweep of one job that is suspended with it, and then loses its launcher. */
async function leftSuspended(behaviour: string, isReady: (lines: readonly string[]) => boolean) {
  const place = workplace();
  const launcher = place.start(["-m", "x=1", `do=${behaviour}`, "hydra/launcher=local"]);
  await until(() => isReady(place.lines("ran.txt")));
  const worker = place.state(0)?.attempts.at(-1)?.pid ?? 0;
  launcher.kill("SIGSTOP");
  suspendGroups(worker);
  await until(() => stateOf(worker) === "T");
  launcher.kill("SIGKILL");
  await launcher;
  return place;
}

onLinux("wait lets jobs go on that were suspended with a launcher that is no more", async () => {
  const place = await leftSuspended("hold", (lines) => lines.length > 0);
  place.release();
  const { exitCode } = await place.sweep(["wait", "s"]);
  expect([exitCode, place.state(0)?.status]).toEqual([0, "completed"]);
});

onLinux("cancel lets a suspended job end in its own way", async () => {
  const place = await leftSuspended("touchy", (lines) => lines.includes("listens 0"));
  expect((await place.sweep(["cancel", "s"])).exitCode).toBe(0);
  // Its own words: it was not killed.
  expect(place.state(0)?.attempts.at(-1)?.error).toContain("how dare you");
});
