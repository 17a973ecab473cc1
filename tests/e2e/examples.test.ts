import { cpSync, mkdtempSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { describe, expect, it } from "vitest";
import { until } from "../wait.ts";

// The programs of docs/examples, run as the packages' users run them: on what was built.
const EXAMPLES = fileURLToPath(new URL("../../docs/examples", import.meta.url));
// As Node loads it: the test runner would compile the whole package first.
const require = createRequire(import.meta.url);
const temporary = () => mkdtempSync(join(tmpdir(), "examples-"));

describe("the web service", () => {
  interface Service {
    readonly port: number;
    close(): void;
  }
  async function serving(env: Readonly<Record<string, string>>, secret?: string) {
    const { start } = require("../../docs/examples/service/service.mjs") as {
      readonly start: (around: object) => Promise<Service>;
    };
    const cwd = temporary();
    cpSync(join(EXAMPLES, "service", "conf"), join(cwd, "conf"), { recursive: true });
    const secrets = temporary();
    if (secret !== undefined) writeFileSync(join(secrets, "db_password"), `${secret}\n`);
    const lines: string[] = [];
    const log = (line: string) => lines.push(line);
    const service = await start({ cwd, env: { APP_SERVER__PORT: "0", ...env }, secrets, log });
    const get = async (path: string) =>
      (await fetch(`http://127.0.0.1:${service.port}${path}`)).text();
    return { cwd, get, lines, service };
  }

  it("takes files by environment, variables and secrets, and shows no secret", async () => {
    const { get, service } = await serving(
      { NODE_ENV: "production", APP_GREETING: "good day" },
      "hunter22",
    );
    try {
      expect(await get("/")).toBe("good day\n");
      const shown = await get("/config");
      expect(shown).toContain("host: 0.0.0.0");
      expect(shown).toContain("password: '***'");
      expect(shown).not.toContain("hunter22");
    } finally {
      service.close();
    }
  });

  it("refuses to start where a secret is missing, or a variable is wrong", async () => {
    await expect(serving({ NODE_ENV: "production" })).rejects.toThrow(/db\.password/);
    await expect(serving({ APP_SERVER__PRT: "1" })).rejects.toThrow(
      "environment variable APP_SERVER__PRT: the config has no key 'server.prt'",
    );
    await expect(serving({ APP_SERVER__PORT: "99999" })).rejects.toThrow(/at most 65535/);
  });
  it("ends where it cannot start, although it follows its files", async () => {
    const service = join(EXAMPLES, "service", "service.mjs");
    const env = { NODE_ENV: "production" };
    const { exitCode, stderr } = await execa(process.execPath, [service], { env, reject: false });
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining("db.password")]);
  });

  it("follows its files, and keeps the last good config", async () => {
    const { cwd, get, lines, service } = await serving({});
    const write = (text: string) => {
      writeFileSync(join(cwd, "conf", "new"), text);
      renameSync(join(cwd, "conf", "new"), join(cwd, "conf", "local", "local.yaml"));
    };
    try {
      write("# @package _global_\ngreeting: ahoy\n");
      await until(() => lines.includes("changed: greeting"));
      expect(await get("/")).toBe("ahoy\n");
      write("greeting: [\n");
      await until(() => lines.some((line) => line.includes("conf/local/local.yaml:")));
      expect(await get("/")).toBe("ahoy\n");
    } finally {
      service.close();
    }
  });
});

describe("the command-line tool", () => {
  const words = (cwd: string, ...args: readonly string[]) =>
    execa(process.execPath, [join(EXAMPLES, "tool", "words.mjs"), ...args], { cwd, reject: false });

  it("has arguments and plain flags, and leaves nothing behind", async () => {
    const cwd = temporary();
    writeFileSync(join(cwd, "a.txt"), "b a A c\n");
    const { exitCode, stdout } = await words(cwd, "a.txt", "--top", "1", "--format", "csv");
    expect([exitCode, stdout]).toEqual([0, "a,2"]);
    expect(readdirSync(cwd)).toEqual(["a.txt"]);
  });

  it("says why it ends with another exit code", async () => {
    const cwd = temporary();
    writeFileSync(join(cwd, "a.txt"), "");
    const { exitCode, stderr } = await words(cwd, "a.txt");
    expect([exitCode, stderr]).toEqual([3, "words: no words"]);
  });

  it("says how it is called", async () => {
    const { exitCode, stderr } = await words(temporary());
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining("are required: FILE")]);
  });
});

describe("the experiment runner", () => {
  it("sweeps, and tells the best job", async () => {
    const cwd = temporary();
    const { exitCode, stdout } = await execa(
      process.execPath,
      [join(EXAMPLES, "experiment", "experiment.mjs"), "-m", "optimizer=sgd,momentum", "steps=5"],
      { cwd, reject: false },
    );
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^best: \{"optimizer":"\w+","steps":5\} with [\d.e-]+$/m);
    const [sweep = ""] = readdirSync(join(cwd, "sweeps"));
    expect(
      JSON.parse(readFileSync(join(cwd, "sweeps", sweep, "0", "curve.json"), "utf8")),
    ).toHaveLength(5);
  });
});
