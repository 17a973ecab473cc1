import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { exitCode, type Job } from "../../../src/app/job/job.ts";
import { ConfigError } from "../../../src/engine/values/errors.ts";
import type { ConfigNode } from "../../../src/engine/values/node.ts";
import { createResolveContext } from "../../../src/engine/values/resolution/context.ts";
import { selectNode } from "../../../src/engine/values/resolution/select.ts";
import { program } from "./program.ts";

const CONFIG = {
  "conf/config.yaml": [
    "defaults: [db: mysql, _self_]",
    "x: 1",
    "url: ${db.host}:3306",
    "hydra: {run: {dir: 'out/${now:%Y%m%d-%H%M%S}'}}",
    "",
  ].join("\n"),
  "conf/db/mysql.yaml": "host: m\n",
  "conf/db/pg.yaml": "host: p\n",
};
const SCHEMA = JSON.stringify({ properties: { x: { type: "integer", minimum: 1 } } });

describe("a run directory that only a clock has named", () => {
  const at = async (files: Readonly<Record<string, string>>, ...argv: readonly string[]) => {
    const { run, cwd } = program({ ...CONFIG, ...files }, { resultFiles: ["report.md"] });
    const seen: string[] = [];
    const task = (_config: unknown, { outputDir, root }: Job) => {
      writeFileSync(join(outputDir, "report.md"), "");
      const written = selectNode(root, "hydra.runtime.output_dir", createResolveContext());
      expect(written).toMatchObject({ value: outputDir });
      seen.push(outputDir.slice(cwd.length + 1));
    };
    const codes = [await run(argv, task), await run(argv, task)].map(({ exitCode }) => exitCode);
    return { codes, seen };
  };

  test("steps aside for another's results", async () => {
    const { codes, seen } = await at({});
    expect([codes, seen]).toEqual([
      [0, 0],
      ["out/20260102-030405", "out/20260102-030405-2"],
    ]);
  });

  test("but not where an override chose it, itself or what it refers to", async () => {
    expect(await at({}, "hydra.run.dir=o")).toEqual({ codes: [0, 1], seen: ["o"] });
    const named = { "conf/config.yaml": "name: a\nhydra:\n  run:\n    dir: ${name}\n" };
    expect(await at(named, "name=b")).toEqual({ codes: [0, 1], seen: ["b"] });
  });
});

describe("the program's own check", () => {
  const check = (config: ConfigNode) => {
    const url = selectNode(config, "url", createResolveContext());
    if (url?.kind !== "scalar" || url.value !== "m:3306")
      throw new ConfigError({ code: "value.wrong_type", message: "no such place" });
  };

  test("is asked before anything is made, with the config resolved, but not by --cfg", async () => {
    const { run, cwd } = program(CONFIG, { check });
    const refused = await run(["db=pg"], () => exitCode(5));
    expect(refused.exitCode).toBe(1);
    expect(refused.stderr).toContain("no such place");
    expect(readdirSync(cwd)).toEqual(["conf"]);
    expect((await run(["--cfg", "job", "db=pg"])).exitCode).toBe(0);
    expect((await run([], () => exitCode(5))).exitCode).toBe(5);
  });

  test("is not asked of what does not fit the schema, and for all jobs before the first", async () => {
    const made = program({ "schema.json": SCHEMA });
    const asked: unknown[] = [];
    const { run } = program(CONFIG, {
      schema: join(made.cwd, "schema.json"),
      check: (config, { isPlan }) => {
        asked.push([selectNode(config, "x", createResolveContext())?.kind, isPlan]);
      },
    });
    await run(["x=0"]);
    expect(asked).toEqual([]);
    await run(["-m", "x=1,2", "hydra.sweep.dir=s"], () => {
      expect(asked).toHaveLength(2);
    });
    await run(["--dry-run"]);
    expect(asked).toEqual([
      ["scalar", false],
      ["scalar", false],
      ["scalar", true],
    ]);
  });
});

test("what is warned of while composing is told once, also where nothing comes of it", async () => {
  const { run } = program(CONFIG);
  const warning = "path=/nowhere is not available.";
  for (const [override, exitCode] of [
    ["x=1", 0],
    ["nope=1", 1],
  ] as const) {
    const outcome = await run(["hydra.searchpath=['file:///nowhere']", override]);
    expect(outcome.exitCode).toBe(exitCode);
    expect(outcome.stderr.split(warning)).toHaveLength(2);
  }
});
