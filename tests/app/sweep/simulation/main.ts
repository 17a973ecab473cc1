/** `node MAIN FIRST COUNT [KIND]`: simulates sweeps with so many seeds, and prints what came of them as JSON. */
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isMainThread, MessageChannel, Worker, workerData } from "node:worker_threads";
import { CONFIG, KINDS, type KindName } from "./program.ts";
import { createCells, shared, THREADS } from "./shared.ts";
import { runThread } from "./thread.ts";
import { type SimulatedRun, simulate } from "./world.ts";

export interface Simulations {
  readonly runs: number;
  readonly kills: number;
  readonly turns: number;
  readonly drivers: number;
  readonly reuses: number;
  readonly damages: number;
  readonly pruned: number;
  readonly seconds: number;
  /** Of runs in which something did not hold. */
  readonly failures: readonly SimulatedRun[];
}

if (isMainThread) main();
else {
  const { cells, port, thread } = workerData;
  runThread(thread, shared(cells), port);
}

function main(): void {
  const [first = "0", count = "1", kind] = process.argv.slice(2);
  const only = (Object.keys(KINDS) as readonly KindName[]).find((name) => name === kind);
  // In memory, where there is such a place.
  const parent = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();
  const cwd = mkdtempSync(join(parent, "hydraconf-simulation-"));
  mkdirSync(join(cwd, "conf"));
  writeFileSync(join(cwd, "conf/config.yaml"), CONFIG);
  process.chdir(cwd);
  const cells = createCells();
  const world = shared(cells);
  const threads = Array.from({ length: THREADS }, (_, thread) => {
    const { port1, port2 } = new MessageChannel();
    const worker = new Worker(__filename, {
      workerData: { cells, port: port2, thread },
      transferList: [port2],
    });
    return { port: port1, worker };
  });
  for (let thread = 0; thread < THREADS; thread++) world.giveTurn(thread);
  const begin = performance.now();
  const runs: SimulatedRun[] = [];
  const ports = threads.map(({ port }) => port);
  try {
    for (let seed = Number(first); seed < Number(first) + Number(count); seed++)
      runs.push(simulate(seed, { ports, world, only }));
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
  const sum = (of: (run: SimulatedRun) => number) => runs.reduce((all, run) => all + of(run), 0);
  const simulations: Simulations = {
    runs: runs.length,
    kills: sum(({ kills }) => kills),
    turns: sum(({ turns }) => turns),
    drivers: sum(({ drivers }) => drivers),
    reuses: sum(({ reuses }) => reuses),
    damages: sum(({ damages }) => damages),
    pruned: sum(({ pruned }) => pruned),
    seconds: (performance.now() - begin) / 1000,
    failures: runs.filter(({ problems }) => problems.length > 0),
  };
  process.stdout.write(`${JSON.stringify(simulations)}\n`, () => process.exit(0));
}
