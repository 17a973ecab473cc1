/** The option `--port` of commands that serve a page. */
import type { ConfigError } from "../../engine/values/errors.ts";
import { errorCode } from "../../foundation/system/files.ts";
import { usage } from "./command-line.ts";

/**
 * @param example a command line with a port
 * @throws ConfigError `app.usage`
 */
export function portOf(text: string | undefined, example: string): number {
  if (text === undefined) return 0;
  if (/^\d{1,5}$/.test(text) && Number(text) < 2 ** 16) return Number(text);
  throw usage(`--port: '${text}' is not a port`, `e.g. ${example}`);
}

/** The error to throw for one of a server: for a port in use one that says so. */
export const portError = (error: unknown, port: number): unknown =>
  errorCode(error) === "EADDRINUSE" ? portInUse(port) : error;

const portInUse = (port: number): ConfigError =>
  usage(`--port: ${port} is in use`, "name another one, or none for any that is free");
