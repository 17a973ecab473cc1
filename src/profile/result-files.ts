/** What says that a directory holds a run's results: another run or import must not mix with them. */
export const RESULT_FILES: readonly string[] = ["recorder", "nsys", "ncu", "report.md", "env.json"];
