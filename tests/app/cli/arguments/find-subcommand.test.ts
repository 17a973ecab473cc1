import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  type ProgramUse,
  refuseMisspelt,
} from "../../../../src/app/cli/arguments/find-subcommand.ts";
import { HYDRA_FLAGS, OWN_FLAGS } from "../../../../src/app/cli/arguments/hydra-flags.ts";
import type { Subcommand } from "../../../../src/app/job/options.ts";
import { ConfigError, isConfigError } from "../../../../src/engine/values/errors.ts";
import { program } from "../program.ts";

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
    ["--gret=1", "write config values without dashes: greet=1"],
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

const SUBCOMMANDS = ["compare", "doctor"].map((name) => ({
  name,
  summary: "",
  run: async () => 0,
}));

const PROFILES: ProgramUse = {
  verb: "profile",
  by: "prog",
  isElsewhere: false,
  passesConfig: false,
  cwd: "/nowhere",
  env: { PATH: "/nowhere" },
};

function refusal(
  argv: readonly string[],
  takesProgram = true,
  use: ProgramUse = PROFILES,
): ConfigError["details"] | null {
  try {
    refuseMisspelt(argv, SUBCOMMANDS, takesProgram ? use : undefined, [
      ...HYDRA_FLAGS,
      ...OWN_FLAGS,
    ]);
    return null;
  } catch (error) {
    if (!isConfigError(error)) throw error;
    return error.details;
  }
}

describe("refuseMisspelt", () => {
  test("names the subcommand that was meant", () => {
    expect(refusal(["docter"])).toMatchObject({ code: "app.usage", nearest: "doctor" });
    expect(refusal(["docter"], false)).toMatchObject({ nearest: "doctor" });
  });

  test.each([[["python3", "train.py"]], [["ls", "-l"]], [["./prog"]], [["/usr/bin/env", "x"]]])(
    "shows how to profile %j",
    (argv) => {
      expect(refusal(argv)?.hint).toContain(`-- ${argv.join(" ")}`);
      expect(refusal(argv, false)).toBeNull();
    },
  );

  test.each([
    [["repeats=3", "./prog", "5"], "repeats=3 -- ./prog 5"],
    [["-m", "a=1,2", "/usr/bin/env", "x"], "-m a=1,2 -- /usr/bin/env x"],
    [["-m", "a=1,2", "python3", "../x.py"], "-m a=1,2 -- python3 ../x.py"],
    [["-m", "a=1,2", "python3", "x.py"], "-m a=1,2 -- python3 x.py"],
    [["-m", "a=1,2", "x.py"], "-m a=1,2 -- python3 x.py"],
    [["-m", "x.py", "a=1,2", "--b=1"], "-m a=1,2 -- python3 x.py --b=1"],
    [["-m", "python3", "x.py", "a=1,2", "5"], "-m a=1,2 -- python3 x.py 5"],
    [["-cn", "b", "a=1", "uv", "run", "./x.py"], "-cn b a=1 -- uv run ./x.py"],
  ])("shows where -- is missing in %j", (argv, line) => {
    expect(refusal(argv)?.hint).toBe(`to profile a program, put -- before it: prog ${line}`);
    expect(refusal(argv, false)).toBeNull();
  });

  test.each([
    [["train.py", "lr=3"], "lr=3 -- python3 train.py"],
    [["./train.js", "-m", "lr=1,2", "--out", "x"], "-m lr=1,2 -- node ./train.js --out x"],
    [["uv", "run", "train.py", "+lr=3"], "+lr=3 -- uv run train.py"],
    [["dd", "if=a", "of=b"], "-- dd if=a of=b"],
    [["python", "-m", "dist.run", "train.py", "lr=3"], "lr=3 -- python -m dist.run train.py"],
    [["env", "A=1", "python", "train.py", "-m", "lr=1,2"], "-m lr=1,2 -- env A=1 python train.py"],
    [["train.py", "name=my run", "--to", "a b"], "'name=my run' -- python3 train.py --to 'a b'"],
  ])("puts what is the command's in front of the program in %j", (argv, line) => {
    const runs = { ...PROFILES, verb: "run", passesConfig: true };
    expect(refusal(argv, true, runs)?.hint).toBe(
      `to run a program, put -- before it: prog ${line}`,
    );
  });

  test("names the command that runs scripts, for a script that is there", () => {
    const cwd = mkdtempSync(join(tmpdir(), "hydraconf-script-"));
    const runs = {
      ...PROFILES,
      verb: "run",
      passesConfig: true,
      by: "prog run",
      isElsewhere: true,
      cwd,
    };
    expect(refusal(["lr=3", "train.py"], true, runs)).toBe(null);
    writeFileSync(join(cwd, "train.py"), "");
    expect(refusal(["lr=3", "train.py"], true, runs)?.hint).toBe(
      "to run a program: prog run lr=3 -- python3 train.py",
    );
    expect(refusal(["lr=3", "python", "train.py"], true, runs)?.hint).toBe(
      "to run a program: prog run lr=3 -- python train.py",
    );
  });

  test("leaves words in front of a program to the override language", () => {
    expect(refusal(["lr", "0.1", "--", "python3", "train.py"])).toBeNull();
    expect(refusal(["train.py", "--", "--lr"])?.hint).toContain("prog -- python3 train.py");
    expect(refusal(["docter", "--", "x"])).toMatchObject({ nearest: "doctor" });
  });

  test("knows what is no program", () => {
    expect(refusal(["help"])?.hint).toContain("--help");
    expect(refusal(["version"])?.hint).toContain("--version");
    expect(refusal(["sweep", "status", "out"])?.hint).toContain("hydraconf sweep");
    expect(refusal(["validate-regions", "report.json"])?.hint).toContain(
      "use the separate command",
    );
    expect(refusal(["infer.batch_size"])?.hint).toContain("infer.batch_size=VALUE");
    expect(refusal(["./train.py"])?.hint).not.toContain("VALUE");
  });

  test("says how a value with the name of a subcommand is written", () => {
    const { hint } = refusal(["lr=1", "name=my", "compare"]) ?? {};
    expect(hint).toBe(
      "put it first, followed by its own options: compare ...; if it belongs to a value: 'name=my compare'",
    );
    expect(refusal(["lr=1", "name=my compare"], false)).toBeNull();
  });

  test("says that a subcommand comes first", () => {
    expect(refusal(["-cp", "conf", "compare", "A", "B"])?.message).toContain(
      "the subcommand compare must come first",
    );
  });

  test.each([
    [["--json", "compare", "A", "B"], "compare --json A B"],
    [["--fail-on", "total_ms>5%", "compare", "A", "B"], "compare --fail-on 'total_ms>5%' A B"],
    [["A", "B", "compare"], "compare A B"],
    [["--unknown", "doctor"], "doctor --unknown"],
    [["a=1", "--json", "compare", "A"], "compare ..."],
  ])("shows how to write %j", (argv, command) => {
    expect(refusal(argv)?.hint).toBe(`put it first, followed by its own options: ${command}`);
  });

  test.each([
    [["infer.batch_size=8"]],
    [["~key"]],
    [["+a=b"]],
    [["--explain", "compare"]],
    [["--diff", "before", "compare"]],
    [["--", "compare", "A"]],
    [["-cd", "./conf", "a=1"]],
    [["a=1", "--diff", "./before", "./after"]],
    [["a=./path", "~key"]],
    [["a=b", "--", "./run", "doctor"]],
    [[]],
    [["group@pkg=option"]],
  ])("lets %j through", (argv) => {
    expect(refusal(argv)).toBeNull();
  });
});
