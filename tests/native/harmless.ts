import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { forEachRange } from "../../src/profiler/model/timeline.ts";
import { readRecording } from "../../src/profiler/tools/recorder/read.ts";
import { buildFixture, type Client } from "./fixtures.ts";
import { CASES, FLAGS, type HarmlessCase, MEMORY_KB } from "./harmless-cases.ts";

/**
 * Runs programs with and without the recorder, and compares all that can be seen of them. A program's lines "memory N" (kB) and the
 * recorder's one line about a directory that it cannot use are taken out first.
 */

/** A program that takes longer, at a scale of one, is hung: far above what any case takes. */
const HUNG_MS = 60_000;

/** Exit code of a case that this machine cannot run; its output says why. */
const SKIPPED = 77;

interface Observed {
  readonly ended: string;
  readonly stdout: string;
  readonly stderr: string;
}

interface Ran {
  readonly observed: Observed;
  /** Of each process that told, in the order of their ends. */
  readonly memoryKb: readonly number[];
  readonly complaints: number;
}

export interface Setup {
  readonly client: Client;
  /** Flags for the compiler, e.g. of a sanitizer. */
  readonly flags?: readonly string[];
  /** Also sets how much the case does. */
  readonly scale?: number;
  /** Path of the recorder. */
  readonly recorder: string;
  /** For both runs, e.g. options of sanitizers. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Memory is not compared where an instrumented program has its own ideas of it. */
  readonly compareMemory?: boolean;
}

/** Programs that load plugin.cc's library. */
const WITH_PLUGIN = ["libraries", "children"];

/** The programs of the corpus, compiled before the tests that run them, on two processors. */
export async function buildCorpus(client: (program: string) => Client): Promise<void> {
  const programs = [...new Set(CASES.map(({ program }) => program))];
  const build = async (): Promise<void> => {
    for (let program = programs.pop(); program !== undefined; program = programs.pop()) {
      await buildProgram(program, client(program));
      if (WITH_PLUGIN.includes(program)) await buildPlugin(client(program));
    }
  };
  await Promise.all([build(), build()]);
}

const buildProgram = (program: string, client: Client, flags: readonly string[] = []) =>
  buildFixture(`harmless/${program}.cc`, client, [...(FLAGS[program] ?? []), ...flags]);

const buildPlugin = (client: Client, flags: readonly string[] = []) =>
  buildFixture("harmless/plugin.cc", client, ["-shared", "-fPIC", ...flags]);

/**
 * Runs a case without and with the recorder and expects no difference.
 *
 * @returns why this machine cannot run it; null when it ran
 */
export async function expectHarmless(one: HarmlessCase, setup: Setup): Promise<string | null> {
  const { client, flags = [], scale = 1 } = setup;
  const program = await buildProgram(one.program, client, flags);
  const plugin = WITH_PLUGIN.includes(one.program) ? await buildPlugin(client, flags) : null;
  const base = mkdtempSync(join(tmpdir(), "harmless-"));
  const recordings = join(base, "recordings");
  mkdirSync(recordings);
  const common = {
    PATH: process.env["PATH"] ?? "",
    ...setup.environment,
    ...(plugin !== null && { HARMLESS_PLUGIN: plugin }),
  };
  const args = (): string[] => [one.name, emptyDirectory(base), String(scale)];
  const plain = await run(program, args(), common, base, scale);
  if (plain.observed.ended === `exit ${SKIPPED}`) return lastLine(plain.observed.stdout);
  expect(plain.observed.ended, `without the recorder: ${text(plain.observed)}`).not.toMatch(
    /hung|exit (2|99)$/,
  );

  const variables = {
    NVTX_INJECTION64_PATH: setup.recorder,
    HYDRACONF_RECORDER_DIR: recordings,
    ...one.settings,
  };
  const recorded = await run(program, args(), { ...common, ...variables }, base, scale);
  expect(recorded.observed).toEqual(plain.observed);
  expect(recorded.complaints).toBeLessThanOrEqual(one.complains === true ? 1 : 0);
  if (setup.compareMemory !== false) compareMemory(one, scale, plain, recorded);
  expectRecorded(one, recordings);
  rmSync(base, { recursive: true, force: true });
  return null;
}

function emptyDirectory(base: string): string {
  const directory = join(base, "scratch");
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory);
  return directory;
}

const lastLine = (output: string): string => output.trimEnd().split("\n").at(-1) ?? "";

const text = ({ stdout, stderr }: Observed): string => `${stdout}${stderr}`.slice(-2000);

function compareMemory(one: HarmlessCase, scale: number, plain: Ran, recorded: Ran): void {
  const bound = (one.memoryKb ?? MEMORY_KB) + (scale - 1) * (one.memoryKbPerScale ?? 0);
  expect(recorded.memoryKb).toHaveLength(plain.memoryKb.length);
  const most = (ran: Ran): number => Math.max(0, ...ran.memoryKb);
  expect(most(recorded) - most(plain), "kB that the recorder adds").toBeLessThanOrEqual(bound);
}

/** That the case ran under a recorder at all; and what it left can be read whatever the case did. */
function expectRecorded({ recorded }: HarmlessCase, directory: string): void {
  if (recorded === null) return;
  const names = new Set<string>();
  for (const process of readRecording(directory).processes) {
    // A busy thread of a fast machine records more ranges than are kept.
    forEachRange(process, ({ name }) => names.add(name));
    for (const { name } of process.marks) names.add(name);
  }
  if (recorded === undefined) expect(names.size).toBeGreaterThan(0);
  else expect(names.has(recorded), `"${recorded}" is recorded`).toBe(true);
}

async function run(
  program: string,
  args: readonly string[],
  env: Record<string, string>,
  base: string,
  scale: number,
): Promise<Ran> {
  // Files, not pipes: a child that hangs would keep a pipe open.
  const paths = [join(base, "stdout"), join(base, "stderr")] as const;
  const files = paths.map((path) => openSync(path, "w"));
  const stdio = ["ignore" as const, ...files];
  // In a process group of its own, which can be ended as a whole.
  const child = spawn(program, args, { cwd: base, env, stdio, detached: true });
  let hung = false;
  const clock = setTimeout(() => {
    hung = true;
    if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
  }, HUNG_MS * scale);
  const [code, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals | null];
  clearTimeout(clock);
  for (const file of files) closeSync(file);
  const [stdout, stderr] = paths.map((path) => readFileSync(path, "utf8"));
  const memory = /memory (\d+)\n/g;
  const complaint = /^region_recorder: cannot record into .*\n/gm;
  return {
    observed: {
      ended: hung ? "hung" : signal !== null ? signal : `exit ${code}`,
      stdout: (stdout ?? "").replaceAll(memory, ""),
      stderr: (stderr ?? "").replaceAll(complaint, ""),
    },
    memoryKb: [...(stdout ?? "").matchAll(memory)].map(([, kb]) => Number(kb)),
    complaints: [...(stderr ?? "").matchAll(complaint)].length,
  };
}
