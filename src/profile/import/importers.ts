import { ConfigError } from "../../values/errors.ts";
import type { Importer, ImportSource } from "./importer.ts";
import { ncuCsvImporter } from "./ncu-csv.ts";
import { ncuReportImporter } from "./ncu-report.ts";
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
  const isEmpty = !source.isDirectory && source.bytes === 0;
  throw new ConfigError({
    code: "profile.input",
    message: isEmpty
      ? `${source.name} is empty`
      : `${source.name} is no ${source.isDirectory ? "directory" : "file"} that can be imported`,
    available: IMPORTERS.map(({ format }) => format),
    ...(isEmpty && {
      hint: "ncu writes an empty table when no kernel matches its filters, and still ends with exit code 0",
    }),
  });
}
