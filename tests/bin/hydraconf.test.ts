import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { describe, expect, test } from "vitest";
import { commandPath } from "../e2e/command.ts";

const COMMAND = commandPath("hydraconf");

function hydraconf(argv: readonly string[], cwd: string) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [COMMAND, ...argv], {
    cwd,
    encoding: "utf8",
    env: { PATH: process.env["PATH"] },
  });
  return { status, stdout, stderr };
}

function tree(): string {
  const cwd = mkdtempSync(join(tmpdir(), "hydraconf-bin-"));
  mkdirSync(join(cwd, "conf/db"), { recursive: true });
  writeFileSync(join(cwd, "conf/config.yaml"), "defaults: [{db: a}, _self_]\nurl: ${db.host}\n");
  writeFileSync(join(cwd, "conf/db/a.yaml"), "host: ah\n");
  writeFileSync(join(cwd, "conf/other.yaml"), "x: 1\n");
  return cwd;
}

test.each([
  [[], "db:\n  host: ah\nurl: ${db.host}\n"],
  [["--resolve", "db.host=b"], "db:\n  host: b\nurl: b\n"],
  [["-cn", "other"], "x: 1\n"],
  [["-cp", "conf/db", "-cn=a"], "host: ah\n"],
  [["--run"], "db:\n  host: ah\nurl: ${db.host}\n"],
])("the command composes what it is told and writes nothing: %j", (argv, expected) => {
  const cwd = tree();
  expect(hydraconf(argv, cwd)).toEqual({ status: 0, stdout: expected, stderr: "" });
  expect(readdirSync(cwd)).toEqual(["conf"]);
});

test("--help names the subcommands, with and without a tree; --hydra-help shows the flags once", () => {
  const cwd = tree();
  const empty = mkdtempSync(join(tmpdir(), "hydraconf-empty-"));
  for (const place of [cwd, empty]) {
    const { status, stdout, stderr } = hydraconf(["--help"], place);
    expect([status, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/^ {2}hydraconf schema .*\n {2}hydraconf sweep /m);
    expect(stdout.match(/^--cfg,-c :/gm)).toHaveLength(1);
    expect(stdout.includes("== Configuration groups ==")).toBe(place === cwd);
    const flags = hydraconf(["--hydra-help"], place);
    expect([flags.status, flags.stderr]).toEqual([0, ""]);
    expect(flags.stdout.match(/^--cfg,-c :/gm)).toHaveLength(1);
    if (place === cwd) expect(flags.stdout).toMatch(/^hydra\/launcher: basic/m);
  }
});

test("exit codes and places of errors", () => {
  const cwd = tree();
  expect(hydraconf(["--nope"], cwd).status).toBe(2);
  const failed = hydraconf(["db=zz"], cwd);
  expect([failed.status, failed.stdout]).toEqual([1, ""]);
  expect(failed.stderr).toContain("Could not find 'db/zz'");
});

test("a reader that closes the pipe early is no error", () => {
  const cwd = tree();
  const large = Array.from({ length: 20_000 }, (_, i) => `key_number_${i}: some text\n`).join("");
  writeFileSync(join(cwd, "conf/large.yaml"), large);
  const script = '"$0" "$1" -cn large | head -n 1';
  const { stdout, stderr } = spawnSync("sh", ["-c", script, process.execPath, COMMAND], {
    cwd,
    encoding: "utf8",
  });
  expect([stdout, stderr]).toEqual(["key_number_0: some text\n", ""]);
});

describe("in a directory with several programs", () => {
  const main = (config: string) =>
    `import hydra\n@hydra.main(version_base="1.3", config_path="conf", config_name="${config}")\ndef f(cfg): pass\n`;
  function programs(): string {
    const cwd = mkdtempSync(join(tmpdir(), "hydraconf-programs-"));
    for (const name of ["a", "b"]) {
      mkdirSync(join(cwd, name, "conf"), { recursive: true });
      writeFileSync(join(cwd, name, "conf/train.yaml"), `lr: ${name === "a" ? 1 : 2}\n`);
      writeFileSync(join(cwd, name, "train.py"), main("train"));
    }
    return cwd;
  }

  test.each([[[]], [["run"]]])("--help KEY asks which one is meant: %j", (first) => {
    const { status, stderr } = hydraconf([...first, "--help", "lr"], programs());
    expect([status, stderr]).toEqual([1, expect.stringContaining("Several programs are here")]);
  });

  test.each([
    [["--help", "lr", "--app", "b/train.py"]],
    [["run", "--help", "lr", "--app", "b/train.py"]],
    [["run", "--help", "lr", "--", "python3", "b/train.py"]],
  ])("--help KEY describes a key of the one that is named: %j", (argv) => {
    const { status, stderr, stdout } = hydraconf(argv, programs());
    expect([status, stderr]).toEqual([0, ""]);
    expect(stdout).toContain("default  2  (b/conf/train.yaml:1:5)");
  });

  test("--help alone needs none", () => {
    for (const first of [[], ["run"]])
      expect(hydraconf([...first, "--help"], programs()).status).toBe(0);
  });

  test("mcp has an input for it", async () => {
    const client = new Client({ name: "test", version: "1" });
    const cwd = programs();
    await client.connect(
      new StdioClientTransport({ command: process.execPath, args: [COMMAND, "mcp"], cwd }),
    );
    const ask = async (app: string) => {
      const input = { name: "compose", arguments: { app } };
      const { content } = await client.callTool(input);
      return (content as readonly { readonly text: string }[])[0]?.text ?? "";
    };
    try {
      expect(JSON.parse(await ask("b/train.py"))).toEqual({ lr: 2 });
      expect(await ask("../x.py")).toContain("has '..' in a path");
      expect(await ask("--run")).toContain("begins with '-'");
      expect(await ask("c/train.py")).toContain("c/train.py");
    } finally {
      await client.close();
    }
  });
});
