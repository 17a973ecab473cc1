// Python files beside our code, which other processes run.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import PLUGIN from "../../src/python/sources/hydra_plugin.py";
import { listFiles } from "./files.ts";

const source = fileURLToPath(new URL("../../src", import.meta.url));
const files = listFiles(source, ".py");

describe("Python sources", () => {
  it.each(files.map((file) => [file.slice(source.length + 1), file]))("%s compiles", (_, file) => {
    const cache = mkdtempSync(join(tmpdir(), "hydraconf-py-compile-"));
    const env = { ...process.env, PYTHONPYCACHEPREFIX: cache };
    execFileSync("python3", ["-W", "error", "-m", "py_compile", file], { env, stdio: "pipe" });
    rmSync(cache, { recursive: true });
  });

  it("are imported as their texts", () => {
    const plugin = files.find((file) => file.endsWith("hydra_plugin.py")) ?? "";
    expect(PLUGIN).toBe(readFileSync(plugin, "utf8"));
  });
});
