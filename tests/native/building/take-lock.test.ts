/** Processes that want the lock of a dead one, in every order of what they do with files that few changes of turn make. */
import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { type LockFiles, ownFile, tryToTake } from "../../../native/building/take-lock.mjs";

const LOCK = "lock";

/** Files by name; a link has its content for good. */
function fileSystem(): LockFiles & { readonly entries: Map<string, string> } {
  const entries = new Map<string, string>();
  const fail = (code: string): never => {
    throw Object.assign(new Error(code), { code });
  };
  const contentAt = (path: string) => entries.get(path) ?? fail("ENOENT");
  return {
    entries,
    async link(existing, path) {
      const content = contentAt(existing);
      if (entries.has(path)) fail("EEXIST");
      entries.set(path, content);
    },
    readFile: async (path) => contentAt(path),
    async rename(from, to) {
      entries.set(to, contentAt(from));
      entries.delete(from);
    },
    async rm(path) {
      entries.delete(path);
    },
  };
}

type Take = typeof tryToTake;

/** Whose turn it is, to go on or to be killed. */
interface Step {
  readonly name: string;
  readonly isKilled: boolean;
}

interface Choice {
  readonly taken: Step;
  readonly others: readonly Step[];
  /** A change of turn that needs no chance: in the beginning, and while a holder works. */
  readonly isExpected: boolean;
}

interface Run {
  readonly choices: readonly Choice[];
  readonly problems: ReadonlySet<string>;
}

/**
 * One order: the given steps, then each process as far as it comes. Who gets the lock holds it for a step and releases it, who does
 * not gives up; in the end a newcomer must get it, whoever was killed.
 */
async function run(take: Take, names: readonly string[], given: readonly Step[]): Promise<Run> {
  const files = fileSystem();
  files.entries.set(LOCK, "dead").set(ownFile(LOCK, "dead"), "dead");
  const dead = new Set(["dead"]);
  const holders = new Set<string>();
  const waiting = new Map<string, () => void>();
  const enter = async (name: string, turn: () => Promise<void>) => {
    const slowFiles: LockFiles = {
      link: (...args) => turn().then(() => files.link(...args)),
      readFile: (...args) => turn().then(() => files.readFile(...args)),
      rename: (...args) => turn().then(() => files.rename(...args)),
      rm: (...args) => turn().then(() => files.rm(...args)),
    };
    files.entries.set(ownFile(LOCK, name), name);
    const isDead = async (_: string, text: string) => dead.has(text);
    const { isHeld } = await take(LOCK, name, isDead, slowFiles);
    if (isHeld) {
      holders.add(name);
      await turn();
      holders.delete(name);
      await slowFiles.rm(LOCK, { force: true });
    }
    await files.rm(ownFile(LOCK, name), { force: true });
    return isHeld;
  };
  for (const name of names)
    void enter(name, () => new Promise<void>((go) => waiting.set(name, go)));

  const choices: Choice[] = [];
  const problems = new Set<string>();
  for (let last = ""; ; ) {
    await setImmediate();
    if (holders.size > 1) problems.add("several hold it");
    if (holders.size > 0 && !holders.has(files.entries.get(LOCK) ?? ""))
      problems.add("what is held is not there");
    const [first] = waiting.keys();
    if (first === undefined) break;
    const current = waiting.has(last) ? last : first;
    const taken = given[choices.length] ?? { name: current, isKilled: false };
    const others = [...waiting.keys()]
      .filter((name) => name !== taken.name)
      .map((name) => ({ name, isKilled: false }));
    const isExpected = choices.length === 0 || holders.has(current);
    choices.push({ taken, others: [...others, { name: current, isKilled: true }], isExpected });
    last = taken.name;
    const go = waiting.get(last);
    waiting.delete(last);
    if (!taken.isKilled) go?.();
    else {
      dead.add(last);
      holders.delete(last);
    }
  }
  if (!(await enter("newcomer", async () => {}))) problems.add("nobody gets it any more");
  return { choices, problems };
}

/** What goes wrong in all orders with at most so many changes of turn that are not expected. */
async function problemsOf(take: Take, names: readonly string[], changes: number) {
  const found = new Set<string>();
  let orders = 0;
  const explore = async (given: readonly Step[], left: number): Promise<void> => {
    const { choices, problems } = await run(take, names, given);
    orders++;
    for (const problem of problems) found.add(problem);
    for (const [at, { others, isExpected }] of choices.entries()) {
      if (at < given.length || (left === 0 && !isExpected)) continue;
      const before = choices.slice(0, at).map(({ taken }) => taken);
      for (const other of others) await explore([...before, other], isExpected ? left : left - 1);
    }
  };
  await explore([], changes);
  return { problems: [...found], orders };
}

/** The way not to do it: what is dead is moved aside, and back where it was another's by then. */
const takeByMovingAside: Take = async (path, content, isDead, files = fileSystem()) => {
  const own = ownFile(path, content);
  const link = (from: string) =>
    files.link(from, path).then(
      () => true,
      () => false,
    );
  const read = (file: string) => files.readFile(file, "utf8").catch(() => null);
  if (await link(own)) return { isHeld: true, rival: null };
  const text = await read(path);
  if (text === null || !(await isDead(path, text))) return { isHeld: false, rival: text };
  const aside = `${own}.stale`;
  await files.rename(path, aside).catch(() => {});
  if ((await read(aside)) !== text) await link(aside);
  await files.rm(aside, { force: true });
  return { isHeld: await link(own), rival: null };
};

const PROCESSES = ["A", "B", "C"];

describe("the lock of a dead process", () => {
  it("is one process's at most and can be had, in whichever order three want it and one of them dies", async () => {
    const { problems, orders } = await problemsOf(tryToTake, PROCESSES, 2);
    expect(problems).toEqual([]);
    expect(orders).toBeGreaterThan(5_000);
  });

  it("would be two's if it were moved aside to be looked at", async () => {
    // B has seen the dead one's, and moves that of A, who has taken it over; then C comes.
    const order = "B B A A A A A A B C".split(" ").map((name) => ({ name, isKilled: false }));
    const { problems } = await run(takeByMovingAside, PROCESSES, order);
    expect([...problems]).toContain("several hold it");
  });
});

it("knows its own link where a file system says that it was there already", async () => {
  const files = fileSystem();
  files.entries.set(ownFile(LOCK, "A"), "A");
  const link = async (existing: string, path: string) => {
    await files.link(existing, path);
    return files.link(existing, path);
  };
  const nobody = async () => false;
  expect(await tryToTake(LOCK, "A", nobody, { ...files, link })).toMatchObject({ isHeld: true });
});

it("leaves nothing of those who died one after the other at taking it", async () => {
  const files = fileSystem();
  for (const name of ["dead", "first", "second", "A"]) files.entries.set(ownFile(LOCK, name), name);
  files.entries.set(LOCK, "dead");
  files.entries.set(`${ownFile(LOCK, "dead")}.next`, "first");
  files.entries.set(`${ownFile(LOCK, "first")}.next`, "second");
  const everybody = async () => true;
  expect(await tryToTake(LOCK, "A", everybody, files)).toMatchObject({ isHeld: true });
  expect(Object.fromEntries(files.entries)).toEqual({ [LOCK]: "A", [ownFile(LOCK, "A")]: "A" });
});

it("gives up its succession where it fails", async () => {
  const files = fileSystem();
  files.entries.set(ownFile(LOCK, "A"), "A").set(LOCK, "dead");
  const rename = async () => {
    throw new Error("no such luck");
  };
  const everybody = async () => true;
  await expect(tryToTake(LOCK, "A", everybody, { ...files, rename })).rejects.toThrow("luck");
  expect([...files.entries.keys()].sort()).toEqual([LOCK, ownFile(LOCK, "A")]);
});
