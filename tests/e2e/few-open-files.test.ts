import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { afterAll, expect, it } from "vitest";
import { commandPath, temporaryDirectory } from "./command.ts";

const here = temporaryDirectory();
afterAll(() => here.remove());

it.skipIf(process.platform !== "linux")(
  "doctor names a limit of open files that is too low",
  async () => {
    const { exitCode, stdout, stderr } = await execa(
      "sh",
      [
        "-c",
        'ulimit -n 40 && exec "$0" "$@"',
        process.execPath,
        commandPath("deep-profile"),
        "doctor",
      ],
      { cwd: here.path, reject: false },
    );
    expect({ exitCode, stdout, stderr }).toEqual({
      exitCode: 1,
      stdout: "",
      stderr:
        "Programs cannot be started: the limit of open files is too low: this process may open 40\n  Hint: raise the limit of open files, e.g. ulimit -n 1024",
    });
  },
);

it.skipIf(process.platform !== "linux").each([
  ["hydraconf", ["--version"]],
  ["deep-profile", ["--cfg", "job"]],
  ["validate-regions", ["--help"]],
])("%s, which starts no programs, needs hardly more files than Node", async (command, args) => {
  const { exitCode, stderr } = await execa(
    "sh",
    ["-c", 'ulimit -n 40 && exec "$0" "$@"', process.execPath, commandPath(command), ...args],
    { cwd: here.path, reject: false },
  );
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
});

it.skipIf(process.platform !== "linux")(
  "programs load the library with hardly more files than Node, and it asks for none of their streams",
  async () => {
    const library = fileURLToPath(new URL("../../dist/index.js", import.meta.url));
    const program = join(here.path, "program.mjs");
    writeFileSync(
      program,
      `const asked = [];
      for (const name of ["stdout", "stderr"]) {
        const { get } = Object.getOwnPropertyDescriptor(process, name);
        Object.defineProperty(process, name, { get: () => (asked.push(name), get()) });
      }
      const { toYaml, loadYaml } = await import(${JSON.stringify(library)});
      const text = asked.length + " " + toYaml(loadYaml("a: 1"));
      process.stdout.write(text);\n`,
    );
    const { exitCode, stdout, stderr } = await execa("sh", [
      ...["-c", 'ulimit -n 40 && exec "$0" "$@"', process.execPath, program],
    ]);
    expect({ exitCode, stdout, stderr }).toEqual({ exitCode: 0, stdout: "0 a: 1", stderr: "" });
  },
);
