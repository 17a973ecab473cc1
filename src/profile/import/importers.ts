import { ConfigError } from "../../values/errors.ts";
import type { Importer, ImportSource } from "./importer.ts";
import { ncuCsvImporter } from "./ncu-csv.ts";
import { ncuReportImporter } from "./ncu-report.ts";
import { remedyFor } from "./not-imported.ts";
import { nsysExportImporter, nsysReportImporter } from "./nsys.ts";
import { recordingImporter } from "./recording.ts";

/** Every format that is read. The first that recognises a file reads it. */
export const IMPORTERS: readonly Importer[] = [
  ncuReportImporter,
  ncuCsvImporter,
  nsysExportImporter,
  nsysReportImporter,
  recordingImporter,
];

/** @throws ConfigError `profile.input` where no format fits */
export function importerOf(source: ImportSource): Importer {
  const importer = IMPORTERS.find(({ matches }) => matches(source));
  if (importer !== undefined) return importer;
  const what = source.isDirectory ? "directory" : "file";
  const isEmpty = !source.isDirectory && source.bytes === 0;
  const hint = remedyFor(source);
  throw new ConfigError({
    code: "profile.input",
    message: isEmpty
      ? `${source.name} is empty`
      : `${source.name} is not a ${what} that can be imported`,
    available: IMPORTERS.map(({ format }) => format),
    hint,
  });
}
