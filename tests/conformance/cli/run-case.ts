import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, sep } from "node:path";
import { hydraMain, type Invocation } from "../../../src/cli/index.ts";
import { SWEEP_FOLDER } from "../../../src/record/layout.ts";
import type { Dialect } from "../../../src/values/dialect.ts";
import { toObject } from "../../../src/values/plain-objects.ts";
import { readYaml } from "../../../src/values/yaml/reader.ts";
import type { CorpusCase } from "../corpus.ts";
import { taskNamed } from "./tasks.ts";

/** One recorded run of a Python program with Hydra. */
export interface CliCase extends CorpusCase {
  readonly argv: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly exit_code: number;
  readonly stdout: string | null;
  /** `table`: runs of blanks and of dashes count as one. */
  readonly stdout_mode?: string;
  /** Lines that must occur, in this order. */
  readonly stderr_contains?: readonly string[];
  readonly files: Readonly<Record<string, string>>;
}

export interface Outcome {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly files: Readonly<Record<string, string>>;
}

/**
 * Runs a program with ours in a copy of the application directory, and normalises what came out of
 * it as the recorder did.
 */
export async function runCase(
  suite: string,
  { argv, env }: Pick<CliCase, "argv" | "env">,
  dialect: Dialect,
): Promise<Outcome> {
  const home = mkdtempSync(join(tmpdir(), "hydraconf-cli-"));
  const dir = join(home, "app");
  cpSync(suite, dir, { recursive: true, filter: (path) => !path.endsWith("cases.jsonl") });
  const app = toObject(
    readYaml(readFileSync(join(suite, "app.yaml"), "utf8")),
  ) as unknown as AppFile;
  rmSync(join(dir, "app.yaml"));
  const before = new Set(filesBelow(dir));
  const written = { stdout: "", stderr: "" };
  const invocation: Invocation = {
    argv: argv.map((word) => word.replaceAll("<DIR>", dir)),
    env: { PATH: process.env["PATH"], HOME: "/nonexistent", USER: "tester", ...env },
    cwd: dir,
    now: new Date(),
    console: {
      stdout: (text) => {
        written.stdout += text;
      },
      stderr: (text) => {
        written.stderr += text;
      },
    },
  };
  const origin = process.cwd();
  process.chdir(dir);
  const environment = process.env;
  process.env = { ...environment, ...env };
  try {
    const exitCode = await hydraMain(
      {
        name: "my_app",
        version: "0",
        configPath: app.config_path,
        configName: app.config_name,
        base: dir,
        versionBase: app.version_base === "1.3" ? dialect.name : app.version_base,
        plugins: [],
      },
      taskNamed(app.task, invocation),
      invocation,
    );
    const normal = (text: string): string => normalize(text, dir);
    const files = filesBelow(dir)
      // The record of a sweep is ours: docs/compatibility.md.
      .filter((file) => !before.has(file) && !file.split(sep).includes(SWEEP_FOLDER))
      .map((file) => [normal(file), normal(readFileSync(join(dir, file), "utf8"))]);
    return {
      exitCode,
      stdout: normal(written.stdout),
      stderr: normal(written.stderr),
      files: Object.fromEntries(files),
    };
  } finally {
    process.chdir(origin);
    process.env = environment;
    rmSync(home, { recursive: true, force: true });
  }
}

interface AppFile {
  readonly config_name: string | null;
  readonly config_path: string | null;
  readonly task: string;
  readonly version_base: "1.1" | "1.3";
}

function filesBelow(dir: string): readonly string[] {
  return readdirSync(dir, { recursive: true, encoding: "utf8" }).filter((file) =>
    statSync(join(dir, file)).isFile(),
  );
}

const normalize = (text: string, dir: string): string =>
  text
    .replaceAll(dir, "<DIR>")
    .replaceAll(/\d{4}-\d\d-\d\d/g, "<DATE>")
    .replaceAll(/\d\d:\d\d:\d\d,\d{3}/g, "<TIME>,<MS>")
    .replaceAll(/<DATE>\/\d\d-\d\d-\d\d/g, "<DATE>/<TIME>");
