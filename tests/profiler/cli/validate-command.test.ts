import { execFile } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runValidateCommand } from "../../../src/profiler/cli/validate-command.ts";
import { renderBundleJson } from "../../../src/report/index.ts";
import { commandPath } from "../../e2e/command.ts";
import { bundleOf, resnet } from "../../report/bundles.ts";

const directory = mkdtempSync(join(tmpdir(), "validate-regions-"));

function file(name: string, text: string): string {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
}

const text = renderBundleJson(bundleOf([resnet]));
const valid = file("valid.json", text);
const broken = file("broken.json", text.replace('"depth": 2', '"depth": 7'));
const brokenLine = text.slice(0, text.indexOf('"depth": 2')).split("\n").length;

async function run(args: readonly string[], color = false, input = "") {
  let stdout = "";
  let stderr = "";
  const code = await runValidateCommand(args, {
    stdin: async function* () {
      yield Buffer.from(input);
    },
    stdout: (part) => {
      stdout += part;
    },
    stderr: (part) => {
      stderr += part;
    },
    color,
  });
  return { code, stdout, stderr };
}

describe("validate-regions", () => {
  it("accepts a valid report", async () => {
    expect(await run([valid])).toEqual({ code: 0, stdout: `${valid}: valid\n`, stderr: "" });
  });

  it("rejects a broken one with pointer and line", async () => {
    const { code, stdout } = await run([valid, broken]);
    expect(code).toBe(1);
    expect(stdout).toBe(
      `${valid}: valid\n${broken}: invalid (1 error)\n  ${broken}:${brokenLine}:11: /reports/0/regions/3/depth: depth 7 does not fit the path; expected 2\n`,
    );
  });

  it("points into text that is not JSON", async () => {
    const path = file("syntax.json", '{\n  "contract": tru\n}\n');
    const { code, stdout } = await run([path]);
    expect(code).toBe(1);
    expect(stdout).toContain(`${path}:2:15: (document): not JSON: expected a value`);
  });

  it("forgives a byte order mark", async () => {
    expect((await run([file("bom.json", `\ufeff${text}`)])).code).toBe(0);
  });

  it("exits 2 for files it cannot read, after checking the others", async () => {
    const { code, stdout, stderr } = await run([join(directory, "none.json"), directory, broken]);
    expect(code).toBe(2);
    expect(stderr).toContain("none.json: cannot be read: there is no such file or directory");
    expect(stderr).toContain("cannot be read: it is a directory");
    expect(stdout).toContain("invalid (1 error)");
  });

  it("reads standard input for -", async () => {
    expect(await run(["-"], false, text)).toEqual({
      code: 0,
      stdout: "(standard input): valid\n",
      stderr: "",
    });
    const { code, stdout } = await run(["-", "--json", valid], false, "{");
    expect(code).toBe(1);
    expect(JSON.parse(stdout).files).toMatchObject([
      { file: "(standard input)", valid: false },
      { file: valid, valid: true },
    ]);
    expect((await run(["--help"])).stdout).toContain("- for standard input");
  });

  it("reads standard input once, and a file called - behind --", async () => {
    expect(await run(["-", "-"])).toMatchObject({ code: 2, stdout: "" });
    const { code, stderr } = await run(["--", "-"], false, text);
    expect(code).toBe(2);
    expect(stderr).toContain("-: cannot be read: there is no such file");
  });

  it("exits 2 for wrong usage", async () => {
    expect(await run([])).toMatchObject({ code: 2, stdout: "" });
    const { code, stderr } = await run(["--jsn", valid]);
    expect(code).toBe(2);
    expect(stderr).toContain("unknown option --jsn");
    const asJson = await run(["--json", "--nope", valid]);
    expect([asJson.code, JSON.parse(asJson.stdout)]).toEqual([
      2,
      {
        version: 1,
        error: {
          code: "app.usage",
          message: "unknown option --nope",
          hint: expect.stringContaining("--json"),
        },
      },
    ]);
    expect((await run(["--nope", "--", "--json"])).stdout).toBe("");
  });

  it("prints its version", async () => {
    const { code, stdout } = await run(["--version"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^validate-regions \d+\.\d+\.\d+\n$/);
  });

  it("prints help, and takes file names that look like options after --", async () => {
    expect(await run(["--help"])).toMatchObject({ code: 0, stderr: "" });
    expect((await run(["--", "--help"])).stderr).toContain("--help: cannot be read");
  });

  it("prints JSON", async () => {
    const { code, stdout } = await run(["--json", valid, broken]);
    expect(code).toBe(1);
    const { version, files } = JSON.parse(stdout);
    expect(version).toBe(1);
    expect(files).toEqual([
      { file: valid, valid: true, unreadable: null, errors: [] },
      {
        file: broken,
        valid: false,
        unreadable: null,
        errors: [
          {
            pointer: "/reports/0/regions/3/depth",
            message: "depth 7 does not fit the path",
            expected: "2",
            line: brokenLine,
            column: 11,
          },
        ],
      },
    ]);
  });

  it("colours only when told to, and never lets a file drive the terminal", async () => {
    expect((await run([valid], true)).stdout).toContain("\u001b[");
    const path = file("hostile.json", text.replace('"depth": 2', '"\\u001b[31m": 2, "depth": 2'));
    const { stdout } = await run([path]);
    expect(stdout).not.toContain("\u001b");
    expect(stdout).toContain("\\u{1b}[31m");
  });

  it("works as a process", async () => {
    const command = commandPath("validate-regions");
    const exit = (path: string) =>
      new Promise<{ code: number | null; stdout: string }>((resolve) => {
        const child = execFile(process.execPath, [command, path], (_error, stdout) =>
          resolve({ code: child.exitCode, stdout }),
        );
      });
    expect(await exit(valid)).toEqual({ code: 0, stdout: `${valid}: valid\n` });
    expect(await exit(broken)).toMatchObject({ code: 1 });
    expect(await exit("none")).toEqual({ code: 2, stdout: "" });
  });
});
