/** Makes the fixes of a migration, compares again, and takes back those that do not give what they promise. */
import { existsSync, readFileSync, rmSync } from "node:fs";
import { ConfigError, isConfigError } from "../../engine/values/errors.ts";
import { writeFileAtomicSync } from "../../foundation/system/atomic-write.ts";
import { fileProblem, readablePath } from "../../foundation/system/files.ts";
import { isPython } from "../project-files.ts";
import type { Finding, Migration } from "./migrate.ts";
import { type EditedTexts, editedTexts, type Fix } from "./text-edits.ts";

/** What became of the fixes of a migration. */
export interface AppliedFixes {
  /** What is left. */
  readonly after: Migration;
  readonly made: readonly Fix[];
  /** The absolute paths of the files that they changed. */
  readonly files: readonly string[];
  /** The files whose fixes were taken back, and why. */
  readonly takenBack?: { readonly files: readonly string[]; readonly reason: string };
}

/**
 * Makes all fixes. If the project then composes less than before, those in sources of programs are taken back, and if that
 * does not help, all.
 *
 * @param compare compares the project as its files are now
 * @throws ConfigError `app.system` for a file that cannot be written
 */
export function applyFixes(
  migration: Migration,
  compare: () => Migration,
  cwd: string,
): AppliedFixes {
  const all = migration.findings.flatMap(({ fix }) => (fix === undefined ? [] : [fix]));
  const ofConfigs = all.filter(({ edits }) => !edits.some(({ file }) => isPython(file)));
  let takenBack: AppliedFixes["takenBack"];
  for (const fixes of ofConfigs.length === all.length ? [all] : [all, ofConfigs]) {
    const { made, texts } = editedTexts(fixes);
    if (made.length === 0) break;
    const restore = writeTexts(texts, cwd);
    const outcome = outcomeOf(migration, made, { compare, restore });
    const files = [...texts].flatMap(([file, text]) => (text === null ? [] : [file]));
    if (outcome.kind === "kept") {
      const left = takenBack?.files.filter((file) => !files.includes(file)) ?? [];
      return {
        after: outcome.after,
        made,
        files,
        ...(takenBack !== undefined && { takenBack: { ...takenBack, files: left } }),
      };
    }
    restore();
    takenBack ??= { files, reason: outcome.reason };
  }
  return { after: migration, made: [], files: [], ...(takenBack !== undefined && { takenBack }) };
}

/** Writes files, and gives what writes them as they were. */
function writeTexts(texts: EditedTexts, cwd: string): () => void {
  const earlier = [...texts.keys()].map(
    (file) => [file, existsSync(file) ? readFileSync(file) : null] as const,
  );
  const write = (entries: Iterable<readonly [string, string | Uint8Array | null]>): void => {
    for (const [file, content] of entries)
      try {
        if (content === null) rmSync(file);
        else writeFileAtomicSync(file, content);
      } catch (cause) {
        throw new ConfigError({
          code: "app.system",
          message: `Cannot write '${readablePath(file, cwd)}': ${fileProblem(cause)}`,
          hint: "what was written before it stays; run the command again",
          cause,
        });
      }
  };
  write(texts);
  return () => write(earlier);
}

type Outcome =
  | { readonly kind: "kept"; readonly after: Migration }
  | { readonly kind: "lost"; readonly reason: string };

/** What becomes of a project with fixes. An error that does not say it leaves the files as they were. */
function outcomeOf(
  before: Migration,
  made: readonly Fix[],
  { compare, restore }: { readonly compare: () => Migration; readonly restore: () => void },
): Outcome {
  try {
    const after = compare();
    const reason = lossIn(before, after, made);
    return reason === undefined ? { kind: "kept", after } : { kind: "lost", reason };
  } catch (error) {
    // There was something to compare, and now there is not.
    if (isConfigError(error) && error.code === "compose.missing_config")
      return { kind: "lost", reason: NO_PROGRAM };
    restore();
    throw error;
  }
}

const NO_PROGRAM = "a program would not be found any more";

/** What a project can do less after fixes, in a few words; undefined for nothing. */
function lossIn(
  { counts: before, findings }: Migration,
  { counts: after, findings: left }: Migration,
  made: readonly Fix[],
): string | undefined {
  if (after.programs < before.programs) return NO_PROGRAM;
  if (after.unread > before.unread) return "a program could not be read any more";
  if (after.failing > before.failing || after.primaries < before.primaries)
    return "a primary config would not compose any more";
  // What is edited in configs was composed before it was offered.
  const fixed = findings.filter(
    ({ fix, span }) => isPython(span.file) && fix !== undefined && made.includes(fix),
  );
  const unmended = fixed.find(
    (finding) =>
      countLike(finding, left) > countLike(finding, findings) - countLike(finding, fixed),
  );
  return unmended && `${unmended.rule} would still be found`;
}

const countLike = ({ rule, span: { file } }: Finding, findings: readonly Finding[]): number =>
  findings.filter((other) => other.rule === rule && other.span.file === file).length;
