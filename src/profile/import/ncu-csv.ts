import { HEADER_START, SUMMARY_HEADERS } from "../ncu/csv/layout.ts";
import { streamNcuCsvFile } from "../ncu/csv/read-csv.ts";
import { isRewritten } from "../ncu/csv/rewritten.ts";
import { withoutMark } from "../ncu/csv/split-rows.ts";
import { headAsUtf8 } from "../ncu/csv/utf16.ts";
import { FORMATS } from "./formats.ts";
import type { Importer } from "./importer.ts";
import { readBeginning } from "./open-source.ts";
import { steadySource } from "./steady-source.ts";

const STARTS = [HEADER_START, ...SUMMARY_HEADERS];

/** Tables that ncu wrote with `--csv`, whatever the program printed before them. */
export const ncuCsvImporter: Importer = {
  collector: "ncu",
  format: FORMATS.ncuCsv,
  matches: (source) => {
    if (source.isDirectory) return false;
    const text = withoutMark(headAsUtf8(readBeginning(source)));
    if (isRewritten(text)) return true;
    return STARTS.some((start) => {
      const at = text.indexOf(start);
      return at === 0 || (at > 0 && text[at - 1] === NEWLINE);
    });
  },
  read: async (source, { locale }) => ({
    kind: "ncu",
    source: steadySource(source, {
      toolVersion: null,
      stream: (onResult) =>
        streamNcuCsvFile(source.path, onResult, {
          name: source.name,
          ...(locale !== null && { locale }),
        }),
    }),
  }),
};

const NEWLINE = 0x0a;
