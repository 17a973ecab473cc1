import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Logger } from "../../../../src/app/job/logging/logger.ts";
import { createLogging } from "../../../../src/app/job/logging/logging.ts";
import { isConfigError } from "../../../../src/engine/values/errors.ts";

/** The cases of both tests run here: a program whose two streams are terminals. */
type Level = Exclude<keyof Logger, "isEnabledFor">;
export type Step = object | readonly [logger: string, level: Level, message: string];

export const REFUSED = "refused";

/** What configs and records, in this order, come to: what was printed, and the files there are then. */
export function run(steps: readonly Step[], before: Readonly<Record<string, string>> = {}) {
  const cwd = mkdtempSync(join(tmpdir(), "hydraconf-log-"));
  for (const [name, text] of Object.entries(before)) writeFileSync(join(cwd, name), text);
  const written = { stdout: "", stderr: "" };
  const logging = createLogging({
    now: () => new Date(2026, 0, 2, 3, 4, 5, 6),
    console: {
      color: true,
      stdoutColor: true,
      stdout: (text) => {
        written.stdout += text;
      },
      stderr: (text) => {
        written.stderr += text;
      },
    },
  });
  try {
    for (const step of steps)
      if (!Array.isArray(step)) logging.configure(step, false, cwd);
      else {
        const [name, level, message] = step as [string, Level, string];
        logging.logger(name)[level](message);
      }
  } catch (error) {
    if (isConfigError(error)) return REFUSED;
    throw error;
  } finally {
    logging.close();
  }
  const files = readdirSync(cwd).map((name) => [name, readFileSync(join(cwd, name), "utf8")]);
  return { ...written, files: Object.fromEntries(files) };
}

export const toStdout = { class: "logging.StreamHandler", stream: "ext://sys.stdout" };
export const toStderr = { class: "logging.StreamHandler" };
export const config = (changes: object = {}) => ({
  version: 1,
  disable_existing_loggers: false,
  handlers: { out: toStdout },
  root: { level: "INFO", handlers: ["out"] },
  ...changes,
});
/** A config whose one handler is of these settings. */
export const handler = (settings: object) => config({ handlers: { out: settings } });
export const formatter = (settings: object, stream = toStdout) => ({
  ...handler({ ...stream, formatter: "f" }),
  formatters: { f: settings },
});
const LEVELS = ["debug", "info", "warning", "error", "critical"] as const;
/** One record of each level; the message is its first letter. */
export const all = LEVELS.map((level) => ["app.part", level, level.charAt(0)] as const);
export const hello = ["app.part", "info", "hello"] as const;
export const lines = (letters: string) => [...letters].map((letter) => `${letter}\n`).join("");
