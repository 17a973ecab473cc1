import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { type Failing, reportOwnError } from "../../../src/app/job/report-error.ts";
import { ConfigError } from "../../../src/engine/values/errors.ts";
import { program } from "../cli/program.ts";

function reported(
  error: unknown,
  env: Record<string, string> = {},
  options: Failing["options"] = {},
): string {
  let text = "";
  const console = {
    stdout: () => {},
    stderr: (more: string) => {
      text += more;
    },
  };
  const invocation = { argv: [], env, cwd: "/", now: new Date(0), console };
  reportOwnError(error, { invocation, options });
  return text;
}

const refused = (): unknown => {
  try {
    return readFileSync("/no/such/file");
  } catch (error) {
    return error;
  }
};

test("what the system refuses outside of jobs is told in a line, with the stack on demand", () => {
  expect(reported(refused())).toBe(
    "'/no/such/file': there is no such file or directory\n\nSet the environment variable HYDRA_FULL_ERROR=1 for a complete stack trace.\n",
  );
  expect(reported(refused(), { HYDRA_FULL_ERROR: "1" })).toContain("at readFileSync");
  expect(reported(new Error("a fault of ours"))).toContain("report-error.test.ts");
});

test("a tool shows no stack for a user's mistake, and all of them on demand", () => {
  const mistake = new ConfigError({ code: "profile.input", message: "no such run" });
  const tool = { hasUserCode: false };
  expect(reported(mistake, {}, tool)).toBe("no such run\n");
  expect(reported(mistake)).toMatch(/^no such run\n\nSet .*HYDRA_FULL_ERROR=1/);
  expect(reported(mistake, { HYDRA_FULL_ERROR: "1" }, tool)).toContain("report-error.test.ts");
  expect(reported(new Error("a fault of ours"), {}, tool)).toMatch(/HYDRA_FULL_ERROR=1 .*\n$/);
});

test("what it refuses in a task is told with the task's own part of the stack", async () => {
  const { run } = program({ "conf/config.yaml": "x: 1\n" });
  const { exitCode, stderr } = await run(["hydra.run.dir=o"], () => readFileSync("/no/such/file"));
  expect(exitCode).toBe(1);
  expect(stderr).toContain(
    "Error: ENOENT: no such file or directory, open '/no/such/file'\n    at ",
  );
});
