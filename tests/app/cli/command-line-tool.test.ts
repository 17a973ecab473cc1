import { mkdirSync, mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  createTargets,
  type HydraMainOptions,
  hydraMain,
  instantiate,
  type Job,
} from "../../../src/index.ts";
import { capturedConsole } from "../../captured-console.ts";

const cwd = mkdtempSync(join(tmpdir(), "tool-"));
mkdirSync(join(cwd, "conf", "db"), { recursive: true });
writeFileSync(
  join(cwd, "conf", "config.yaml"),
  "defaults: [db: mysql, _self_]\nverbose: false\nname: world\ntags: []\n",
);
writeFileSync(join(cwd, "conf", "db", "mysql.yaml"), "port: 3306\n");
writeFileSync(join(cwd, "conf", "db", "pg.yaml"), "port: 5432\n");

type Tool = NonNullable<HydraMainOptions["tool"]>;

const FILES: Tool = {
  positionals: [
    { name: "INPUT", help: "what is read" },
    { name: "MORE", help: "what else is read", isRepeated: true, isOptional: true },
  ],
};

async function call(argv: readonly string[], options: Partial<HydraMainOptions> = {}) {
  const { console, out } = capturedConsole();
  let seen: { readonly config: unknown; readonly job: Job } | undefined;
  const code = await hydraMain(
    {
      base: cwd,
      name: "tool",
      configPath: "conf",
      configName: "config",
      plainFlags: true,
      tool: FILES,
      ...options,
    },
    (config, job) => {
      seen = { config: config.toObject({ resolve: true }), job };
      job.log.info("done");
    },
    { argv, cwd, console, env: {} },
  );
  return { code, ...out, config: seen?.config, positionals: seen?.job.positionals, job: seen?.job };
}

describe("a tool", () => {
  it("makes no directory and no file, and logs on standard error", async () => {
    const before = readdirSync(cwd);
    const { code, stdout, stderr, job } = await call(["a.txt"]);
    expect([code, stdout, stderr]).toEqual([0, "", "done\n"]);
    expect(job?.outputDir).toBe(cwd);
    expect(readdirSync(cwd)).toEqual(before);
  });

  it("has arguments of its own beside overrides and plain flags", async () => {
    const { config, positionals } = await call([
      ...["a.txt", "--verbose", "b.txt", "--db", "pg", "--db.port", "1", "name=x"],
      ...["--tags=a,b", "--", "--odd", "k=v"],
    ]);
    expect(positionals).toEqual({ INPUT: "a.txt", MORE: ["b.txt", "--odd", "k=v"] });
    expect(config).toEqual({ verbose: true, name: "x", tags: ["a", "b"], db: { port: 1 } });
  });

  it("sets by plain flags what the choices of its line bring", async () => {
    mkdirSync(join(cwd, "conf", "exp"));
    writeFileSync(
      join(cwd, "conf", "exp", "big.yaml"),
      "# @package _global_\nsize: 1\nnet: {deep: false, name: a}\n",
    );
    for (const line of [
      ["+exp=big", "--size", "2", "--net.deep", "--net.name", "1", "a"],
      ["--size=2", "--net.deep", "--net.name=1", "+exp=big", "a"],
    ])
      expect(await call(line)).toMatchObject({
        config: { size: 2, net: { deep: true, name: "1" } },
        positionals: { INPUT: "a" },
      });
    // Those are among what may have been meant, and a wrong choice is told first.
    expect((await call(["+exp=big", "--sise", "2", "a"])).stderr).toContain("did you mean --size?");
    expect((await call(["+exp=bug", "--size", "2", "a"])).stderr).toContain("exp/bug");
  });

  it("turns a switch off by --no-", async () => {
    expect((await call(["a", "verbose=true", "--no-verbose"])).config).toMatchObject({
      verbose: false,
    });
  });

  it("takes every text as the value of a plain flag", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string(), async (text) => {
        fc.pre(text !== "???" && !text.includes("${"));
        expect((await call(["a", `--name=${text}`])).config).toMatchObject({ name: text });
      }),
      { numRuns: 30 },
    );
  });

  it.each([
    [[], 2, "the following arguments are required: INPUT"],
    [["a", "--db.port"], 2, "argument --db.port: expected one argument"],
    [["a", "--name", "--", "b"], 2, "argument --name: expected one argument"],
    [["a", "--name", "--verbose"], 2, "write --name=--verbose if it is the value"],
    [["a", "--no-name", "-m"], 2, "argument --no-name: expected one argument"],
    [["a", "--db.prt", "1"], 1, "Did you mean 'db.port'?"],
    [["a", "-m"], 2, "unrecognized arguments: -m"],
    [["a", "--resume", "x"], 2, "unrecognized arguments: --resume"],
    [["a", "--verbos"], 2, "unrecognized arguments: --verbos (did you mean --verbose?)"],
    [["a", "--no-verbos"], 2, "unrecognized arguments: --no-verbos"],
    [["a", "--dbport", "3"], 2, "unrecognized arguments: --dbport (did you mean --db.port?)"],
    [["a", "--db-port", "3"], 2, "unrecognized arguments: --db-port (did you mean --db.port?)"],
    [["a", "--port=3"], 2, "unrecognized arguments: --port=3 (did you mean --db.port?)"],
    [["a", "--no-Verbose"], 2, "unrecognized arguments: --no-Verbose (did you mean --no-verbose?)"],
    [["a", "--bogus", "3"], 2, "unrecognized arguments: --bogus\n"],
    [["a", "name=x,y"], 1, "Hint: tool has no sweeps: assign one value"],
    [["a", "name=choice(x,y)"], 1, "'name=choice(x,y)' is a sweep\n"],
  ])("refuses %j", async (argv, exit, message) => {
    const { code, stderr } = await call(argv);
    expect([code, stderr]).toEqual([exit, expect.stringContaining(message)]);
    expect(stderr).not.toContain("HYDRA_FULL_ERROR");
    expect(stderr).not.toContain("multirun");
  });

  it("knows the keys of its config where they are behind references, and its aliases", async () => {
    writeFileSync(
      join(cwd, "conf", "short.yaml"),
      "db: {port: 1}\nmain: ${db}\nhydra: {override: {aliases: {p: db.port}}}\n",
    );
    const short = { configName: "short", versionBase: "1.4" };
    expect((await call(["a", "--main.port", "2"], short)).config).toMatchObject({
      db: { port: 2 },
    });
    expect((await call(["a", "--p", "3"], short)).config).toMatchObject({ db: { port: 3 } });
  });

  it("refuses words that are left over", async () => {
    const tool = { positionals: [{ name: "A", help: "one" }] };
    const { code, stderr } = await call(["a", "b"], { tool });
    expect([code, stderr]).toEqual([2, expect.stringContaining("unrecognized arguments: b")]);
  });

  it("shows its own help, or one made of what it declares", async () => {
    expect((await call(["--help"], { tool: { help: "Only this." } })).stdout).toBe("Only this.\n");
    const { stdout } = await call(["-h"], {
      about: "Reads files.",
      flags: [{ id: "json", names: ["--json"], takes: "nothing", help: "As JSON" }],
    });
    expect(stdout).toContain(
      "usage: tool [flags] INPUT [MORE...] [key=value ...]\n\nReads files.\n",
    );
    expect(stdout).toMatch(/\n {2}INPUT {2}what is read\n/);
    expect(stdout).toMatch(/\n {2}--json +As JSON\n/);
    expect(stdout).toMatch(/\n {2}--db\.port {2}3306\n/);
    expect(stdout).toMatch(/\n {2}--db {2}mysql \(of mysql, pg\)\n/);
    expect(stdout).not.toContain("multirun");
  });

  it("may have flags with the names of ours", async () => {
    const flags = [
      { id: "config", names: ["--config-name", "-c"], takes: "value", help: "its own" },
    ] as const;
    const { job } = await call(["a", "-c", "x"], { flags });
    expect(job?.flags.get("config")).toBe("x");
  });

  it("still shows and explains its config", async () => {
    expect((await call(["--cfg", "job", "db=pg"])).stdout).toContain("port: 5432");
    expect((await call(["--explain", "db.port", "--db.port", "2"])).stdout).toContain(
      "set by override 'db.port=2'",
    );
  });

  it.each(["-1.5", "-.5", "-inf", "-", "- x"])("takes %j as a value", async (value) => {
    expect((await call(["a", "--name", value])).config).toMatchObject({ name: value });
  });

  it("is not needed for plain flags, which sweeps and arguments behind -- may have beside them", async () => {
    const { console, out } = capturedConsole();
    const seen: unknown[] = [];
    const code = await hydraMain(
      { base: cwd, name: "prog", configPath: "conf", configName: "config", plainFlags: true },
      (config) => void seen.push([config.get("name"), config.get("db.port")]),
      {
        argv: [
          "--multirun",
          "--name",
          "a b",
          "db=mysql,pg",
          "hydra.sweep.dir=sweep",
          "--",
          "tags=[x]",
        ],
        cwd,
        console,
        env: {},
      },
    );
    expect([code, out.stderr]).toEqual([0, expect.not.stringContaining("rror")]);
    expect(seen).toEqual([
      ["a b", 3306],
      ["a b", 5432],
    ]);
  });

  const failing = async (
    thrown: unknown,
    options: Partial<HydraMainOptions> = {},
    env: Readonly<Record<string, string>> = {},
  ) => {
    const { console, out } = capturedConsole();
    const code = await hydraMain(
      { base: cwd, name: "tool", configPath: null, tool: {}, ...options },
      () => {
        throw thrown;
      },
      { argv: [], cwd, console, env },
    );
    return { code, ...out };
  };

  it.each([
    [new Error("no such thing"), "tool: no such thing\n"],
    [
      new Error("cannot sort", { cause: new TypeError("not a list") }),
      "tool: cannot sort\nCaused by: not a list\n",
    ],
    [new RangeError(""), "tool: RangeError\n"],
    ["a text", "tool: a text\n"],
  ])("tells the message of what its task throws, and no stack: %s", async (thrown, stderr) => {
    expect(await failing(thrown)).toEqual({ code: 1, stdout: "", stderr });
  });

  it("shows the stack where it is asked for, or where the user wrote the task", async () => {
    const error = new Error("no such thing");
    const full = await failing(error, {}, { HYDRA_FULL_ERROR: "1" });
    expect([full.code, full.stderr]).toEqual([1, expect.stringContaining("\n    at ")]);
    const own = await failing(error, { hasUserCode: true });
    expect(own.stderr).toMatch(/Error: no such thing\n {4}at [\s\S]*HYDRA_FULL_ERROR=1/);
  });

  it("tells nothing of the stack of a target, either", async () => {
    const targets = createTargets({
      broken: () => {
        throw new Error("no such thing");
      },
    });
    const { console, out } = capturedConsole();
    const code = await hydraMain(
      { base: cwd, name: "tool", configPath: "conf", configName: "config", tool: {} },
      () => void instantiate({ _target_: "broken" }, { targets }),
      { argv: [], cwd, console, env: {} },
    );
    expect([code, out.stderr]).toEqual([1, expect.stringContaining("no such thing")]);
    expect(out.stderr).not.toMatch(/^ +at |HYDRA_FULL_ERROR/m);
  });

  it("shows its name and its version", async () => {
    expect((await call(["--version"], { version: "1.2.0" })).stdout).toBe("tool 1.2.0\n");
    expect((await call(["--version"])).stdout).toMatch(/^tool \(hydraconf \S+, Hydra 1\.3\.5\)\n$/);
  });

  it("has a help text that names no flag which it does not have", async () => {
    const { stdout } = await call(["--help"], { version: "1.2.0" });
    const [, flags = ""] = /\nFlags:\n([\s\S]*?)\n\n/.exec(stdout) ?? [];
    const declared = new Set(
      [...flags.matchAll(/^ {2}(-\S+), (-\S+)|^ {2}(-\S+)/gm)].flatMap((found) => found.slice(1)),
    );
    expect(declared).toContain("--cfg");
    for (const [named] of stdout.matchAll(/(?<=\s)--[a-z][a-z-]+/g))
      if (!/^--(db|verbose|name|tags)/.test(named)) expect([...declared]).toContain(named);
    expect(stdout).not.toContain("KEYs");
  });

  it("has our flag of the name of its own one no more, also for errors", async () => {
    const flags = [{ id: "json", names: ["--json"], takes: "nothing", help: "its own" }] as const;
    expect((await call(["a", "nothing=1", "--json"], { flags })).stdout).toBe("");
    expect(JSON.parse((await call(["a", "nothing=1", "--json"])).stdout)).toHaveProperty("error");
  });
});
