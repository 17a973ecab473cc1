import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { describe, expect, expectTypeOf, it, test } from "vitest";
import { z } from "zod";
import type { Config } from "../../../src/engine/compose/index.ts";
import { hydraMain } from "../../../src/index.ts";
import { program } from "./program.ts";

const schema = z.object({
  lr: z.number().max(1, "rates above 1 diverge").describe("learning rate"),
  steps: z.number().int().default(10),
  token: z.string().optional().meta({ writeOnly: true }),
});

describe("a validator of the standard-schema interface as the program's schema", () => {
  const app = () => program({ "conf/config.yaml": "lr: 0.5\nsteps: 3\n" }, { schema });

  it("accepts a config that fits, without filling in its defaults", async () => {
    const seen: unknown[] = [];
    const { exitCode } = await app().run(["~steps", "hydra.run.dir=o"], (config) => {
      seen.push(config.toObject({ resolve: true }));
    });
    expect([exitCode, seen]).toEqual([0, [{ lr: 0.5 }]]);
  });

  it("refuses another one before a job begins, in the validator's words and at the place", async () => {
    const { exitCode, stderr } = await app().run(["-m", "lr=0.5,2"], () => expect.fail());
    expect(exitCode).toBe(1);
    expect(stderr).toContain("lr = 2\n    problem:      rates above 1 diverge\n");
    expect(stderr).toContain("override 'lr=2'");
  });

  it("refuses a mandatory text that is not given", async () => {
    const named = { schema: z.object({ name: z.string() }) };
    const { run } = program({ "conf/config.yaml": "name: ???\n" }, named);
    expect((await run([], () => expect.fail())).stderr).toContain("name: not given (???)\n");
    expect((await run(["name=x", "hydra.run.dir=o"])).exitCode).toBe(0);
  });

  it("describes the keys, where its library gives a JSON Schema", async () => {
    expect((await app().run(["--help", "lr"])).stdout).toMatch(/at most 1[\s\S]*learning rate/);
    const shown = JSON.parse((await app().run(["--schema"])).stdout);
    expect(shown.properties.lr).toMatchObject({ type: "number", maximum: 1 });
  });

  it("hides the values that it marks secret", async () => {
    const { stdout } = await app().run(["+token=my-own-token", "--cfg", "job"]);
    expect(stdout).toBe("lr: 0.5\nsteps: 3\ntoken: '***'\n");
  });

  it("checks as well without a JSON Schema", async () => {
    const positive = (value: unknown) =>
      (value as { lr: number }).lr > 0 ? { value } : { issues: [{ message: "no", path: ["lr"] }] };
    const own = { "~standard": { version: 1, vendor: "own", validate: positive } };
    const { run } = program({ "conf/config.yaml": "lr: 1\n" }, { schema: own });
    expect((await run(["lr=-1"])).stderr).toContain("lr = -1\n    problem:      no\n");
    expect((await run(["--help", "lr"])).stdout).toMatch(/default +1 /);
    expect((await run(["--schema"])).stderr).toContain("a validator without a JSON Schema");
    expect((await run(["hydra.run.dir=o"])).exitCode).toBe(0);
  });

  it("gives the resolved config its type", () => {
    type Data = { lr: number; steps?: number | undefined; token?: string | undefined };
    expectTypeOf(hydraMain<typeof schema>)
      .parameter(1)
      .parameter(0)
      .toEqualTypeOf<Config<Data>>();
    const resolved = (config: Config<Data>) => config.toObject({ resolve: true });
    expectTypeOf(resolved).returns.toEqualTypeOf<Data>();
  });
});

const LOADER = fileURLToPath(new URL("../../../scripts/typescript-loader.mjs", import.meta.url));
const MAIN = fileURLToPath(new URL("../../../src/app/cli/hydra-main.ts", import.meta.url));

test.each([
  ["lr=3", 1],
  ["--no-such-flag", 2],
  ["hydra.run.dir=o", 0],
])(
  "a program that does not look at what hydraMain returns ends with its code: %s",
  async (word, code) => {
    const cwd = mkdtempSync(join(tmpdir(), "hydraconf-code-"));
    mkdirSync(join(cwd, "conf"));
    writeFileSync(join(cwd, "conf/config.yaml"), "x: 1\n");
    writeFileSync(
      join(cwd, "train.mjs"),
      `import { hydraMain } from ${JSON.stringify(MAIN)};
     hydraMain({ configPath: "conf", configName: "config", versionBase: null }, () => {});`,
    );
    const ran = await execa(process.execPath, ["--import", LOADER, "train.mjs", word], {
      cwd,
      reject: false,
    });
    expect(ran.exitCode).toBe(code);
  },
);

test("a test of a program gives a command line alone", async () => {
  const base = mkdtempSync(join(tmpdir(), "hydraconf-invocation-"));
  mkdirSync(join(base, "conf"));
  writeFileSync(join(base, "conf/config.yaml"), "x: ${oc.env:PATH}\n");
  const lines: string[] = [];
  const exitCode = process.exitCode;
  const code = await hydraMain(
    { base, name: "app", configPath: "conf", configName: "config" },
    () => {},
    {
      argv: ["--cfg", "job", "--resolve"],
      console: { stdout: (text) => lines.push(text), stderr: (text) => lines.push(text) },
    },
  );
  expect([code, lines.join("")]).toEqual([0, `x: ${process.env["PATH"]}\n`]);
  expect(
    await hydraMain({ base, name: "app" }, () => {}, {
      argv: ["--no-such"],
      console: { stdout() {}, stderr() {} },
    }),
  ).toBe(2);
  expect(process.exitCode).toBe(exitCode);
});
