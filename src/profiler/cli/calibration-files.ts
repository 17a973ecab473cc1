/** Where calibrations are kept: in the user's cache, one file for each program on each machine. */

import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { isErrorNamed } from "../../foundation/system/builtin-types.ts";
import { errorCode } from "../../foundation/system/files.ts";
import { once } from "../../foundation/system/get-or-create.ts";
import { userCache } from "../../foundation/system/user-folder.ts";
import { calibrationFor, type FindCalibration } from "../../report/compare/calibration.ts";
import type { Calibration } from "../../report/compare/calibration-types.ts";
import { createDocumentValidator } from "../../report/validation/document-contracts.ts";
import { inputError, unreadableError } from "../tools/source-file.ts";
import type { SubcommandIo } from "./subcommand.ts";

const folderOf = ({ env }: Pick<SubcommandIo, "env">): string =>
  join(userCache(env), "calibrations");

/** The file of a program on a machine; another calibration of it replaces it. */
export function calibrationFile(
  { machine: { hostname, cpu }, command, collector }: Calibration,
  io: Pick<SubcommandIo, "env">,
): string {
  const subject = JSON.stringify([hostname, cpu, command, collector]);
  const name = createHash("sha256").update(subject).digest("hex").slice(0, 16);
  return join(folderOf(io), `${name}.json`);
}

/**
 * @param wanted the file that the user names, which is taken for any machine; else the one for both reports is searched
 * @throws ConfigError `profile.input` for a file that cannot be read or is no calibration
 */
export function calibrationFinder(
  wanted: string | undefined,
  io: Pick<SubcommandIo, "cwd" | "env">,
): FindCalibration {
  if (wanted === undefined) {
    const kept = once(() => keptCalibrations(io));
    return (reports) => calibrationFor(kept(), reports);
  }
  const { calibration, problem } = readCalibration(wanted, resolve(io.cwd, wanted));
  if (calibration === null)
    throw inputError(
      wanted,
      `it is no calibration${problem}`,
      "deep-profile calibrate --output FILE -- PROG writes one",
    );
  return () => calibration;
}

/** Files that are damaged or of another version are passed over: they can be made again. */
function keptCalibrations(io: Pick<SubcommandIo, "env">): readonly Calibration[] {
  const folder = folderOf(io);
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith(".json"))
      .flatMap((name) => readCalibration(name, join(folder, name)).calibration ?? []);
  } catch (cause) {
    if (["ENOENT", "ENOTDIR", "EACCES"].includes(errorCode(cause) ?? "")) return [];
    throw unreadableError(folder, cause);
  }
}

interface Reading {
  readonly calibration: Calibration | null;
  /** Empty without a problem. */
  readonly problem: string;
}

function readCalibration(name: string, path: string): Reading {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (cause) {
    throw unreadableError(name, cause);
  }
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch (error) {
    if (!isErrorNamed("SyntaxError", error)) throw error;
    return { calibration: null, problem: ": it is not JSON" };
  }
  const isOne =
    typeof document === "object" &&
    document !== null &&
    "contract" in document &&
    String(document.contract).startsWith("hydraconf.calibration/");
  if (!isOne) return { calibration: null, problem: "" };
  const [issue] = createDocumentValidator().validate(document);
  return issue === undefined
    ? { calibration: document as Calibration, problem: "" }
    : { calibration: null, problem: `: ${issue.pointer} ${issue.message}` };
}
