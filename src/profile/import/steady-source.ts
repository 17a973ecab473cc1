import { statSync } from "node:fs";
import { ConfigError } from "../../values/errors.ts";
import type { ImportSource, NcuSource } from "./importer.ts";

/**
 * A file's results, which are read more than once. What is put in the file's place meanwhile, or written to it, would
 * be counted for regions that were found in another: the first reading says so in a note, later ones refuse.
 *
 * @param read reads the file from its start
 */
export function steadySource(
  { name, path }: Pick<ImportSource, "name" | "path">,
  { toolVersion, stream: read }: NcuSource,
): NcuSource {
  const first = stateOf(path);
  let readBefore = false;
  return {
    toolVersion,
    async stream(onResult) {
      const isFirst = !readBefore;
      readBefore = true;
      if (!isFirst && stateOf(path) !== first) throw changed(name);
      const streamed = await read(onResult);
      if (stateOf(path) === first) return streamed;
      if (!isFirst) throw changed(name);
      return { ...streamed, notes: [...streamed.notes, `${changedWords(name)}: ${INCOMPLETE}`] };
    },
  };
}

const INCOMPLETE = "results may be missing or mixed; import it again once nothing writes to it";

const changedWords = (name: string): string => `${name} changed while it was read`;

const changed = (name: string): ConfigError =>
  new ConfigError({
    code: "profile.input",
    message: changedWords(name),
    hint: "import it again once nothing writes to it",
  });

/** Differs once a file was written, or another one has its name; empty where it is gone. */
function stateOf(path: string): string {
  const status = statSync(path, { bigint: true, throwIfNoEntry: false });
  return status === undefined
    ? ""
    : [status.dev, status.ino, status.size, status.mtimeNs].join(" ");
}
