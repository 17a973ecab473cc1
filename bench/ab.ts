/**
 * What gates of `deep-profile ab` say on a machine that other processes keep busy: of a program and itself, and of a
 * program with 10 % more work. `npm run bench ab`; COMPARISONS=N for another number than 40. Minutes long.
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
  const busy = Array.from({ length: availableParallelism() }, occupy);
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

const occupy = (): ChildProcess =>
  spawn(process.execPath, ["-e", "for (;;);"], { stdio: "ignore" });

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

if (process.argv[1] === fileURLToPath(import.meta.url))
  process.exitCode = (await benchAb(console.log)) ? 0 : 1;
