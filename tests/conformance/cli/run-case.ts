import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, sep } from "node:path";
import { hydraMain } from "../../../src/app/cli/hydra-main.ts";
import type { Invocation } from "../../../src/app/job/process/invocation.ts";
import { SWEEP_FOLDER } from "../../../src/app/record/layout.ts";
import type { Dialect } from "../../../src/engine/values/dialect.ts";
import { toObject } from "../../../src/engine/values/plain-objects.ts";
import { readYaml } from "../../../src/engine/values/yaml/reader.ts";
import type { CorpusCase } from "../corpus.ts";
import { taskNamed } from "./tasks.ts";

/** One recorded run of a Python program with Hydra. */
export interface CliCase extends CorpusCase {
  readonly argv: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** What differs from `app.yaml`. */
  readonly app?: Partial<AppFile>;
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
  { app: own, argv, env }: Pick<CliCase, "app" | "argv" | "env">,
  dialect: Dialect,
): Promise<Outcome> {
  const home = mkdtempSync(join(tmpdir(), "hydraconf-cli-"));
  const dir = join(home, "app");
  cpSync(suite, dir, { recursive: true, filter: (path) => !path.endsWith("cases.jsonl") });
  const written = toObject(readYaml(readFileSync(join(suite, "app.yaml"), "utf8")));
  const app = { ...(written as unknown as AppFile), ...own };
  rmSync(join(dir, "app.yaml"));
  const before = new Set(filesBelow(dir));
  const said = { stdout: "", stderr: "" };
  const invocation: Invocation = {
    argv: argv.map((word) => word.replaceAll("<DIR>", dir)),
    env: { PATH: process.env["PATH"], HOME: "/nonexistent", USER: "tester", ...env },
    cwd: dir,
    now: new Date(),
    console: {
      stdout: (text) => {
        said.stdout += text;
      },
      stderr: (text) => {
        said.stderr += text;
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
        ...versionOf(app, dialect),
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
      stdout: normal(said.stdout),
      stderr: normal(said.stderr),
      files: Object.fromEntries(files),
    };
  } finally {
    process.chdir(origin);
    process.env = environment;
    rmSync(home, { recursive: true, force: true });
  }
}

/** What the program says of versions. The base was recorded with 1.3, which stands for nothing said in what is recorded by another Hydra. */
function versionOf({ hydra, version_base: base }: AppFile, { leastVersionBase, name }: Dialect) {
  if (leastVersionBase === null) return { versionBase: base === "1.3" ? name : (base ?? name) };
  const said = hydra === undefined && base === "1.3" ? null : base;
  return { dialect: name, ...(said !== null && { versionBase: said }) };
}

interface AppFile {
  /** The version of Hydra that the program was written for; absent in the base. */
  readonly hydra?: string;
  readonly config_name: string | null;
  readonly config_path: string | null;
  readonly task: string;
  readonly version_base: string | null;
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
