import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { exitCode, type Job } from "../../../src/app/job/job.ts";
import { packageInfo } from "../../../src/engine/values/package-info.ts";
import { program } from "./program.ts";

const CONFIG = {
  "conf/config.yaml": [
    "defaults:",
    "  - db: mysql",
    "  - _self_",
    "x: 1",
    "url: ${db.host}:${db.port}",
    "args: []",
    "hydra:",
    "  run:",
    "    dir: out/${now:%Y%m%d-%H%M%S}",
    "  output_subdir: .",
    "",
  ].join("\n"),
  "conf/db/mysql.yaml": "host: m\nport: 3306\n",
  "conf/db/pg.yaml": "host: p\nport: 5432\n",
};
const SCHEMA = JSON.stringify({
  type: "object",
  additionalProperties: false,
  properties: {
    db: { type: "object" },
    x: { type: "integer", minimum: 1 },
    url: { type: "string" },
    args: { type: "array" },
  },
});

describe("running a task", () => {
  test("gets its config, its directory and its overrides", async () => {
    const { run, cwd } = program(CONFIG);
    let seen: Job | undefined;
    const outcome = await run(["db=pg", "x=2"], (config, job) => {
      seen = job;
      job.log.info(`x is ${config.get("x")} at ${config.get("url")}`);
      expect(config.toObject({ resolve: true })).toEqual({
        db: { host: "p", port: 5432 },
        x: 2,
        url: "p:5432",
        args: [],
      });
      expect(existsSync(join(job.outputDir, "config.yaml"))).toBe(true);
      return exitCode(7);
    });
    expect(outcome.exitCode).toBe(7);
    expect(outcome.stderr).toBe("");
    expect(outcome.stdout).toMatch(/\[prog\]\[INFO\] - x is 2 at p:5432\n$/);
    expect(seen?.outputDir).toBe(join(cwd, "out/20260102-030405"));
    expect(seen?.overrides).toEqual(["db=pg", "x=2"]);
    expect(seen?.name).toBe("prog");
    expect(readdirSync(seen?.outputDir ?? "").sort()).toEqual([
      "config.yaml",
      "hydra.yaml",
      "overrides.yaml",
      "prog.log",
    ]);
    expect(readFileSync(join(cwd, "out/20260102-030405/overrides.yaml"), "utf8")).toBe(
      "- db=pg\n- x=2\n",
    );
    expect(readFileSync(join(cwd, "out/20260102-030405/config.yaml"), "utf8")).toBe(
      "db:\n  host: p\n  port: 5432\nx: 2\nurl: ${db.host}:${db.port}\nargs: []\n",
    );
  });

  test("what a task returns is no exit code, also when it is async", async () => {
    const { run } = program(CONFIG);
    expect((await run(["hydra.run.dir=a"], async () => 7)).exitCode).toBe(0);
  });

  test("a failing task is reported with the overrides and its own part of the stack", async () => {
    const { run } = program(CONFIG);
    const fail = () => {
      throw new TypeError("boom");
    };
    const brief = await run(["x=2"], fail);
    expect(brief.exitCode).toBe(1);
    expect(brief.stderr).toContain(
      "Error executing job with overrides: ['x=2']\nTypeError: boom\n",
    );
    expect(brief.stderr).toContain("hydra-main.test.ts");
    expect(brief.stderr).not.toContain("src/app/job");
    expect(brief.stderr).toContain("HYDRA_FULL_ERROR=1");
    const full = await run(["x=2", "hydra.run.dir=b"], fail, { HYDRA_FULL_ERROR: "1" });
    expect(full.stderr).toContain("src/app/job");
    expect(full.stderr).not.toContain("Set the environment variable");
  });

  test("what caused the user's error is shown, too, without our part of the stack", async () => {
    const { run } = program(CONFIG);
    const { stderr } = await run([], async () => {
      await Promise.resolve();
      throw new Error("outer", { cause: new RangeError("inner") });
    });
    expect(stderr).toMatch(/Error: outer\n +at .*\nCaused by: RangeError: inner\n +at /);
    expect(stderr).not.toContain("src/app/job");
  });

  test("variables that were set before are so again, and one without a value is refused", async () => {
    const { run } = program(CONFIG);
    process.env["HYDRACONF_T"] = "before";
    const argv = ["hydra.run.dir=o", "+hydra.job.env_set.HYDRACONF_T=5"];
    const { exitCode } = await run(argv, () => {
      expect(process.env["HYDRACONF_T"]).toBe("5");
      throw new Error("boom");
    });
    expect([exitCode, process.env["HYDRACONF_T"]]).toEqual([1, "before"]);
    delete process.env["HYDRACONF_T"];
    const missing = await run(["hydra.run.dir=o", "+hydra.job.env_set.HYDRACONF_T='???'"]);
    expect(missing.exitCode).toBe(1);
    expect(missing.stderr).toContain("Missing mandatory value: hydra.job.env_set.HYDRACONF_T");
  });

  test("hydra.job.env_set and chdir hold during the task only", async () => {
    const { run, cwd } = program(CONFIG);
    const before = process.cwd();
    let during: unknown;
    await run(
      ["hydra.run.dir=o", "hydra.job.chdir=true", "+hydra.job.env_set.HYDRACONF_T=5"],
      () => {
        during = [process.cwd(), process.env["HYDRACONF_T"]];
        return 0;
      },
    );
    expect(during).toEqual([join(cwd, "o"), "5"]);
    expect(process.cwd()).toBe(before);
    expect(process.env["HYDRACONF_T"]).toBeUndefined();
  });

  test("an empty hydra.run.dir is where the program was started, also with chdir", async () => {
    const { run, cwd } = program(CONFIG);
    let during = "";
    const { exitCode } = await run(["hydra.run.dir=''", "hydra.job.chdir=true"], () => {
      during = process.cwd();
    });
    expect([exitCode, during]).toEqual([0, cwd]);
  });
});

describe("hydra.job.env_set", () => {
  test("a value reads those above it, as Python sets them one by one", async () => {
    const { run } = program({
      "conf/config.yaml":
        "hydra: {run: {dir: o}, job: {env_set: {HC_A: a, HC_B: '${oc.env:HC_A}/${oc.env:HC_C,c}', HC_C: 'x'}}}\n",
    });
    const seen: unknown[] = [];
    const { exitCode: code } = await run([], () => {
      seen.push(process.env["HC_B"], process.env["HC_C"]);
    });
    expect([code, ...seen]).toEqual([0, "a/c", "x"]);
  });
});

test("hydra.job.env_set refuses what is no text, when the files are there", async () => {
  const { run, cwd } = program({
    "conf/config.yaml": "hydra: {run: {dir: o}, job: {env_set: {HC_A: [1]}}}\n",
  });
  const { exitCode, stderr } = await run([]);
  expect(exitCode).toBe(1);
  expect(stderr).toContain("An environment variable must be a string, not ListConfig");
  expect(stderr).toContain("conf/config.yaml:1:46");
  expect(existsSync(join(cwd, "o/.hydra/config.yaml"))).toBe(true);
});

describe("the run directory", () => {
  test("that holds another run's results is refused before anything is written", async () => {
    const { run, cwd } = program(CONFIG, { resultFiles: ["report.md"] });
    mkdirSync(join(cwd, "o"));
    writeFileSync(join(cwd, "o/report.md"), "");
    let called = false;
    const { exitCode, stderr } = await run(["hydra.run.dir=o"], () => {
      called = true;
      return 0;
    });
    expect([exitCode, called]).toEqual([1, false]);
    expect(stderr).toContain("holds the results of another run: report.md");
    expect(readdirSync(join(cwd, "o"))).toEqual(["report.md"]);
  });

  test("is held while the task runs, and free afterwards, also after a failure", async () => {
    const { run, cwd } = program(CONFIG, { resultFiles: ["report.md"] });
    const inner: unknown[] = [];
    const outer = await run(["hydra.run.dir=o"], async () => {
      const { exitCode, stderr } = await run(["hydra.run.dir=o"]);
      inner.push(exitCode, stderr.includes("is in use by process"));
      throw new Error("boom");
    });
    expect([outer.exitCode, ...inner]).toEqual([1, 1, true]);
    expect(readdirSync(join(cwd, "o"))).not.toContain(".running");
    expect((await run(["hydra.run.dir=o"])).exitCode).toBe(0);
  });

  test("output_subdir=null saves no files", async () => {
    const { run, cwd } = program(CONFIG);
    await run(["hydra.run.dir=o", "hydra.output_subdir=null"]);
    expect(readdirSync(join(cwd, "o"))).toEqual(["prog.log"]);
  });
});

describe("the schema", () => {
  const withSchema = () => {
    const made = program({ ...CONFIG, "schema.json": SCHEMA });
    return program(CONFIG, { schema: join(made.cwd, "schema.json") });
  };

  test("all problems are shown, nothing is made, the task does not run", async () => {
    const { run, cwd } = withSchema();
    const { exitCode, stderr } = await run(["x=0", "+y=1", "url=???"], () => undefined);
    expect(exitCode).toBe(1);
    expect(stderr).toContain("3 problems");
    expect(stderr).toContain("x = 0\n    expected:     at least 1\n");
    expect(stderr).toContain("override 'x=0'");
    expect(stderr).toContain("y: unknown key");
    expect(stderr).toContain("url: not given (???)");
    expect(readdirSync(cwd)).toEqual(["conf"]);
  });

  test("a problem is told of the override that made it, and of the option that was meant", async () => {
    const schema = JSON.stringify({
      required: ["x"],
      properties: { x: { type: "integer" }, at: { properties: { db: { type: "object" } } } },
    });
    const files = {
      ...CONFIG,
      "conf/config.yaml": "defaults:\n- db@at.db: mysql\n- _self_\nx: 1\n",
    };
    const { cwd } = program({ "schema.json": schema });
    const { run } = program(files, { schema: join(cwd, "schema.json") });
    const deleted = await run(["~x"]);
    expect(deleted.stderr).toMatch(/x: .*\n(.*\n)* +from: +override '~x'/);
    const replaced = await run(["++at={db: pg}"]);
    expect(replaced.exitCode).toBe(1);
    expect(replaced.stderr).toContain("db@at.db=pg");
  });

  test("a config that fits runs; --cfg does not ask", async () => {
    const { run } = withSchema();
    expect((await run([], () => exitCode(5))).exitCode).toBe(5);
    expect((await run(["--cfg", "job", "x=0"])).exitCode).toBe(0);
  });
});

describe("what stands after --", () => {
  test("becomes the overrides it is short for, and is recorded as such", async () => {
    const { run, cwd } = program(CONFIG, {
      restAsOverrides: (args) => [`args=[${args.map((arg) => `'${arg}'`).join(",")}]`],
    });
    let seen: unknown;
    await run(
      ["x=3", "hydra.run.dir=o", "--", "prog", "--cfg", "a=(b)"],
      (config, { restArgs }) => {
        seen = [config.get("args"), restArgs, config.get("x")];
        return 0;
      },
    );
    const args = ["prog", "--cfg", "a=(b)"];
    expect(seen).toEqual([args, args, 3]);
    expect(readFileSync(join(cwd, "o/overrides.yaml"), "utf8")).toBe(
      "- x=3\n- args=['prog','--cfg','a=(b)']\n",
    );
  });

  test("is overrides for a program that takes no arguments", async () => {
    const { run } = program(CONFIG);
    expect((await run(["--cfg", "job", "-p", "x", "--", "x=9"])).stdout).toBe("9\n");
  });
});

describe("showing", () => {
  test.each([
    [["--cfg", "job", "-p", "db"], "# @package db\nhost: m\nport: 3306\n"],
    [["--cfg", "job", "-p", "url", "--resolve"], "m:3306\n"],
    [["-cjob", "db=pg", "-p", "db.port"], "5432\n"],
    [["--cfg", "hydra", "-p", "hydra.run.dir"], "out/20260102-030405\n"],
    [["--version"], `prog 1.2.3 (hydraconf ${packageInfo().version}, Hydra 1.3.5)\n`],
  ])("%j", async (argv, expected) => {
    const { run, cwd } = program(CONFIG);
    const { exitCode, stdout, stderr } = await run(argv);
    expect({ exitCode, stdout, stderr }).toEqual({ exitCode: 0, stdout: expected, stderr: "" });
    expect(readdirSync(cwd)).toEqual(["conf"]);
  });

  test("--explain: what set a key, how it came in, what it replaced", async () => {
    const { run } = program(CONFIG);
    const { stdout } = await run(["--explain", "db.port", "db=pg", "db.port=7"]);
    expect(stdout).toContain("db.port = 7\n  set by override 'db.port=7'\n");
    expect(stdout).toContain("replaced 5432 of conf/db/pg.yaml:2:7");
    expect(stdout).toContain("chosen by db=pg");
    const missing = await run(["--explain", "db.prot"]);
    expect([missing.exitCode, missing.stdout]).toEqual([1, ""]);
  });

  test("--help lists groups, options and the config", async () => {
    const { run } = program(CONFIG);
    const { stdout } = await run(["--help", "db=pg"]);
    expect(stdout).toContain("\ndb: mysql, pg\n");
    expect(stdout).toContain("port: 5432");
    expect((await run(["--hydra-help"])).stdout).toContain("--config-dir,-cd :");
  });
});

describe("refusals", () => {
  test.each([
    [["--nope"], 2, "prog: error: unrecognized arguments: --nope"],
    [["--cfg", "x"], 2, "prog: error: argument --cfg/-c: invalid choice: 'x'"],
    [["-sc", "install=tcsh"], 1, "No completion plugin for 'tcsh' found, available : \n\tbash\n"],
    [["--resolve"], 1, "--resolve flag can only be used"],
    [["--cfg", "job", "--run"], 1, "Only one of"],
    [["--cfg", "job", "-m", "x=1,2"], 1, "--multirun --dry-run lists the jobs; --cfg with"],
    [["--detach", "--run"], 2, "argument --detach: not allowed with argument --run"],
    [["--detach", "--explain", "x"], 2, "argument --detach: not allowed with argument --explain"],
    [["--experimental-rerun", "config.pickle"], 1, "only Python can read a pickled config"],
    [["--explain", "db.prot"], 1, "Key 'db.prot' not found in config"],
    [["--diff"], 2, "argument --diff: expected overrides, or two run directories"],
    [["--help", "hydra.help.template='$NOPE'"], 1, "Unknown placeholder '$NOPE'"],
    [["--cfg", "job", "db=nope"], 1, "Could not find 'db/nope'"],
    [["--cfg", "job", "-p", "nope"], 1, "package 'nope' not found in config"],
    [["-cp", "elsewhere"], 1, "Primary config directory not found."],
    [["-cd", "elsewhere"], 1, "Additional config directory"],
    [["-cn", "nope"], 1, "Cannot find primary config 'nope'"],
    [["x=1,2"], 1, "Ambiguous value for argument 'x=1,2'"],
    [["hydra.run.dir=${nope}"], 1, "Interpolation key 'nope' not found"],
    [["hydra.job_logging.handlers.file.class=a.B"], 1, "Log handler class 'a.B' is not supported"],
  ])("%j", async (argv, exitCode, message) => {
    const { run } = program(CONFIG);
    const outcome = await run(argv, () => {
      throw new Error("the task ran");
    });
    expect(outcome.exitCode).toBe(exitCode);
    expect(outcome.stderr).toContain(message);
    expect(outcome.stderr.startsWith("usage: prog")).toBe(exitCode === 2);
    expect(outcome.stdout).toBe("");
  });
});

test("a schema in the store is looked at while composing, and again before the task", async () => {
  const schema = { properties: { port: { type: "integer", maximum: 9 } } };
  const { run } = program(
    { "conf/config.yaml": "defaults:\n- base\n- _self_\nn: 10\n" },
    { store: new Map([["base", { value: { port: 1 }, package: "db", schema }]]) },
  );
  let called = 0;
  const task = () => {
    called++;
    return undefined;
  };
  expect((await run(["db.port=9"], task)).exitCode).toBe(0);
  const wrong = await run(["db.port=10"], task);
  expect(wrong.exitCode).toBe(1);
  expect(wrong.stderr).toContain("Value of 'db.port' does not fit: expected at most 9");
  expect((await run(["--cfg", "job", "db.port=10"], task)).exitCode).toBe(1);
  const later = await run(["db.port=${n}"], task);
  expect(later.exitCode).toBe(1);
  expect(later.stderr).toContain("expected at most 9");
  expect(called).toBe(1);
});

test("a job reads Hydra's part of the tree, resolved", async () => {
  const { cwd, run } = program({
    "conf/config.yaml": "defaults: [{db: a}]\n",
    "conf/db/a.yaml": "x: 1\n",
  });
  const { exitCode } = await run(["hydra.run.dir=out/${hydra:runtime.choices.db}"], (_, job) => {
    expect(job.get("hydra.runtime.choices.db")).toBe("a");
    expect(job.get("hydra.runtime.cwd")).toBe(cwd);
    expect(job.get("hydra.run.dir")).toBe("out/a");
    expect(job.get("db")).toEqual({ x: 1 });
    expect(job.get("hydra.nope")).toBeUndefined();
    expect(() => job.get("hydra.job.num")).toThrow("Missing mandatory value: hydra.job.num");
  });
  expect(exitCode).toBe(0);
});
