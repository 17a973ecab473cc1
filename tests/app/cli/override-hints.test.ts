import { describe, expect, it } from "vitest";
import { program } from "./program.ts";

const TREE = {
  "conf/config.yaml":
    "defaults:\n- db: mysql\n- _self_\nlr: 0.1\ndepth: 1\nfast: false\nshuffle: true\nlearning_rate: 1\nname: x\nserver: {host: h}\n",
  "conf/db/mysql.yaml": "port: 1\n",
  "conf/db/pg.yaml": "port: 2\n",
};

/** The words of a line, as a shell splits it. */
const wordsOf = (text: string): readonly string[] =>
  [...text.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare = ""]) => quoted ?? bare);

/** The overrides that the usage error proposes. */
const proposed = (stderr: string): readonly string[] =>
  wordsOf(/write config values without dashes: (.*)/.exec(stderr)?.[1] ?? "");

describe("values of the config that are written as flags", () => {
  it.each([
    ["--lr 0.2 --depth=4", ["lr=0.2", "depth=4"]],
    ["--fast", ["fast=true"]],
    ["--no-shuffle --fast", ["shuffle=false", "fast=true"]],
    ["--learning-rate 2", ["learning_rate=2"]],
    ["--server-host a", ["server.host=a"]],
    ["--host a", ["server.host=a"]],
    ["--db.prot=3", ["db.port=3"]],
    ["--db pgg", ["db=pg"]],
    ["--seed 3", ["+seed=3"]],
    ["--names x -lr 1", ["name=x", "lr=1"]],
  ])("%s are proposed as overrides that the config takes", async (line, overrides) => {
    const { run } = program(TREE);
    const { exitCode, stderr } = await run([...line.split(" "), "db=mysql"]);
    expect(exitCode).toBe(2);
    expect(proposed(stderr)).toEqual(overrides);
    expect(await run(overrides)).toMatchObject({ exitCode: 0, stderr: "" });
  });

  it.each([
    ["--reslove", "did you mean --resolve?"],
    ["--reslove --lr 1", "did you mean --resolve?"],
    // The rest of the line has a mistake of its own.
    ["--learning-rate 2 lrr=1", "write config values without dashes: learning-rate=2"],
    // Nothing tells its value.
    ["--lr db=pg", "write config values without dashes: lr=VALUE"],
  ])("%s: what is said otherwise stays", async (line, said) => {
    const { exitCode, stderr } = await program(TREE).run(line.split(" "));
    expect(exitCode).toBe(2);
    expect(stderr).toContain(said);
  });

  it("has no value of a secret", async () => {
    const schema = { properties: { server: { properties: { host: { writeOnly: true } } } } };
    const { run } = program(TREE, { schema } as object);
    for (const line of ["--server.host=hunter2", "--host hunter2", "--server-host hunter2"])
      expect((await run(line.split(" "))).stderr).not.toContain("hunter2");
  });
});

describe("several overrides that a shell has split", () => {
  it.each([
    [
      ["lr=", "0.1", "depth=", "3"],
      ["lr=0.1", "depth=3"],
    ],
    [
      ["lr", "=", "0.1", "depth", "=", "3"],
      ["lr=0.1", "depth=3"],
    ],
    [
      ["lr", "0.1", "depth", "3"],
      ["lr=0.1", "depth=3"],
    ],
    [
      ["lr", "0.1", "db=pg", "depth", "=3", "-cn", "config"],
      ["lr=0.1", "depth=3"],
    ],
    [["lr", "=0.1", "depth"], ["lr=0.1"]],
    [
      ["name=my", "walk", "depth=2", "server.host=a", "b"],
      ["name=my walk", "server.host=a b"],
    ],
    [
      ["lr=", "0.1", "name=my", "walk"],
      ["lr=0.1", "name=my walk"],
    ],
  ])("%j are told at once", async (argv, overrides) => {
    const { run } = program(TREE);
    const { exitCode, stderr } = await run(argv);
    expect(exitCode).toBe(1);
    const [, text = ""] = /Hint: .*?(?:: |like )((?:'?[\w.]+=).*)/.exec(stderr) ?? [];
    expect(wordsOf(text.replace("; likewise", ""))).toEqual(overrides);
    expect(await run(overrides)).toMatchObject({ exitCode: 0, stderr: "" });
  });

  it("are told with the values of their sweeps", async () => {
    const { run } = program(TREE);
    const { stderr } = await run(["lr=0.1", "0.2", "depth=1", "2"]);
    expect(stderr).toContain("lr=0.1,0.2; likewise depth=1,2\n");
    expect(await run(["-m", "lr=0.1,0.2", "depth=1,2"])).toMatchObject({ exitCode: 0 });
  });
});
