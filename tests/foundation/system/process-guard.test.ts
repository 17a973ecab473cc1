import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { statOf } from "../../../src/foundation/system/process-identity.ts";
import { until } from "../../wait.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));

const isAlive = (pid: number): boolean => statOf(String(pid))?.isDead === false;

/**
 * A process with a program that it watches: the program leads a group, a member of which has started a group of its own, as
 * profilers do.
 *
 * @param watched the program's process, or its group
 * @param then what the process does when it is told to
 */
async function watching(watched: keyof typeof WATCHED, then = "") {
  const script = `
    import { spawn } from "node:child_process";
    import { openGuard } from "./src/foundation/system/process-guard.ts";
    const argv = ["/bin/sh", "-c", ${JSON.stringify(PROGRAM)}];
    const cwd = process.cwd();
    const guard = openGuard(${watched === "expected" ? "{ argv, cwd }" : ""});
    const program = spawn(argv[0], argv.slice(1), { detached: true, stdio: ["ignore", "pipe", "ignore"] });
    ${WATCHED[watched]};
    program.stdout.pipe(process.stdout);
    process.stdin.once("data", () => { ${then} });
  `;
  const child = spawn(
    process.execPath,
    ["--import", "./scripts/typescript-loader.mjs", "--input-type=module", "-e", script],
    { cwd: root, stdio: ["pipe", "pipe", "inherit"] },
  );
  const ended = new Promise((settle) => child.once("exit", settle));
  const pids: number[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    pids.push(Number(line));
    if (pids.length === 3) break;
  }
  const [leader = 0, member = 0, apart = 0] = pids;
  expect([leader, member, apart].map(isAlive)).toEqual([true, true, true]);
  expect(statOf(String(member))?.group).toBe(leader);
  expect(statOf(String(apart))?.group).toBe(apart);
  const kill = (): void => void process.kill(child.pid ?? 0, "SIGKILL");
  const tell = (): void => void child.stdin.write("now");
  return { leader, member, apart, ended, kill, tell, guard: guardOf(child.pid ?? 0) };
}

const WATCHED = {
  process: "guard.watch(program.pid)",
  group: "guard.watch(-program.pid)",
  /** As if the process had been killed before it could name the program. */
  expected: "",
};

/** Each says its number; the last leads another group. */
const PROGRAM = `
echo $$
sh -c 'echo $$; python3 -c "import os, time; os.setpgrp(); print(os.getpid(), flush=True); time.sleep(1000)"; :' &
wait
`;

/** The shell that a process has started for it: the only child that leads a session and reads what nobody writes. */
function guardOf(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
  const guard = children.find((child) =>
    readFileSync(`/proc/${child}/cmdline`, "utf8").includes("groups_below"),
  );
  return Number(guard);
}

it("a watched group goes with a process that is killed, and so do the groups below it", async () => {
  const { apart, ended, guard, kill, leader, member } = await watching("group");
  kill();
  await ended;
  await until(() => ![leader, member, apart, guard].some(isAlive));
});

it("it goes with a process that ends in any other way, too", async () => {
  const { apart, ended, guard, leader, member, tell } = await watching("group", "process.exit(3)");
  tell();
  expect(await ended).toBe(3);
  await until(() => ![leader, member, apart, guard].some(isAlive));
});

it("a program that was started, but not named yet, goes with the process, and no other of the same command", async () => {
  const before = await watching("expected", "guard.release()");
  const { apart, ended, guard, kill, leader, member } = await watching("expected");
  before.tell();
  await until(() => !isAlive(before.guard));
  before.kill();
  await before.ended;
  kill();
  await ended;
  await until(() => ![leader, member, apart, guard].some(isAlive));
  expect([before.leader, before.member, before.apart].map(isAlive)).toEqual([true, true, true]);
  for (const pid of [-before.leader, before.apart]) process.kill(pid, "SIGKILL");
});

it("of a watched process, only that one goes", async () => {
  const { apart, ended, guard, kill, leader, member } = await watching("process");
  kill();
  await ended;
  await until(() => ![leader, guard].some(isAlive));
  expect([member, apart].map(isAlive)).toEqual([true, true]);
  for (const pid of [member, apart]) process.kill(pid, "SIGKILL");
});

it("what was released lives on, and nothing is left of the guard", async () => {
  const { apart, ended, guard, kill, leader, member, tell } = await watching(
    "group",
    "guard.release()",
  );
  tell();
  await until(() => !isAlive(guard));
  kill();
  await ended;
  expect([leader, member, apart].map(isAlive)).toEqual([true, true, true]);
  for (const pid of [-leader, apart]) process.kill(pid, "SIGKILL");
});
