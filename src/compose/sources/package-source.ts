import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
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

/** Looks the folder up itself: a package need not export its configs to be composed from. */
function packageFolder(path: string, cwd: string): string | undefined {
  const parts = path.split("/");
  const nameLength = path.startsWith("@") ? 2 : 1;
  const name = parts.slice(0, nameLength).join("/");
  if (name === "" || name.startsWith(".")) return undefined;
  const places = createRequire(join(cwd, "from-here.js")).resolve.paths(name) ?? [];
  const root = places.map((place) => join(place, name)).find((dir) => existsSync(dir));
  return root === undefined ? undefined : join(root, ...parts.slice(nameLength));
}
