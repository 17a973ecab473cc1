import { COLLECTOR_NAMES } from "../collection/collector-names.ts";

/** Names that show that a directory holds a run's results, so that another run or import must not write there. */
export const RESULT_FILES: readonly string[] = [...COLLECTOR_NAMES, "report.md", "env.json"];

/** What a run knows beside its raw files: `saved-run/document.ts`. */
export const RUN_FILE = "run.json";
