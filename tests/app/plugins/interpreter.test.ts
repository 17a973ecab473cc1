import { chmodSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { interpreterOf } from "../../../src/app/plugins/python/interpreter.ts";

test("an interpreter that cannot be examined is passed over, in a virtual environment and on PATH", () => {
  const cwd = mkdtempSync(join(tmpdir(), "hydraconf-interpreter-"));
  const [bin, usable] = [join(cwd, ".venv", "bin"), join(cwd, "bin")];
  for (const folder of [bin, usable]) mkdirSync(folder, { recursive: true });
  writeFileSync(join(cwd, ".venv", "pyvenv.cfg"), "");
  symlinkSync("python", join(bin, "python"));
  symlinkSync("python3", join(bin, "python3"));
  writeFileSync(join(usable, "python3"), "");
  chmodSync(join(usable, "python3"), 0o755);
  const env = { PATH: `${bin}:${usable}` };
  expect(interpreterOf({}, { cwd, env })).toBe(join(usable, "python3"));
});
