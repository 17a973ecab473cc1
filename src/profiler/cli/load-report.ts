/** Resolves the names on the command line of `compare`: runs or report files. */

import { accessSync, constants, existsSync, readdirSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { ConfigError, nearest } from "../../engine/values/errors.ts";
import {
  errorCode,
  isFileProblem,
  readablePath,
  requireFile,
} from "../../foundation/system/files.ts";
import { andOthers } from "../../foundation/text/plural.ts";
import { wholeBundle } from "../../report/model/contract.ts";
import {
  CONTRACT,
  type NCUProfileRegionReport,
  type RegionReportBundle,
} from "../../report/model/document.ts";
import { regionReportFile } from "../../report/model/report-files.ts";
import { type CheckedDocument, readDocument } from "../../report/validation/check-text.ts";
import { type JsonText, textOfFile } from "../../report/validation/json-text.ts";
import type { ReportValidator } from "../../report/validation/validate.ts";
import { inputError, unreadableError } from "../tools/source-file.ts";
import { REPORT_FOLDERS } from "../tools/tool-table.ts";

export interface LoadedReport {
  /** The name given by the user. */
  readonly name: string;
  /** Equal for the same file, whatever its name. */
  readonly identity: string;
  readonly bundle: RegionReportBundle;
  /** `config.yaml` of the run; null if there is none. */
  readonly configFile: string | null;
  /** The page beside the report; null if there is none. */
  readonly pageFile: string | null;
}

/**
 * @param collector the collector of a run; a report file has only one
 * @throws ConfigError `profile.input` for a missing file, one without a report, and one that violates the contract
 */
export function loadReport(
  name: string,
  cwd: string,
  validator: ReportValidator,
  collector: string,
): LoadedReport {
  const path = reportIn(name, resolve(cwd, name));
  const isRun = isDirectory(name, path);
  const file = isRun ? regionReportFile(join(path, collector)) : path;
  const config = isRun ? join(path, "config.yaml") : configAbove(path);
  const page = join(dirname(file), "report.html");
  return {
    name,
    pageFile: isFile(readablePath(page, cwd), page) ? page : null,
    bundle: readBundle(isRun ? readablePath(file, cwd) : name, validator, () => {
      // The user may name a pipe; files found in a directory must be regular files.
      if (file !== resolve(cwd, name)) requireFile(file);
      return textOfFile(file);
    }),
    identity: identityOf(file),
    configFile: config !== null && isFile(readablePath(config, cwd), config) ? config : null,
  };
}

function identityOf(file: string): string {
  const { dev, ino } = statSync(file, { bigint: true });
  return `${dev} ${ino}`;
}

/** The collectors of the reports of a run; null for a report file, which has only one. */
export function collectorsOf(name: string, cwd: string): readonly string[] | null {
  const path = reportIn(name, resolve(cwd, name));
  if (!isDirectory(name, path)) return null;
  const found = REPORT_FOLDERS.filter((collector) =>
    isThere(name, regionReportFile(join(path, collector))),
  );
  if (found.length > 0) return found;
  if (isThere(name, join(path, ".sweep")))
    throw inputError(
      name,
      "it is a sweep directory",
      `name one of its jobs, which are runs: ${join(name, "0")}`,
    );
  const runs = runsBelow(name, path);
  const last = runs.at(-1);
  if (last === undefined)
    throw inputError(name, "it holds no results of a run", "give a run directory or a report.json");
  throw new ConfigError({
    code: "profile.input",
    message: `${name}: it holds runs, and is none itself`,
    available: runs,
    hint: `name one of them: ${last}`,
  });
}

/** The runs in a directory, which often have times as names; what may not be looked at is none of them. */
function runsBelow(name: string, path: string): readonly string[] {
  try {
    return readdirSync(path)
      .filter((entry) =>
        REPORT_FOLDERS.some((collector) =>
          existsSync(regionReportFile(join(path, entry, collector))),
        ),
      )
      .toSorted()
      .map((entry) => join(name, entry));
  } catch (cause) {
    throw unreadableError(name, cause);
  }
}

/** The folder of a collector or of its regions stands for the report in it. */
function reportIn(name: string, path: string): string {
  const below = [regionReportFile(path), join(path, "report.json")];
  return below.find((file) => isThere(name, file)) ?? path;
}

/** The report of one scope; by default the first, which is the aggregate if there is one. */
export function scopeOf(
  name: string,
  { reports }: RegionReportBundle,
  scope: string | undefined,
): NCUProfileRegionReport {
  const report =
    scope === undefined ? reports[0] : reports.find((candidate) => candidate.scope === scope);
  if (report !== undefined) return report;
  const available = reports.map((candidate) => candidate.scope);
  const near = scope === undefined ? undefined : nearest(scope, available);
  throw new ConfigError({
    code: "profile.input",
    message:
      scope === undefined ? `${name} holds no report` : `${name} holds no report of '${scope}'`,
    available,
    nearest: near,
  });
}

function isDirectory(name: string, path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch (cause) {
    throw unreadableError(name, cause);
  }
}

const isFile = (name: string, path: string): boolean =>
  isThere(name, path) && statSync(path).isFile();

/** False only for a missing file; a file that may not be accessed is another problem. */
function isThere(name: string, path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch (cause) {
    const code = errorCode(cause);
    if (code === "ENOENT" || code === "ENOTDIR") return false;
    throw unreadableError(name, cause);
  }
}

function readBundle(
  name: string,
  validator: ReportValidator,
  open: () => JsonText,
): RegionReportBundle {
  const { document, issues } = checked(name, validator, open);
  const [issue, ...others] = issues;
  if (issue !== undefined) {
    if (issue.pointer === "" && issue.message.includes('"contract"'))
      throw inputError(
        name,
        "it is not a region report: it names no contract",
        "give a run directory or a report.json",
      );
    const place = issue.line === undefined ? "" : `:${issue.line}`;
    throw inputError(
      `${name}${place}`,
      `${issue.pointer === "" ? "" : `${issue.pointer}: `}${issue.message}, expected ${issue.expected}${andOthers(others.length)}`,
      "validate-regions shows every error",
    );
  }
  // A document of an earlier minor version is one of this version, too.
  return { ...wholeBundle(document as RegionReportBundle), contract: CONTRACT };
}

function checked(name: string, validator: ReportValidator, open: () => JsonText): CheckedDocument {
  try {
    return readDocument(open(), validator);
  } catch (cause) {
    if (isFileProblem(cause)) throw unreadableError(name, cause);
    throw cause;
  }
}

/** A report at `RUN/COLLECTOR/regions/report.json` belongs to a run. */
function configAbove(file: string): string | null {
  const run = /^(.*)[\\/][^\\/]+[\\/]regions[\\/]report\.json$/.exec(file)?.[1];
  return run === undefined ? null : join(run, "config.yaml");
}
