import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { afterAll, expect, it } from "vitest";
import { commandPath, temporaryDirectory } from "./command.ts";

const here = temporaryDirectory();
afterAll(() => here.remove());

it.each([
  ["hydraconf", []],
  ["deep-profile", ["doctor"]],
] as const)("%s says in a line that the current directory was removed", async (name, args) => {
  mkdirSync(join(here.path, "removed"));
  const { exitCode, stdout, stderr } = await execa(
    "sh",
    ["-c", 'rmdir ../removed && exec "$0" "$@"', process.execPath, commandPath(name), ...args],
    { cwd: join(here.path, "removed"), reject: false },
  );
  expect({ exitCode, stdout, stderr }).toEqual({
    exitCode: 1,
    stdout: "",
    stderr: "The current directory was removed\n  Hint: change to an existing directory (cd)",
  });
});

it.each([
  ["hydraconf", ["--cfg", "job"]],
  ["deep-profile", ["--cfg", "job"]],
] as const)(
  "%s takes no directory whose name is not UTF-8 for another one, and one named U+FFFD as it is",
  async (name, args) => {
    const run = (directory: string) =>
      execa(
        "sh",
        [
          "-c",
          `mkdir -p "$(printf '${directory}')" && cd "$(printf '${directory}')" && exec "$0" "$@"`,
          process.execPath,
          commandPath(name),
          ...args,
        ],
        { cwd: here.path, reject: false },
      );
    const { exitCode, stdout, stderr } = await run("b\\377d");
    expect([exitCode, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(
      /^The name of the current directory is not UTF-8: .*\n {2}Hint: rename it/,
    );
    expect((await run("b\\357\\277\\275d")).stderr).not.toContain("not UTF-8");
  },
);
