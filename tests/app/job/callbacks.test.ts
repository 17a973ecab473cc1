import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Callback, joinTargets, openCallbacks } from "../../../src/app/job/callbacks.ts";
import { createLogging } from "../../../src/app/job/logging/logging.ts";
import { createTargets } from "../../../src/engine/instantiate/module-targets.ts";
import { createResolveContext } from "../../../src/engine/values/resolution/context.ts";
import { capturedConsole } from "../../captured-console.ts";
import { composeFiles } from "../../engine/compose/in-memory.ts";
import { program } from "../cli/program.ts";

const CONFIG = {
  "conf/config.yaml": [
    "x: 1",
    "hydra:",
    "  run: {dir: o}",
    "  sweep: {dir: s}",
    "  callbacks:",
    "    one: {_target_: note, name: 'one${x}'}",
    "    two: {_target_: note, name: two}",
    "",
  ].join("\n"),
};

/** Notes every call; `fail` names the method in which it throws. */
function noting(fail?: string) {
  const calls: string[] = [];
  const note = ({ name }: { name: string }): Callback => {
    const method = (what: keyof Callback) => async () => {
      await new Promise((resolve) => setImmediate(resolve));
      calls.push(`${name} ${what}`);
      if (what === fail) throw new TypeError("boom");
    };
    return {
      onComposeConfig: method("onComposeConfig"),
      onRunStart: method("onRunStart"),
      onRunEnd: method("onRunEnd"),
      onMultirunStart: method("onMultirunStart"),
      onMultirunEnd: method("onMultirunEnd"),
      onJobStart: method("onJobStart"),
      onJobEnd: method("onJobEnd"),
    };
  };
  return { calls, targets: createTargets({ note }) };
}

test("start in order and end in reverse, around a run and its job", async () => {
  const { calls, targets } = noting();
  const { run } = program(CONFIG, { targets });
  await run([], () => void calls.push("task"));
  expect(calls).toEqual([
    "one1 onComposeConfig",
    "two onComposeConfig",
    "one1 onRunStart",
    "two onRunStart",
    "one1 onJobStart",
    "two onJobStart",
    "task",
    "two onJobEnd",
    "one1 onJobEnd",
    "two onRunEnd",
    "one1 onRunEnd",
  ]);
});

test("around a sweep, and around each of its jobs", async () => {
  const { calls, targets } = noting();
  const { run } = program(CONFIG, { targets });
  await run(["-m", "x=1,2", "~hydra.callbacks.two"], () => void calls.push("task"));
  const job = ["one1 onJobStart", "task", "one1 onJobEnd"];
  expect(calls).toEqual([
    "one1 onComposeConfig",
    "one1 onMultirunStart",
    ...job,
    ...job,
    "one1 onMultirunEnd",
  ]);
});

test("what one throws is reported and stops nothing", async () => {
  const { calls, targets } = noting("onJobStart");
  const { run } = program(CONFIG, { targets });
  const { exitCode, stderr } = await run([], () => void calls.push("task"));
  expect(exitCode).toBe(0);
  expect(calls).toContain("task");
  expect(calls).toContain("one1 onRunEnd");
  expect(stderr).toBe(
    "UserWarning: Callback one.onJobStart raised TypeError: boom\n" +
      "UserWarning: Callback two.onJobStart raised TypeError: boom\n",
  );
});

test("the end of a job is told what became of it", async () => {
  const results: unknown[] = [];
  const targets = createTargets({
    note: (): Callback => ({ onJobEnd: ({ result }) => results.push(result) }),
  });
  const { run } = program(CONFIG, { targets });
  await run(["-m", "x=1,2", "~hydra.callbacks.two"], (config) => {
    if (config.get("x") === 2) throw new Error("boom");
    return "fine";
  });
  expect(results).toMatchObject([
    { status: "completed", number: 0, returnValue: "fine", exitCode: 0 },
    { status: "failed", number: 1, overrides: ["x=2"], error: new Error("boom"), exitCode: 1 },
  ]);
});

test("may have any names", async () => {
  const { calls, targets } = noting();
  const { run } = program(
    {
      "conf/config.yaml": [
        "hydra:",
        "  run: {dir: o}",
        "  callbacks:",
        "    a.b: {_target_: note, name: dots}",
        "    'c[0]': {_target_: note, name: brackets}",
      ].join("\n"),
    },
    { targets },
  );
  await run([]);
  expect(calls).toContain("dots onRunStart");
  expect(calls).toContain("brackets onRunStart");
});

test("a name that the program does not know is refused before the task", async () => {
  const { run } = program(CONFIG, { targets: createTargets({ other: () => ({}) }) });
  const { exitCode, stderr } = await run([], () => expect.unreachable());
  expect(exitCode).toBe(1);
  expect(stderr).toContain("Error locating target 'note'");
  expect(stderr).toContain("Available: other");
});

test("--cfg, --info and --help call none", async () => {
  const { calls, targets } = noting();
  const { run } = program(CONFIG, { targets });
  for (const argv of [["--cfg", "job"], ["--info"], ["--help"]]) await run(argv);
  expect(calls).toEqual([]);
});

test("Hydra's own LogJobReturnCallback logs what a job returned or threw", async () => {
  const { run, cwd } = program({ "conf/config.yaml": "x: 1\n" });
  const target = "hydra.experimental.callbacks.LogJobReturnCallback";
  const argv = ["hydra.run.dir=o", `+hydra.callbacks.log._target_=${target}`];
  const said = `[${target}][INFO] - Succeeded with return value:`;
  expect((await run(argv, () => ({ loss: 0.5 }))).stdout).toContain(`${said} {'loss': 0.5}\n`);
  expect((await run(argv)).stdout).toContain(`${said} None\n`);
  const { exitCode } = await run(argv, () => {
    throw new RangeError("boom");
  });
  expect(exitCode).toBe(1);
  expect(readFileSync(join(cwd, "o/prog.log"), "utf8")).toMatch(
    /LogJobReturnCallback\]\[ERROR\] - \nRangeError: boom\n/,
  );
});

test("it is known which methods there are: a sweep may be left where nothing waits for its end", async () => {
  const targets = createTargets({
    job: (): Callback => ({ onJobStart: () => {} }),
    end: (): Callback => ({ onMultirunEnd: () => {} }),
    none: () => null,
  });
  const open = async (...names: readonly string[]) => {
    const listed = names.map((name) => `${name}: {_target_: ${name}}`).join(", ");
    const { root } = composeFiles({ config: `hydra: {callbacks: {${listed}}}` }).composition;
    const { console } = capturedConsole();
    return openCallbacks({
      root,
      context: createResolveContext(),
      targets,
      logging: createLogging({ console }),
      onWarning: () => expect.unreachable(),
    });
  };
  const sweep = ["onMultirunStart", "onMultirunEnd"] as const;
  expect((await open()).hasAny(sweep)).toBe(false);
  expect((await open("job", "none")).hasAny(sweep)).toBe(false);
  expect((await open("job", "end")).hasAny(sweep)).toBe(true);
  expect((await open("end", "job")).hasAny(["onJobStart"])).toBe(true);
});

test("a program's own target of that name comes first", async () => {
  const calls: string[] = [];
  const name = "hydra.experimental.callbacks.LogJobReturnCallback";
  const targets = createTargets({ [name]: () => ({ onJobEnd: () => void calls.push("mine") }) });
  const { run } = program({ "conf/config.yaml": "x: 1\n" }, { targets });
  await run(["hydra.run.dir=o", `+hydra.callbacks.log._target_=${name}`]);
  expect(calls).toEqual(["mine"]);
});

test("one that cannot be made leaves no directory", async () => {
  const { run, cwd } = program({
    "conf/config.yaml": "hydra: {run: {dir: o}, callbacks: {one: {_target_: nope}}}\n",
  });
  const { exitCode } = await run([]);
  expect(exitCode).toBe(1);
  expect(existsSync(join(cwd, "o"))).toBe(false);
});

test.each([
  ["{_target_: note, _partial_: true, name: a}", 1],
  ["{_target_: nothing}", 0],
  ["{_target_: empty}", 0],
  ["{_target_: misspelt}", 1],
  ["{_target_: note, name: a}", 0],
])("one that has no method is told of: %s", async (settings, times) => {
  const { targets: noted } = noting();
  const others = createTargets({
    nothing: () => null,
    empty: () => ({}),
    misspelt: () => ({ onJobEnds() {} }),
  });
  const files = { "conf/config.yaml": `hydra: {run: {dir: o}, callbacks: {bad: ${settings}}}\n` };
  const { run } = program(files, { targets: joinTargets(noted, others) });
  const { exitCode, stderr } = await run([]);
  const told =
    "UserWarning: Callback bad has none of the methods onComposeConfig, onRunStart, onRunEnd, onMultirunStart, onMultirunEnd, onJobStart, onJobEnd: nothing is called\n";
  expect([exitCode, stderr]).toEqual([0, told.repeat(times)]);
});

test("one without a _target_ is told of, and the others are called", async () => {
  const { calls, targets } = noting();
  const { run } = program(CONFIG, { targets });
  const bad = [
    "+hydra.callbacks.bad={target: note}",
    "+hydra.callbacks.none=null",
    "+hydra.callbacks.l=[]",
  ];
  const { exitCode, stderr } = await run(bad);
  expect(stderr).toBe(
    "UserWarning: Callback bad has no _target_: nothing is called\n" +
      "UserWarning: Callback none has no _target_: nothing is called\n" +
      "UserWarning: Callback l has no _target_: nothing is called\n",
  );
  expect([exitCode, calls.includes("two onRunEnd")]).toEqual([0, true]);
});
