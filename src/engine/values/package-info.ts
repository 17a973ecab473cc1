/** The version and the files of the package that this code runs from. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { errorCode } from "../../foundation/system/files.ts";
import {
  embeddedPart,
  findPackage,
  ownFile,
  type PackageInfo,
} from "../../foundation/system/package-root.ts";
import { requireIn } from "../../foundation/system/require-in.ts";
import { ConfigError } from "./errors.ts";

/**
 * The root of the package, for code that needs its files: schemas, presets, the native part.
 * @throws ConfigError `app.unsupported` in a program whose bundler took the code out of the package
 */
export function packageInfo(): PackageInfo {
  const found = findPackage();
  if (found === undefined)
    throw notAround(
      `This needs files of the hydraconf package, which is not installed around ${ownPlace()}`,
    );
  return found;
}

/** Dependencies that are loaded on demand, each with its file in `dist/vendor` (scripts/bundle-library.mjs). */
const VENDORED = {
  "ajv/dist/2020.js": "ajv.cjs",
  "ajv-formats": "ajv.cjs",
  "fast-glob": "fast-glob.cjs",
  "json-schema-to-typescript": "json-schema-to-typescript.cjs",
  "@eslint-community/regexpp": "patterns.cjs",
  re2js: "patterns.cjs",
  "@modelcontextprotocol/sdk/server/index.js": "mcp.cjs",
  "@modelcontextprotocol/sdk/server/stdio.js": "mcp.cjs",
  "@modelcontextprotocol/sdk/types.js": "mcp.cjs",
} as const;

/**
 * Loads a dependency on demand, synchronously: from its file in the package `hydraconf`; in a clone that is not built,
 * from node_modules. Bundlers do not see the import, ours included.
 * @throws ConfigError `app.unsupported` where it is not installed, as in a program whose bundler included our code
 */
export function requireDependency(name: keyof typeof VENDORED): unknown {
  const embedded = embeddedPart(VENDORED[name]) as Readonly<Record<string, () => unknown>>;
  if (embedded !== undefined) return embedded[name]?.();
  const require = requireIn(dirname(ownPlace()));
  try {
    const file = vendoredFile(VENDORED[name], require);
    return file === undefined ? require(name) : require(file)[name]();
  } catch (cause) {
    if (errorCode(cause) !== "MODULE_NOT_FOUND") throw cause;
    const message = `This needs ${name}, which comes with the hydraconf package; that is not installed around ${ownPlace()}`;
    throw notAround(message, cause);
  }
}

/** A module that the build wrote to `dist/vendor`; undefined where it is not: what it saves must be done then. */
export function builtModule(name: string): unknown {
  const require = requireIn(dirname(ownPlace()));
  const file = vendoredFile(name, require);
  return file === undefined ? undefined : require(file);
}

/**
 * The file in the package around this code or, if a program has this code in its bundle, in the hydraconf package
 * installed for the program.
 */
function vendoredFile(name: string, require: NodeJS.Require): string | undefined {
  const within = (root: string) => join(root, "dist", "vendor", name);
  const around = findPackage();
  if (around !== undefined && existsSync(within(around.root))) return within(around.root);
  try {
    const installed = within(dirname(require.resolve("hydraconf/package.json")));
    return existsSync(installed) ? installed : undefined;
  } catch {
    return undefined;
  }
}

/** The location of this code. A CommonJS bundle has no URL for it, so the program's path is used. */
const ownPlace = (): string => ownFile() ?? process.argv[1] ?? process.execPath;

function notAround(message: string, cause?: unknown): ConfigError {
  return new ConfigError({
    code: "app.unsupported",
    message,
    hint: "leave hydraconf out of the program's bundle (external: hydraconf), and install it where the program runs",
    ...(cause !== undefined && { cause }),
  });
}
