import { createRequire } from "node:module";
import { errorCode } from "../system/files.ts";
import { findPackage, ownFile, type PackageInfo } from "../system/package-root.ts";
import { ConfigError } from "./errors.ts";

/**
 * The package, for those who need its files: schemas, presets, the native part.
 *
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

/**
 * A dependency that is loaded when it is needed, and at once. No bundler sees it, ours included.
 *
 * @throws ConfigError `app.unsupported` where it is not installed, as in a program whose bundler took us in
 */
export function requireDependency(name: string): unknown {
  try {
    return createRequire(ownPlace())(name);
  } catch (cause) {
    if (errorCode(cause) !== "MODULE_NOT_FOUND") throw cause;
    const message = `This needs ${name}, a dependency of hydraconf that is not installed around ${ownPlace()}`;
    throw notAround(message, cause);
  }
}

/** In a bundle of CommonJS, whose code has no address: the program. */
const ownPlace = (): string => ownFile() ?? process.argv[1] ?? process.execPath;

function notAround(message: string, cause?: unknown): ConfigError {
  return new ConfigError({
    code: "app.unsupported",
    message,
    hint: "leave hydraconf out of the program's bundle (external: hydraconf), and install it where the program runs",
    ...(cause !== undefined && { cause }),
  });
}
