import { describe, expect, test } from "vitest";
import { HYDRA_FLAGS, OWN_FLAGS } from "../../src/app/flags/hydra-flags.ts";
import { refuseMisspelt } from "../../src/app/subcommand.ts";
import { type ConfigError, isConfigError } from "../../src/values/errors.ts";

const SUBCOMMANDS = ["compare", "doctor"].map((name) => ({
  name,
  summary: "",
  run: async () => 0,
}));

function refusal(argv: readonly string[], takesProgram = true): ConfigError["details"] | null {
  try {
    refuseMisspelt(argv, SUBCOMMANDS, takesProgram, [...HYDRA_FLAGS, ...OWN_FLAGS]);
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
  ])("shows where -- is missing in %j", (argv, line) => {
    expect(refusal(argv)?.hint).toBe(`to profile a program, put -- before it: ${line}`);
    expect(refusal(argv, false)).toBeNull();
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
