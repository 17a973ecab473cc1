import { FILE_SUFFIX } from "../recording/format.ts";

/** What is imported, as messages and the help call it; apart from its readers, which the help does not need. */
export const FORMATS = {
  ncuReport: "Nsight Compute report (*.ncu-rep, *.ncu-repz; ncu itself is not needed)",
  ncuCsv: "Nsight Compute CSV (ncu --csv --page raw or details)",
  nsysExport: "Nsight Systems SQLite export (*.sqlite)",
  nsysReport: "Nsight Systems report (*.nsys-rep; needs nsys)",
  recording: `deep-profile recording (*${FILE_SUFFIX}, or a directory of them)`,
} as const;
