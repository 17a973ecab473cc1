/**
 * The subcommands of `deep-profile`, in order of its help. This table loads with every start of the
 * command, so that it names them and imports nothing: their code comes when one is called.
 */
import type { Subcommand } from "./subcommand.ts";

export const SUBCOMMANDS: readonly Subcommand[] = [
  {
    name: "compare",
    summary: "compares two runs or reports, and can fail when a limit is exceeded",
    commandLine: async () => (await import("./compare.ts")).COMMAND,
    run: async (args, io) => (await import("./compare.ts")).runCompare(args, io),
  },
  {
    name: "import",
    summary: "makes reports from files that a profiler wrote: ncu, nsys, recordings",
    commandLine: async () => (await import("./import.ts")).COMMAND,
    run: async (args, io) => (await import("./import.ts")).runImport(args, io),
  },
  {
    name: "report",
    summary: "rebuilds the reports of a run from its raw files, and opens them",
    commandLine: async () => (await import("./report.ts")).COMMAND,
    run: async (args, io) => (await import("./report.ts")).runReport(args, io),
  },
  {
    name: "doctor",
    summary: "shows what is installed and which ways to profile will work here",
    commandLine: async () => (await import("./doctor.ts")).COMMAND,
    run: async (args, io) => (await import("./doctor.ts")).runDoctor(args, io),
  },
];
