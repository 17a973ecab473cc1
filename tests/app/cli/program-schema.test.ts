import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type } from "arktype";
import { execa } from "execa";
import * as v from "valibot";
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

  it("accepts a config that fits, and fills in its defaults", async () => {
    const seen: unknown[] = [];
    const { exitCode } = await app().run(["~steps", "hydra.run.dir=o"], (config) => {
      seen.push(config.toObject({ resolve: true }));
    });
    expect([exitCode, seen]).toEqual([0, [{ lr: 0.5, steps: 10 }]]);
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

  it("names keys that are missing, and those that a strict schema does not know", async () => {
    const db = z.strictObject({ host: z.string(), tls: z.boolean() });
    const { run } = program(
      { "conf/config.yaml": "db:\n  host: a\n  prt: 1\n" },
      { schema: z.strictObject({ db }) },
    );
    const { stderr } = await run([], () => expect.fail());
    expect(stderr).toMatch(/^ {2}db\.tls: missing\n {4}problem: .*expected boolean/m);
    expect(stderr).toMatch(/^ {2}db\.prt: unknown key\n[\s\S]*? {4}from: +\S*config\.yaml:3:/m);
  });

  it.each([
    [
      "zod",
      z.object({
        kind: z.enum(["mysql", "pg"]),
        tag: z.discriminatedUnion("t", [
          z.object({ t: z.literal("first") }),
          z.object({ t: z.literal("second") }),
        ]),
        net: z.strictObject({ port: z.number() }),
      }),
      ["mysql", "second", "port"],
    ],
    ["valibot", v.object({ kind: v.picklist(["mysql", "pg"]) }), ["mysql"]],
    ["arktype", type({ kind: "'mysql'|'pg'" }), ["mysql"]],
  ])("names what is similar among what is accepted, with %s", async (_, validator, meant) => {
    const text = "kind: mysq\ntag: {t: secnd}\nnet: {port: 1, prt: 2}\n";
    const { run } = program({ "conf/config.yaml": text }, { schema: validator });
    const { stderr } = await run([], () => expect.fail());
    expect([...stderr.matchAll(/did you mean: (.*)/g)].map(([, name]) => name)).toEqual(meant);
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
    type Data = { lr: number; steps: number; token?: string | undefined };
    expectTypeOf(hydraMain<typeof schema>)
      .parameter(1)
      .parameter(0)
      .toEqualTypeOf<Config<Data>>();
    const data = (config: Config<Data>) => config.toObject();
    expectTypeOf(data).returns.toEqualTypeOf<Readonly<Data>>();
  });
});

const LIBRARY = fileURLToPath(new URL("../../../dist/index.js", import.meta.url));

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
      `import { hydraMain } from ${JSON.stringify(LIBRARY)};
     hydraMain({ configPath: "conf", configName: "config", versionBase: null }, () => {});`,
    );
    const ran = await execa(process.execPath, ["train.mjs", word], {
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

describe("what a validator gives to a program", () => {
  const server = z.object({
    port: z.coerce.number().int(),
    dir: z.string().transform((dir) => `${dir}/data`),
    host: z.string().default("localhost"),
  });
  const app = (text: string) => program({ "conf/config.yaml": text }, { schema: server });

  it("is what the task gets, what is stored and what flags show", async () => {
    const seen: unknown[] = [];
    const { run, cwd } = app("port: ${oc.env:PORT}\ndir: ${hydra:runtime.output_dir}\n");
    const ran = await run(["hydra.run.dir=o"], (config) => seen.push(config.toObject()), {
      PORT: "80",
    });
    expect([ran.exitCode, ran.stderr]).toEqual([0, ""]);
    expect(seen).toEqual([{ port: 80, dir: join(cwd, "o/data"), host: "localhost" }]);
    expect(readFileSync(join(cwd, "o/.hydra/config.yaml"), "utf8")).toBe(
      `port: 80\ndir: ${join(cwd, "o/data")}\nhost: localhost\n`,
    );
    const plain = app("port: '80'\ndir: /d\n");
    expect((await plain.run(["--cfg", "job"])).stdout).toBe(
      "port: 80\ndir: /d/data\nhost: localhost\n",
    );
    expect((await plain.run(["--explain", "host"])).stdout).toBe(
      'host = "localhost"\n  set by schema default\n',
    );
  });

  it("is each job's own: hydra's values are those of the job, not of the one before", async () => {
    const seen: unknown[] = [];
    const { run, cwd } = app("port: '80'\ndir: ${hydra:runtime.output_dir}\n");
    const jobs = ["-m", "port='80','81','82'", "hydra.sweep.dir=o"];
    const ran = await run(jobs, (config) => seen.push(config.get("dir")));
    expect([ran.exitCode, ran.stderr]).toEqual([0, ""]);
    expect(seen).toEqual([0, 1, 2].map((number) => join(cwd, `o/${number}/data`)));
  });

  it("is asked once: an output that is no input is not refused", async () => {
    const size = z.object({ size: z.string().transform((text) => text.length) });
    const seen: unknown[] = [];
    const { run } = program({ "conf/config.yaml": "size: abc\n" }, { schema: size });
    const ran = await run(["-m", "size=a,bb", "hydra.sweep.dir=o"], (config) =>
      seen.push(config.get("size")),
    );
    expect([ran.exitCode, seen]).toEqual([0, [1, 2]]);
  });

  it("tells the environment variable that a wrong value comes from", async () => {
    const { stderr } = await app("port: ${oc.env:PORT}\ndir: x\n").run([], () => expect.fail(), {
      PORT: "many",
    });
    expect(stderr).toMatch(
      /port = "many"\n +problem: .*\n +from: +\S*conf\/config\.yaml:1:7\n +environment: +PORT\n/,
    );
  });
});
