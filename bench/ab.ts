/**
 * What gates of `deep-profile ab`, and of `compare --fail-on auto` of stored runs, say on a machine that other processes keep
 * busy: of a program and itself, and of a program with 10 % more work. `npm run bench ab`, `npm run bench compare`;
 * COMPARISONS=N for another number than 40, BUSY=N for another number of other processes than there are processors,
 * MINUTES=N for an earlier end of `compare`. Minutes long.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { availableClients, buildFixture } from "../tests/native/fixtures.ts";

const command = fileURLToPath(new URL("../dist/bin/deep-profile.js", import.meta.url));
const GATE = "cpu_ms>5%";

/** How many of the comparisons may be breached without a change, and how many must be with one: shares. */
const FALSE_ALARMS = 0;
const FOUND = 0.95;

/** True: no false alarm, and 38 of 40 changes were found. */
export async function benchAb(print: (line: string) => void): Promise<boolean> {
  const [client] = availableClients("the benchmark of ab");
  if (client === undefined) return true;
  const program = await buildFixture("some_work.cc", client);
  const count = Number(process.env["COMPARISONS"] ?? 40);
  const busy = occupied();
  try {
    print(`${GATE}, ${busy.length} other processes computing, up to 30 pairs each`);
    const same = await breaches(count, [program, [program]]);
    print(`A against A:               ${summary(same)}`);
    const more = await breaches(count, [program, [program, "1.125"]]);
    // Four fifths of the work grow by an eighth.
    print(`A against 10 % more work:  ${summary(more)}`);
    return same.breached <= count * FALSE_ALARMS && more.breached >= count * FOUND;
  } finally {
    for (const process of busy) process.kill();
  }
}

const occupied = (): readonly ChildProcess[] =>
  Array.from({ length: Number(process.env["BUSY"] ?? availableParallelism()) }, () =>
    spawn(process.execPath, ["-e", "for (;;);"], { stdio: "ignore" }),
  );

interface Breaches {
  readonly count: number;
  readonly breached: number;
  readonly undecided: number;
  readonly pairs: readonly number[];
}

const summary = ({ count, breached, undecided, pairs }: Breaches): string =>
  `${breached} of ${count} breached, ${undecided} not decided; pairs: ${pairs[0]} to ${pairs.at(-1)}, median ${pairs[pairs.length >> 1]}`;

async function breaches(
  count: number,
  [a, b]: readonly [string, readonly string[]],
): Promise<Breaches> {
  let [breached, undecided] = [0, 0];
  const pairs: number[] = [];
  for (let one = 0; one < count; one++) {
    const directory = mkdtempSync(join(tmpdir(), "ab-bench-"));
    try {
      const { exitCode, stdout, stderr } = await execa(
        process.execPath,
        [
          ...[command, "ab", "--until", "decided", "--pairs", "30", "--gate", GATE],
          ...["--output", join(directory, "ab"), "pipeline.report.html=false"],
          ...["--", a, "--", ...b],
        ],
        { reject: false, cwd: directory },
      );
      const found = /note: (\d+) pairs? of runs/.exec(stdout)?.[1];
      if (found === undefined || ![0, 3].includes(exitCode ?? 1)) throw new Error(stderr);
      if (exitCode === 3) breached++;
      if (stdout.includes("not decided")) undecided++;
      pairs.push(Number(found));
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  }
  return { count, breached, undecided, pairs: pairs.sort((one, other) => one - other) };
}

/** Of stored runs beside a calibration: it allows some false alarms, since sessions differ by more than runs. */
const FALSE_ALARMS_OF_STORED = 0.1;

/** True: at most 4 of 40 false alarms, and 19 of 20 changes were found. */
export async function benchCompare(print: (line: string) => void): Promise<boolean> {
  const [client] = availableClients("the benchmark of compare");
  if (client === undefined) return true;
  const program = await buildFixture("some_work.cc", client);
  const count = Number(process.env["COMPARISONS"] ?? 40);
  const endMs =
    performance.now() + Number(process.env["MINUTES"] ?? Number.POSITIVE_INFINITY) * 60_000;
  const directory = mkdtempSync(join(tmpdir(), "compare-bench-"));
  const profile = async (args: readonly string[], allowed: readonly number[] = [0]) => {
    const { exitCode, stderr } = await execa(process.execPath, [command, ...args], {
      reject: false,
      cwd: directory,
    });
    if (!allowed.includes(exitCode ?? -1)) throw new Error(stderr);
    return exitCode;
  };
  const store = (name: string, args: readonly string[]) =>
    profile([
      ...["repeats=5", "pipeline.report.html=false", `hydra.run.dir=${name}`],
      ...["--", program, ...args],
    ]);
  const isBreached = async (a: string, b: string) =>
    (await profile(["compare", a, b, "--fail-on", "auto", ...NOISE], [0, 3])) === 3;
  const busy = occupied();
  try {
    await profile(["calibrate", "--output", "noise.json", "--", program]);
    let [same, falseAlarms, planted, found] = [0, 0, 0, 0];
    await store("a0", []);
    while (same < count && performance.now() < endMs) {
      await store(`a${++same}`, []);
      if (await isBreached(`a${same - 1}`, `a${same}`)) falseAlarms++;
      // A change beside every second comparison without one, so that an early end has both.
      if (same % 2 === 0) continue;
      await store(`b${++planted}`, ["1.125"]);
      if (await isBreached(`a${same}`, `b${planted}`)) found++;
    }
    print(`auto, ${busy.length} other processes computing, calibrated by 6 sessions of 5 runs`);
    print(`A against A:               ${falseAlarms} of ${same} breached`);
    print(`A against 10 % more work:  ${found} of ${planted} breached`);
    return falseAlarms <= same * FALSE_ALARMS_OF_STORED && found >= planted * FOUND;
  } finally {
    for (const process of busy) process.kill();
    rmSync(directory, { recursive: true, force: true });
  }
}

const NOISE = ["--calibration", "noise.json"];

if (process.argv[1] === fileURLToPath(import.meta.url))
  process.exitCode = (await benchAb(console.log)) ? 0 : 1;
