import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildSync, type Format } from "esbuild";
import { afterAll, describe, expect, it } from "vitest";
import { TEXT_LOADERS } from "../../../scripts/text-files.mjs";

const source = fileURLToPath(new URL("../../../src", import.meta.url));
const root = mkdtempSync(join(tmpdir(), "hydraconf-user-bundle-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** What a program prints whose bundler took us in, far away from the package. */
function bundledProgram(format: Format, contents: string, argv: readonly string[] = []) {
  const place = mkdtempSync(join(root, "program-"));
  const file = join(place, format === "esm" ? "program.mjs" : "program.cjs");
  buildSync({
    stdin: { contents, resolveDir: source, sourcefile: "program.ts", loader: "ts" },
    outfile: file,
    bundle: true,
    platform: "node",
    target: "node20",
    format,
    loader: TEXT_LOADERS,
    logLevel: "error",
    logOverride: { "empty-import-meta": "silent" },
  });
  mkdirSync(join(place, "conf"));
  writeFileSync(join(place, "conf", "config.yaml"), "lr: 0.1\n");
  return spawnSync(process.execPath, [file, ...argv], { cwd: place, encoding: "utf8" });
}

const MAIN = `import { hydraMain } from "./index.ts";
  hydraMain({ configPath: "conf", configName: "config", base: process.cwd(), name: "app" }, (config) => {
    console.log("lr", config.get("lr"));
  }).then((code) => { process.exitCode = code; });`;

describe.each<Format>(["esm", "cjs"])("a program that is one file (%s)", (format) => {
  it("has errors with a stack", () => {
    const { stdout, stderr } = bundledProgram(
      format,
      `import { compose } from "./index.ts";
      try { compose({ configDir: "conf", configName: "config", overrides: ["l=1"] }); }
      catch (error) { console.log(error.stack); }`,
    );
    expect(stderr).toBe("");
    expect(stdout).toMatch(/^ConfigError: Could not override 'l'\./);
    expect(stdout).toMatch(/\n +at .*program\.[cm]js/);
  });

  it("runs, and has a version", () => {
    const ran = bundledProgram(format, MAIN);
    expect(ran.stderr).toBe("");
    expect(ran.stdout).toBe("lr 0.1\n");
    expect(bundledProgram(format, MAIN, ["--version"]).stdout).toBe(
      "hydraconf in a bundle (Hydra 1.3.5)\n",
    );
  });

  it("is told what does not fit into a bundle, and the way out", () => {
    const schema = bundledProgram(
      format,
      `import { compose } from "./index.ts";
      const store = new Map([["base", { value: { lr: 1 }, schema: { type: "object" } }]]);
      try { compose({ configDir: "conf", configName: "base", store }); }
      catch (error) { console.log(error.code, error.message, error.details.hint); }`,
    );
    expect(schema.stderr).toBe("");
    expect(schema.stdout).toMatch(
      /^app\.unsupported This needs ajv.* leave hydraconf out of the program's bundle/,
    );
    const report = bundledProgram(
      format,
      `import { contractFile } from "./report/index.ts";
      try { contractFile(); } catch (error) { console.log(error.code, error.message); }`,
    );
    expect(report.stderr).toBe("");
    expect(report.stdout).toMatch(/^app\.unsupported This needs files of the hydraconf package/);
  });
});
