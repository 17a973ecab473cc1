import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { followLog } from "../../../../../src/profiler/tools/ncu/run/run-pass.ts";
import { eventually } from "../../../../wait.ts";

const root = mkdtempSync(join(tmpdir(), "hydraconf-follow-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const pass = { name: "profile", mode: "kernel" } as const;
const log = join(root, "ncu.log");
writeFileSync(log, '==PROF== Profiling "gemm" - 0: 0%....50%');

/** What the terminal is told, in order. */
function terminal() {
  const told: string[] = [];
  const progress = {
    isShown: true,
    begin: () => {},
    update: (line: string) => void told.push(line),
    stop: () => void told.push("stopped"),
  };
  return { told, context: { progress, say: (line: string) => void told.push(line) } };
}

/** Follows the log until that has shown what is measured. */
async function showsWhatIsMeasured(): Promise<void> {
  const { told, context } = terminal();
  const following = followLog(pass, log, { stdout: "document" }, context);
  const line = "ncu profile, kernel replay: 0 measured, now gemm (50 %)";
  await eventually(() => expect(told).toContain(line));
  following.stop();
}

it("shows what is measured", showsWhatIsMeasured);

it("shows nothing after it was stopped, though the log was being read", async () => {
  const { told, context } = terminal();
  followLog(pass, log, { stdout: "document" }, context).stop();
  // Who began to read later has read all by then.
  await showsWhatIsMeasured();
  expect(told).toEqual(["stopped"]);
});
