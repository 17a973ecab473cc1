/** Runs of `deep-profile` that meet faults, and what must hold of each. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import {
  type Fault,
  faultsOf,
  LAUNCHER,
  OTHER,
  openPlan,
  underPlan,
} from "../foundation/system/fault-at/plan.ts";
import { availableClients, buildFixture } from "../native/fixtures.ts";

const PROGRAM = fileURLToPath(new URL("../../dist/bin/deep-profile.js", import.meta.url));

export interface FaultedRuns {
  /** File operations of a run that meets no fault. */
  readonly operations: { readonly deepProfile: number; readonly program: number };
  readonly faults: number;
  readonly outcomes: Readonly<Record<string, number>>;
  readonly problems: readonly string[];
}

/** What a whole run directory holds, apart from recordings. */
const REPORTS = [
  ...["report.md", "kernels.md", "stakeholder_summary.md", "env.json", "inputs.yaml", "run.json"],
  ...["report.html", "report.json", "report.md", "regions.csv", "kernels.csv"].map(
    (name) => `recorder/regions/${name}`,
  ),
  ...["report.md", "report.json"].map((name) => `recorder/regions/brief/${name}`),
];

/**
 * Counts the operations of a run of a small program under the recorder, and tries every `step`-th of their faults.
 *
 * @param sideBySide runs at a time
 */
export async function faultedRuns({
  sideBySide,
  step,
}: {
  readonly sideBySide: number;
  readonly step: number;
}): Promise<FaultedRuns> {
  const [client] = availableClients("runs that meet faults");
  if (client === undefined) throw new Error("a compiler is needed");
  const program = await buildFixture("threads.cc", client);
  const folder = mkdtempSync(join(tmpdir(), "faulted-runs-"));
  const env = underPlan("/faulty/");
  const whole = await attempt(folder, program, env, []);
  if (whole.problems.length > 0 || whole.outcome !== "exit code 0")
    throw new Error(`without a fault: ${whole.outcome} ${whole.problems.join("\n")}`);
  const [deepProfile, ofProgram] = [LAUNCHER, OTHER].map(whole.operations);
  const faults = [
    ...faultsOf(LAUNCHER, deepProfile ?? []),
    ...faultsOf(OTHER, ofProgram ?? []),
  ].filter((_, index) => index % step === 0);
  const outcomes: Record<string, number> = {};
  const problems: string[] = [];
  const left = faults.values();
  const tryFaults = async () => {
    const own = underPlan("/faulty/");
    for (const fault of left) {
      const { outcome, problems: found } = await attempt(folder, program, own, [fault]);
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
      problems.push(...found);
    }
  };
  await Promise.all(Array.from({ length: sideBySide }, tryFaults));
  rmSync(folder, { recursive: true, force: true });
  return {
    operations: { deepProfile: deepProfile?.length ?? 0, program: ofProgram?.length ?? 0 },
    faults: faults.length,
    outcomes,
    problems,
  };
}

interface Attempt {
  readonly outcome: string;
  readonly problems: readonly string[];
  readonly operations: (role: number) => readonly number[];
}

async function attempt(
  folder: string,
  program: string,
  env: Readonly<Record<string, string>>,
  faults: readonly Fault[],
): Promise<Attempt> {
  const plan = openPlan(env);
  const cwd = mkdtempSync(join(folder, "r-"));
  const run = join(cwd, "faulty/run");
  mkdirSync(join(cwd, "faulty"));
  plan.arm(...faults);
  const problems: string[] = [];
  const check = (holds: boolean, what: string) => {
    if (!holds) problems.push(what);
  };
  const start = (argv: readonly string[], more: Readonly<Record<string, string>> = {}) =>
    execa(process.execPath, [PROGRAM, ...argv], {
      ...{ cwd, reject: false, stdin: "ignore", timeout: 240_000, env: more, all: true },
    });
  const { all, exitCode, timedOut } = await start(
    [`hydra.run.dir=${run}`, "--", program, "1", "4"],
    env,
  );
  const operations = [LAUNCHER, OTHER].map((role) => [role, plan.operations(role)] as const);
  const failed = faults.flatMap(({ role }) => plan.failed(role) ?? []);
  plan.arm();
  check(!timedOut, "it hangs");
  check(!/^\s+at .+:\d+:\d+\)?$/m.test(all), `an uncoded error:\n${all}`);
  check(exitCode === 0 || exitCode === 1, `exit code ${exitCode}:\n${all}`);
  check(exitCode === 0 || /\S/.test(all), "it fails without a word");
  const missing = () => REPORTS.filter((name) => !existsSync(join(run, name)));
  // What the recorder had no room for is told, and does not make the run fail.
  const isToldCut = /recording stopped after/.test(all);
  if (exitCode === 0 && !isToldCut)
    check(missing().length === 0, `exit code 0 without ${missing()}:\n${all}`);
  const recorded = existsSync(join(run, "recorder"))
    ? readdirSync(join(run, "recorder")).filter((name) => name.endsWith(".nvtxrec"))
    : [];
  // A program that ended well has told the recorder all; whether that is in the file is for the recorder to say.
  const isMeasured = recorded.length > 0 && !faults.some(({ role }) => role === OTHER);
  if (exitCode !== 0 && isMeasured) {
    const again = await start(["report", run]);
    check(
      again.exitCode === 0,
      `'report' ends with ${again.exitCode}:\n${again.all}\nfirst:\n${all}`,
    );
    const left = REPORTS.filter((name) => name.startsWith("recorder/") || name === "report.md");
    const lost = left.filter((name) => !existsSync(join(run, name)));
    check(lost.length === 0, `'report' does not write ${lost}:\n${again.all}`);
  }
  if (
    existsSync(join(run, "recorder/regions/report.json")) &&
    faults.length > 0 &&
    problems.length === 0 &&
    isMeasured
  ) {
    const text = readFileSync(join(run, "recorder/regions/report.json"), "utf8");
    check(/"outer"/.test(text) && /"odd"/.test(text), `regions are missing:\n${all}`);
  }
  rmSync(cwd, { recursive: true, force: true });
  const told = failed.length === 0 ? "nothing failed" : failed.join(", ");
  const of = faults.map(({ at, error, role }) => `${error} at ${at} of ${role}`).join(", ");
  return {
    outcome: `exit code ${exitCode}${exitCode !== 0 && isMeasured ? ", reports made again" : ""}`,
    problems: problems.map((one) => `${of} (${told}): ${one}`),
    operations: (role) => operations.find(([one]) => one === role)?.[1] ?? [],
  };
}
