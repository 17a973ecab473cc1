// Programs in languages of shells beside our code, which users' shells load.
import { execFileSync, spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { listFiles } from "./files.ts";

const source = fileURLToPath(new URL("../../src", import.meta.url));

const isThere = (program: string): boolean =>
  spawnSync(program, ["--version"], { stdio: "ignore" }).error === undefined;

/** What reads a file without running it, by the ending of its name. */
const CHECKS = [
  [".bash", "shellcheck", ["-s", "bash"]],
  [".bash", "bash", ["-n"]],
  [".zsh", "zsh", ["-n"]],
  [".fish", "fish", ["-n"]],
] as const;

describe("shell sources", () => {
  it.each(CHECKS)("%s files are there", (ending) => {
    expect(listFiles(source, ending)).not.toEqual([]);
  });

  for (const [ending, program, args] of CHECKS)
    describe.skipIf(!isThere(program))(`${program} accepts`, () => {
      it.each(listFiles(source, ending).map((file) => [file.slice(source.length + 1)]))(
        "%s",
        (file) => {
          execFileSync(program, [...args, join(source, file)], { stdio: "pipe" });
        },
      );
    });
});
