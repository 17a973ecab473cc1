import { describe, expect, test } from "vitest";
import type { Subcommand } from "../../src/app/subcommand.ts";
import { ConfigError } from "../../src/values/errors.ts";
import { program } from "./program.ts";

const greet: Subcommand = {
  name: "greet",
  summary: "says hello",
  run: async (args, { console }) => {
    if (args.includes("--bad"))
      throw new ConfigError({ code: "app.usage", message: "unknown option --bad" });
    if (args.includes("--broken"))
      throw new ConfigError({ code: "profile.input", message: "it is broken", hint: "mend it" });
    console.stdout(`hello ${args.join(" ")}\n`);
    return 3;
  },
};
const setUp = () => program({ "conf/config.yaml": "greet: 1\n" }, { subcommands: [greet] });

describe("a subcommand", () => {
  test("is called by the first word, with what stands behind it, and without a config", async () => {
    const { run } = program({}, { subcommands: [greet] });
    expect(await run(["greet", "a=b", "--help"])).toEqual({
      exitCode: 3,
      stdout: "hello a=b --help\n",
      stderr: "",
    });
  });

  test("hides no override, and no override hides it", async () => {
    const { run } = setUp();
    const { exitCode, stdout } = await run(["greet=2", "--cfg", "job"]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: "greet: 2\n" });
    expect((await run(["--cfg", "job", "greet=2"])).stdout).toBe("greet: 2\n");
  });

  test("stands in the program's help", async () => {
    const { stdout } = await setUp().run(["--help"]);
    expect(stdout).toMatch(/== Subcommands ==\n.*\n\n {2}prog greet {3}says hello\n$/);
  });

  test("does not stand there twice", async () => {
    const config = "hydra: {help: {header: 'prog greet NAME: says hello'}}\n";
    const { run } = program({ "conf/config.yaml": config }, { subcommands: [greet] });
    expect((await run(["--help"])).stdout.match(/prog greet/g)).toHaveLength(1);
  });

  test("that is misspelt is named, below a short usage", async () => {
    const { stderr } = await setUp().run(["gret", "x"]);
    expect(stderr.split("\n")[0]).toBe(
      "usage: prog [flags] [overrides ...]    (more: prog --help)",
    );
  });

  test("that is misspelt is named", async () => {
    const { exitCode, stderr } = await setUp().run(["gret", "x"]);
    expect(exitCode).toBe(2);
    expect(stderr).toContain("'gret' is neither an override (KEY=VALUE) nor a subcommand");
    expect(stderr).toContain("did you mean greet?");
  });

  test.each([
    [
      "--greet",
      "unrecognized arguments: --greet (did you mean greet?)\n  a subcommand has no dashes",
    ],
    ["--gret", "unrecognized arguments: --gret (did you mean greet?)"],
    ["--gret=1", "write config values without dashes: gret=1"],
    ["--resolv_", "unrecognized arguments: --resolv_ (did you mean --resolve?)"],
    ["--unlike", "write config values without dashes: unlike=VALUE"],
  ])("that is written with dashes is named: %s", async (word, message) => {
    const { exitCode, stderr } = await setUp().run([word]);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(message);
  });

  test("leaves other bare words to the override language", async () => {
    const { exitCode, stderr } = await setUp().run(["unlike"]);
    expect(exitCode).toBe(1);
    expect(stderr).toContain("Error parsing override 'unlike'");
  });

  test("has its usage errors and other errors shown, each with its exit code", async () => {
    const { run } = setUp();
    const usage = await run(["greet", "--bad"]);
    expect(usage.exitCode).toBe(2);
    expect(usage.stderr).toBe(
      "prog greet: error: unknown option --bad\n  prog greet --help shows what it takes\n",
    );
    const other = await run(["greet", "--broken"]);
    expect(other.exitCode).toBe(1);
    expect(other.stderr).toBe("it is broken\n  Hint: mend it\n");
  });
});
