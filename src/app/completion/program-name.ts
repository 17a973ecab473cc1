import { ConfigError } from "../../values/errors.ts";

/** Hydra's rules for Python and for programs, and the same for scripts of Node. */
const INTERPRETED =
  /^\s*(?:[\w\u0080-\uffff/]*python3?\s*[\w\u0080-\uffff/.]*|(?:\S*\/)?node\s+\S+)\s*(.*)/;
const PROGRAM = /^\s*[\w\u0080-\uffff\-=./]+\s*(.*)/;

/**
 * The arguments in a command line: without the program, or the interpreter and the script.
 * @throws ConfigError `app.flags` where no program stands
 */
export function stripProgram(line: string): string {
  const match = INTERPRETED.exec(line) ?? PROGRAM.exec(line);
  if (match !== null) return match[1] ?? "";
  throw new ConfigError({ code: "app.flags", message: `Error parsing line '${line}'` });
}
