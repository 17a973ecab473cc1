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
    stderr: "The current directory was removed\n  Hint: change to one that is there (cd)",
  });
});
