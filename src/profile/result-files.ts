/** Names that show that a directory holds a run's results, so that another run or import must not write there. */
export const RESULT_FILES: readonly string[] = ["recorder", "nsys", "ncu", "report.md", "env.json"];
