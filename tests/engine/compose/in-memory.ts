import type { RunMode } from "../../../src/engine/compose/defaults/list.ts";
import {
  type Composition,
  type CompositionWarning,
  type Config,
  composeConfig,
  createConfig,
  hydraGroups,
  memorySource,
  schemaSource,
  takeSnapshot,
} from "../../../src/engine/compose/index.ts";
import type { StoreEntry } from "../../../src/engine/compose/sources/memory-source.ts";
import type { Snapshot } from "../../../src/engine/compose/sources/repository.ts";
import { parseOverrides } from "../../../src/engine/overrides/index.ts";
import { DEFAULT_DIALECT } from "../../../src/engine/values/dialect.ts";
import { ConfigError } from "../../../src/engine/values/errors.ts";
import {
  createResolveContext,
  type ResolveContext,
} from "../../../src/engine/values/resolution/context.ts";
import type { Resolver } from "../../../src/engine/values/resolution/resolver.ts";
import { diskSources } from "./disk-sources.ts";

export interface InMemoryOptions {
  readonly configName?: string | null;
  readonly env?: Readonly<Record<string, string>>;
  readonly mode?: RunMode;
  readonly fromShell?: boolean;
  readonly store?: ReadonlyMap<string, StoreEntry>;
  readonly resolvers?: readonly Resolver[];
}

/** Files of a config tree: texts by path without extension. */
export type Files = Readonly<Record<string, string>>;

/** Composes a small tree that is written where it is used; `config` is the primary config. */
export function composeFiles(
  files: Files,
  overrides: readonly string[] = [],
  options: InMemoryOptions = {},
): Config {
  const context = createResolveContext({
    env: options.env ?? {},
    resolvers: options.resolvers ?? [],
  });
  const composition = composeOn(snapshotOf(files, options.store), overrides, context, options);
  return createConfig(composition.config, composition, context);
}

export const snapshotOf = (files: Files, store: InMemoryOptions["store"] = new Map()): Snapshot =>
  takeSnapshot({
    sources: [hydraGroups(DEFAULT_DIALECT), filesSource(files)],
    schemaSource: schemaSource(store),
    cwd: "/nowhere",
    factories: diskSources(),
  });

interface OneOfSeveral extends Pick<InMemoryOptions, "configName" | "mode" | "fromShell"> {
  /** The overrides of the sweep whose job is composed. */
  readonly sweep?: readonly string[];
  readonly onWarning?: (warning: CompositionWarning) => void;
}

/** One of several compositions of the same files. */
export const composeOn = (
  snapshot: Snapshot,
  overrides: readonly string[],
  context: ResolveContext,
  { configName = "config", mode = "run", fromShell = false, onWarning, sweep }: OneOfSeveral = {},
): Composition =>
  composeConfig({
    snapshot,
    configName,
    ...(sweep && { sweep: parseOverrides(sweep, { dialect: context.dialect }) }),
    overrides: parseOverrides(overrides, { dialect: context.dialect }),
    mode,
    fromShell,
    jobName: "app",
    cwd: "/nowhere",
    context,
    ...(onWarning && { onWarning }),
  });

export const filesSource = (files: Files) =>
  memorySource(
    { scheme: "file", path: "/conf", provider: "main" },
    new Map(Object.entries(files).map(([path, text]) => [path, { text }])),
  );

/** The rows that are not Hydra's own: `db/mysql@db`, `config@ (self)`. */
export const rowTexts = ({ defaults }: Composition): string[] =>
  defaults
    .filter(({ configPath }) => !configPath.startsWith("hydra/"))
    .map((row) => `${row.configPath}@${row.package}${row.isSelf ? " (self)" : ""}`);

/** What a call refuses; fails the test if it does not, or with anything but a coded error. */
export function refusal(run: () => unknown): ConfigError {
  try {
    run();
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}

/** The text that an error's origin points at. */
export function pointedAt({ details: { origin } }: ConfigError): string | undefined {
  if (origin?.kind === "file") return origin.source.text.slice(origin.start, origin.end);
  return origin?.kind === "override" ? origin.text : undefined;
}
