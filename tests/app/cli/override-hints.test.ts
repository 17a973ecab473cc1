import { describe, expect, it } from "vitest";
import { program } from "./program.ts";

describe("bare word", () => {
  const { run } = program({ "conf/config.yaml": "lr: 1\ndb: {port: 2}\n" }, {});

  // What it is answered with: tests/ui/hints/word-without-equals.case.
  it("other wrong overrides keep their hints", async () => {
    expect((await run(["lr=[1", "2]"])).stderr).not.toContain("write KEY=VALUE");
  });

  it.each([
    [["lr=my", "first", "run"], "put all of it in quotes, like 'lr=my first run'"],
    [["lr.3", "db.port=3"], "use lr=3"],
    [["train.yaml", "lr"], "to choose a config, use --config-name train"],
    [["lr", "3"], "write KEY=VALUE or GROUP=OPTION, without spaces around the '=': lr=3"],
  ])("%j has one remedy", async (argv, remedy) => {
    expect((await run(argv)).stderr).toMatch(
      new RegExp(`Hint: .*${remedy.replace(/[.*+?^$()]/g, "\\$&")}$`, "m"),
    );
  });
});

describe("closed key", () => {
  const FILES = { "conf/config.yaml": "infer: {batch_size: 4}\nfree: {a: 1}\n" };
  const SCHEMA = {
    type: "object",
    additionalProperties: false,
    properties: {
      infer: {
        type: "object",
        additionalProperties: false,
        properties: { batch_size: { type: "integer" }, later: { type: "integer" } },
      },
      free: { type: "object" },
    },
  };

  describe("an override of an unknown key, where the schema", () => {
    const { run } = program(FILES, { schema: SCHEMA, restAsOverrides: (rest) => rest });

    it("takes no other: says the nearest one, and never to add it", async () => {
      const { exitCode, stderr } = await run(["infer.batchsize=8"]);
      expect(exitCode).toBe(1);
      expect(stderr).toContain("Hint: use infer.batch_size=8\n");
      expect(stderr).not.toContain("+infer");
      expect((await run(["batch_size=8"])).stderr).toContain("Hint: use infer.batch_size=8\n");
    });

    it("takes no other and none is near: says where the keys are shown", async () => {
      const { stderr } = await run(["infer.lr=8"]);
      expect(stderr).toContain("'infer' accepts no other keys; 'prog --help infer' lists its keys");
      expect(stderr).toContain("arguments for your program follow --");
      expect(stderr).not.toContain("+infer");
      expect((await run(["lr=8"])).stderr).toContain(
        "the config accepts no other keys; 'prog --help'",
      );
    });

    it.each([["free.b=1"], ["infer.later=1"], ["free.c.d=1"], ["hydra.zzz=1"]])(
      "takes %s: says how to add it",
      async (override) => {
        expect((await run([override])).stderr).toContain(`+${override} to add the key\n`);
        expect((await run([`+${override}`])).stderr).toBe("");
      },
    );

    it("takes it not, in a sweep", async () => {
      const { stderr } = await run(["-m", "infer.batchsize=8,9"]);
      expect(stderr).toContain("Hint: use infer.batch_size=8,9\n");
    });

    it("takes it not, in a sweep without --multirun", async () => {
      expect((await run(["infer.batchsize=8,9"])).stderr).toContain(
        "Hint: use infer.batch_size=8,9, and add --multirun to run one job for each value\n",
      );
      const { stderr } = await run(["infer.lr=8,9"]);
      expect(stderr).toContain("'infer' accepts no other keys");
      expect(stderr).not.toContain("+infer");
    });

    it("takes it not, in a zip without --multirun", async () => {
      const zip = (key: string) => run([`+z=zip(${key}=choice(1,2),free.a=choice(1,2))`]);
      expect((await zip("infer.batchsize")).stderr).toContain(
        "Hint: use +z=zip(infer.batch_size=choice(1,2),free.a=choice(1,2)), and add --multirun to run one job for each value\n",
      );
      expect((await zip("infer.lr")).stderr).not.toContain("+infer");
    });

    it("takes it not in a dict: says the dict with the key that was meant", async () => {
      const { stderr } = await run(["infer={batchsize:8}"]);
      expect(stderr).toContain("Hint: use infer={batch_size:8} (in a shell: ");
    });
  });
});
