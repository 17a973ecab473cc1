import { describe, expect, test } from "vitest";
import { program } from "../program.ts";

const FILES = {
  "conf/config.yaml": "defaults:\n  - db: a\n  - _self_\nx: 1\n",
  "conf/db/a.yaml": "n: a\n",
  "conf/db/b.yaml": "n: b\n",
};

const run = (argv: readonly string[], env: Record<string, string> = {}) =>
  program(FILES).run(argv, undefined, env);

describe("-sc", () => {
  const ask = (shell: string, line: string, ...more: string[]) =>
    run(["-sc", `query=${shell}`, ...more], { COMP_LINE: line });

  test("answers every shell as Hydra's code for it reads it", async () => {
    expect((await ask("bash", "prog db=")).stdout).toBe("db=a db=b\n");
    expect((await ask("zsh", "prog db=")).stdout).toBe("db=a db=b\n");
    expect((await ask("fish", "prog db=")).stdout).toBe("db=a\ndb=b\n");
  });

  test.each<[string, number, string]>([
    ["prog x=[1 ", 1, "x=[1"],
    ["prog db=null ", 1, "Config group override must be a string or a list"],
    ["$X ", 1, "Error parsing line '$X '"],
    ["prog --cfg", 2, "expected one argument"],
    ["prog x=1 -m db=", 2, "unrecognized arguments: db="],
    ["prog x=1 --version", 2, "--version"],
    ["prog list.+a/b=", 0, ""],
    ["prog ../a=", 1, "Error resolving key '../a'"],
  ])("says of %s what Hydra's query says", async (line, exitCode, message) => {
    const answer = await ask("bash", line);
    expect(answer.exitCode).toBe(exitCode);
    expect(answer.stderr).toContain(message);
  });

  test("overrides on both sides of a flag are read as others in 1.4", async () => {
    const { run: run14 } = program(FILES, { dialect: "1.4" });
    const offered = async (line: string) =>
      (await run14(["-sc", "query=fish"], undefined, { COMP_LINE: `prog ${line}` })).stdout;
    expect(await offered("x=1 -m db=")).toBe("db=a\ndb=b\n");
    expect(await offered("db=b -m db.")).toBe("db.n=\n");
    expect(await offered("x=1 -- db=")).toBe("db=a\ndb=b\n");
  });

  // Ours (docs/compatibility.md): Hydra ends with KeyError: 'HYDRACONF_NOPE'.
  test("a variable of env_copy that is not set leaves groups to be offered, and no keys", async () => {
    const line = "prog hydra.job.env_copy=[HYDRACONF_NOPE]";
    for (const [word, offered] of [
      ["d", "db="],
      ["x", ""],
    ])
      expect(await ask("bash", `${line} ${word}`)).toMatchObject({
        exitCode: 0,
        stdout: `${offered}\n`,
        stderr: "",
      });
  });

  test("of the flags in the line only --multirun counts", async () => {
    expect((await ask("bash", "prog -cn db/a x")).stdout).toBe("x=\n");
    expect((await ask("bash", "prog x", "-cn", "db/a")).stdout).toBe("\n");
    expect((await ask("bash", "prog -m x=1,2 x")).stdout).toBe("x=\n");
  });

  test("a sweep leaves groups to be offered, also where a group has no option of such a type", async () => {
    const { exitCode, stdout } = await ask("bash", "prog db=null x=1,2 ");
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: "db= hydra\n" });
    expect((await ask("bash", "prog -m db=null x=1,2 ")).exitCode).toBe(1);
  });

  test("groups are found as the sources of configs find them", async () => {
    expect((await ask("bash", "prog ./")).stdout).toBe("./db= ./hydra/\n");
    expect((await ask("bash", "prog ./hydra/l")).stdout).toBe("\n");
    expect((await ask("bash", "prog ../")).stdout).toBe("../conf\n");
    expect((await ask("bash", "prog hydra//launcher=b")).stdout).toBe("hydra//launcher=basic\n");
  });

  test("items of a list refer to the whole config", async () => {
    const line = "prog x=${db.n} hydra.overrides.task.";
    expect((await ask("bash", line)).stdout).toBe("hydra.overrides.task.0=\n");
    const { exitCode, stderr } = await ask("bash", line.replace("db.n", "nope"));
    expect(exitCode).toBe(1);
    expect(stderr).toContain("Interpolation key 'nope' not found");
  });

  test("says nothing of what there is to warn of", async () => {
    const app = program({
      "conf/config.yaml": "defaults:\n  - db: a\nx: 1\nhydra:\n  searchpath: [file://nope]\n",
      "conf/db/a.yaml": "",
    });
    const COMP_LINE = "prog db=";
    const { exitCode, stdout, stderr } = await app.run(["-sc", "query=bash"], undefined, {
      COMP_LINE,
    });
    expect({ exitCode, stdout, stderr }).toEqual({ exitCode: 0, stdout: "db=a\n", stderr: "" });
    expect((await app.run(["--cfg", "job"])).stderr).toMatch(
      /is not available[\s\S]*missing `_self_`/,
    );
  });

  test.each(["install", "query="])("%s names no shell", async (word) => {
    expect((await run(["-sc", word])).stderr).toContain("No completion plugin for 'None' found");
  });

  test("takes no notice of other words", async () => {
    const env = { COMP_LINE: "prog db=", COMP_POINT: "8" };
    const { exitCode, stdout } = await run(["-sc", "query=bash", "x=1"], env);
    expect([exitCode, stdout]).toEqual([0, "db=a db=b\n"]);
  });

  test("needs a line to complete", async () => {
    const { exitCode, stderr } = await run(["-sc", "query=bash"]);
    expect(exitCode).toBe(1);
    expect(stderr).toContain("'COMP_LINE'");
  });
});
