import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { ConfigSource, LoadedConfig } from "./config-source.ts";
import { fileSource } from "./file-source.ts";

export interface PackageSourceOptions {
  readonly provider: string;
  /** `NAME/FOLDER`, e.g. `my-configs/conf` or `@scope/name/conf`. */
  readonly path: string;
  /** The directory whose `node_modules` are searched. */
  readonly cwd: string;
}

/** A folder of an installed npm package (`pkg://NAME/FOLDER`). */
export function packageSource({ provider, path, cwd }: PackageSourceOptions): ConfigSource {
  const info = { scheme: "pkg", path, provider };
  const dir = packageFolder(path, cwd);
  if (dir === undefined) return unavailableSource(info);
  const files = fileSource({ provider, path: dir, cwd });
  return {
    ...info,
    available: files.available,
    isGroup: files.isGroup,
    load(configPath): LoadedConfig | undefined {
      const loaded = files.load(configPath);
      return loaded && { ...loaded, source: info };
    },
    list: files.list,
  };
}

function unavailableSource(info: Pick<ConfigSource, "scheme" | "path" | "provider">): ConfigSource {
  return {
    ...info,
    available: () => false,
    isGroup: () => false,
    load: () => undefined,
    list: () => [],
  };
}

function packageFolder(path: string, cwd: string): string | undefined {
  const parts = path.split("/");
  const nameLength = path.startsWith("@") ? 2 : 1;
  const name = parts.slice(0, nameLength).join("/");
  if (name === "") return undefined;
  try {
    const manifest = createRequire(join(cwd, "noop.js")).resolve(`${name}/package.json`);
    return join(dirname(manifest), ...parts.slice(nameLength));
  } catch {
    // Not installed, or it does not export its manifest: Hydra too goes on without the entry.
    return undefined;
  }
}
