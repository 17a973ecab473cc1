/** Reads `run.json` of a run directory. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { type ShippedSchema, shippedValidator } from "../../engine/schema/ajv.ts";
import type { ConfigError } from "../../engine/values/errors.ts";
import { packageInfo } from "../../engine/values/package-info.ts";
import { isError } from "../../foundation/system/builtin-types.ts";
import { errorCode, readablePath, readText } from "../../foundation/system/files.ts";
import { shellCommand } from "../../foundation/text/shell-words.ts";
import { RUN_FILE } from "../tools/collection.ts";
import { inputError, unreadableError } from "../tools/source-file.ts";
import { TOOL_NAMES } from "../tools/tool-table.ts";
import { RUN_CONTRACT, type SavedRun } from "./saved-run.ts";

const [CONTRACT_NAME = "", CONTRACT_VERSION = ""] = RUN_CONTRACT.split("/");

/** The first minor version that a release wrote: none before is read. */
const FIRST_MINOR = 5;

/**
 * Reads `run.json` of a run directory.
 *
 * @throws ConfigError `profile.input` if there is none, or one that this version cannot read
 */
export type ReadSavedRun = (directory: string, cwd: string) => SavedRun;

/** The schema of `run.json`. */
export function runSchema(): ShippedSchema<SavedRun> {
  const text = readFileSync(join(packageInfo().root, "schemas", "run.schema.json"), "utf8");
  return { text, compile: (ajv) => ajv.compile<SavedRun>(JSON.parse(text)) };
}

/** A reader for many runs, which compiles their schema once. */
export function createRunReader(): ReadSavedRun {
  const check = shippedValidator(runSchema());
  return (directory, cwd) => {
    const file = join(directory, RUN_FILE);
    const name = readablePath(file, cwd);
    const document = contentOf(file, name);
    checkContract(document, name);
    if (check(document)) return document;
    const [error] = check.errors ?? [];
    throw inputError(name, `${error?.instancePath || "/"} ${error?.message ?? "does not fit"}`);
  };
}

export const readSavedRun: ReadSavedRun = (directory, cwd) => createRunReader()(directory, cwd);

function contentOf(file: string, name: string): unknown {
  let text: string;
  try {
    text = readText(file);
  } catch (cause) {
    if (isMissing(cause)) throw noRun(dirname(file), name);
    throw unreadableError(name, cause);
  }
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw inputError(name, `it is not JSON: ${isError(cause) ? cause.message : cause}`);
  }
}

/** Includes a path below a regular file. */
const isMissing = (error: unknown): boolean =>
  ["ENOENT", "ENOTDIR"].includes(errorCode(error) ?? "");

/** A newer minor version only adds members; another major version may have changed their meaning. */
function checkContract(document: unknown, name: string): void {
  const contract =
    typeof document === "object" && document !== null && "contract" in document
      ? String(document.contract)
      : "";
  const [kind, version = ""] = contract.split("/");
  if (kind !== CONTRACT_NAME) throw inputError(name, `it is not a ${CONTRACT_NAME} document`);
  const [ours] = CONTRACT_VERSION.split(".");
  const [major, minor] = version.split(".");
  if (major === ours && Number(minor) >= FIRST_MINOR) return;
  throw inputError(
    name,
    `its contract is ${contract}; this version of hydraconf (${packageInfo().version}) reads ${CONTRACT_NAME}/${ours}.${FIRST_MINOR} and newer ones of ${ours}.x`,
    "use the version of hydraconf that made the run",
  );
}

function noRun(directory: string, name: string): ConfigError {
  const file = dirname(name);
  const raw = TOOL_NAMES.filter((folder) => existsSync(join(directory, folder)));
  const hint =
    raw.length === 0
      ? "give a run directory, e.g. tmp/profile-output/20260102-030405"
      : `a run that was ended early has none: '${shellCommand(["deep-profile", "import", file])}' makes reports of what ${raw.join(" and ")} left there`;
  if (!existsSync(directory)) return inputError(file, "there is no such directory", hint);
  return statSync(directory).isDirectory()
    ? inputError(
        name,
        "there is no such file, so this is not the directory of a finished run",
        hint,
      )
    : inputError(file, "it is a file, not the directory of a run", hint);
}
