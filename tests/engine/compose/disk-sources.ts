import { DISK_ACCESS } from "../../../src/engine/compose/sources/file-source.ts";
import type { SourceFactory } from "../../../src/engine/compose/sources/repository.ts";

type Entry = Parameters<SourceFactory>[0];

/** Sources of this machine by scheme, as programs have them; packages are those of the working directory. */
export const diskSources = (cwd = "/"): ReadonlyMap<string, SourceFactory> =>
  DISK_ACCESS.sources({ cwd, env: {} });

/** A directory of this machine. */
export const diskDirectory = (entry: Entry) => sourceOf(diskSources(entry.cwd), "file", entry);

/**
 * A folder of a package of this machine.
 *
 * @param base where packages are looked for first. Default: the working directory
 * @param packageRoots where else they are looked for
 */
export const diskPackage = (
  entry: Entry,
  {
    base,
    packageRoots = [],
  }: { readonly base?: string; readonly packageRoots?: readonly string[] } = {},
) =>
  sourceOf(
    DISK_ACCESS.sources({
      cwd: entry.cwd,
      env: {},
      packageRoots: () => packageRoots,
      ...(base !== undefined && { base }),
    }),
    "pkg",
    entry,
  );

function sourceOf(
  sources: ReadonlyMap<string, SourceFactory>,
  scheme: string,
  entry: Entry,
): ReturnType<SourceFactory> {
  const open = sources.get(scheme);
  if (open === undefined) throw new Error(`no sources of ${scheme}`);
  return open(entry);
}
