/** Finds the Python interpreter of a project without running it. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { findExecutable } from "../../../foundation/system/find-program.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The interpreter of a project: the one that the settings or the command line name; else that of the active virtual
 * environment, of one in the directory or above it, or of an active conda environment; else `python3` or `python` on
 * `PATH`.
 */
export function interpreterOf(
  { python }: { readonly python?: { readonly text: string } },
  { cwd, env }: { readonly cwd: string; readonly env: Environment },
): string {
  if (python !== undefined) return python.text;
  const folder = environmentFolder(cwd, env);
  const executable = folder === undefined ? undefined : join(folder, "bin", "python");
  if (executable !== undefined && existsSync(executable)) return executable;
  const onPath = (name: string) => findExecutable(name, cwd, env["PATH"] ?? "");
  return onPath("python3") ?? onPath("python") ?? "python3";
}

const FOLDERS = [".venv", "venv", "env"];

function environmentFolder(cwd: string, env: Environment): string | undefined {
  const active = env["VIRTUAL_ENV"];
  if (active !== undefined && active !== "") return active;
  for (let directory = cwd; ; directory = dirname(directory)) {
    const found = FOLDERS.map((name) => join(directory, name)).find((folder) =>
      existsSync(join(folder, "pyvenv.cfg")),
    );
    if (found !== undefined) return found;
    // Do not use the environment of a parent project.
    if (existsSync(join(directory, ".git")) || directory === dirname(directory)) break;
  }
  const conda = env["CONDA_PREFIX"];
  return conda === "" ? undefined : conda;
}

/**
 * Where a project's Python finds packages in addition to `PYTHONPATH`: the folders of the virtual environment, and
 * those that its `.pth` files add, for example for editable installs.
 */
export function packageFolders(
  settings: { readonly python?: { readonly text: string } },
  place: { readonly cwd: string; readonly env: Environment },
): readonly string[] {
  const { python } = settings;
  const prefix =
    python?.text.includes("/") === true
      ? dirname(dirname(python.text))
      : environmentFolder(place.cwd, place.env);
  if (prefix === undefined) return [];
  const library = join(prefix, "lib");
  const sites = namesIn(library)
    .filter((name) => /^python\d/.test(name))
    .map((name) => join(library, name, "site-packages"));
  return sites.flatMap((site) => [site, ...addedBy(site)]);
}

function addedBy(site: string): readonly string[] {
  return namesIn(site)
    .filter((name) => name.endsWith(".pth"))
    .flatMap((name) => linesOf(join(site, name)))
    .filter((line) => line !== "" && !/^(#|import\b)/.test(line))
    .map((line) => resolve(site, line));
}

function linesOf(file: string): readonly string[] {
  try {
    return readFileSync(file, "utf8")
      .split("\n")
      .map((line) => line.trim());
  } catch {
    return [];
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
  }
}
