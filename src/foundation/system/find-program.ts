/** Finds programs as a shell would, and says why one could not be started. */
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";

/** A path as it is, a bare name on PATH. Null if absent: files and folders that cannot be examined are passed over. */
export function findExecutable(
  program: string,
  cwd: string,
  path: string = process.env["PATH"] ?? "",
): string | null {
  const candidates = program.includes("/")
    ? [resolve(cwd, program)]
    : path.split(delimiter).map((directory) => join(directory || ".", program));
  return candidates.find(isExecutableFile) ?? null;
}

/** Whether a path is a file that this user may execute; false if it cannot be examined. */
export function isExecutableFile(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

/** Interpreters of scripts by the endings of their names, the likeliest first. */
const INTERPRETERS: readonly (readonly [RegExp, readonly string[]])[] = [
  [/\.py$/, ["python", "python3"]],
  [/\.[cm]?js$/, ["node"]],
  [/\.sh$/, ["bash", "sh"]],
];

/** The interpreter of a script, as a shell would find it; undefined for what is no script. */
export function interpreterOf(script: string, path?: string): string | undefined {
  const [, names = []] = INTERPRETERS.find(([ending]) => ending.test(script)) ?? [];
  return names.find((name) => findExecutable(name, ".", path) !== null) ?? names.at(-1);
}

/** How a shell starts what is named: the word itself, the path of a file that is here, or the file behind its interpreter. */
export function startedAs(program: string, cwd: string, path?: string): readonly string[] {
  if (findExecutable(program, cwd, path) !== null) return [program];
  if (findExecutable(`./${program}`, cwd) !== null) return [`./${program}`];
  const interpreter = interpreterOf(program, path);
  return interpreter === undefined ? [program] : [interpreter, program];
}

/** Why a program could not be started, in words: of the error of the system. */
export function startProblem(code: string | undefined, message: string): string {
  if (code === "ENOENT") return "it was not found";
  return code === "EACCES" ? "it is not executable" : message;
}
