/**
 * The table of the subcommands of `deep-profile`, in the order of its help. It is loaded at every start of the
 * command, so it imports only types: the code of a subcommand is loaded when it is called.
 */
import type { OpenRun } from "./measured-side.ts";
import type { Subcommand } from "./subcommand.ts";

/** @param open opens the runs of `ab` and `calibrate`, which composes their configs */
export const subcommandsOf = (open: OpenRun): readonly Subcommand[] => [
  {
    name: "compare",
    summary: "compares two runs or reports, and can fail when a limit is exceeded",
    commandLine: async () => (await import("./subcommand-lines.ts")).COMPARE,
    run: async (args, io) => (await import("./subcommand-lines.ts")).runCompare(args, io),
  },
  {
    name: "ab",
    summary: "runs two programs in turns and compares them, until a limit is decided",
    commandLine: async () => (await import("./subcommand-lines.ts")).AB,
    run: async (args, io) => (await import("./subcommand-lines.ts")).runAb(open)(args, io),
  },
  {
    name: "calibrate",
    summary: "finds which differences are noise on this machine",
    commandLine: async () => (await import("./subcommand-lines.ts")).CALIBRATE,
    run: async (args, io) => (await import("./subcommand-lines.ts")).runCalibrate(open)(args, io),
  },
  {
    name: "import",
    summary: "makes reports from files that a profiler wrote: ncu, nsys, recordings",
    commandLine: async () => (await import("./subcommand-lines.ts")).IMPORT,
    run: async (args, io) => (await import("./subcommand-lines.ts")).runImport(args, io),
  },
  {
    name: "query",
    summary: "answers a question about a run: what takes the time, why, what changed",
    commandLine: async () => (await import("./subcommand-lines.ts")).QUERY,
    run: async (args, io) => (await import("./subcommand-lines.ts")).runQuery(args, io),
  },
  {
    name: "mcp",
    summary: "answers clients of the Model Context Protocol about runs and configs",
    commandLine: async () =>
      (await import("../../app/command-line/mcp.ts")).mcpLine("deep-profile"),
    run: async (args, io) => {
      const [{ serveQueries }, { QUERY }] = await Promise.all([
        import("./query.ts"),
        import("./subcommand-lines.ts"),
      ]);
      return serveQueries(args, QUERY, io);
    },
  },
  {
    name: "report",
    summary: "rebuilds the reports of a run from its raw files, and opens them",
    commandLine: async () => (await import("./subcommand-lines.ts")).REPORT,
    run: async (args, io) => (await import("./subcommand-lines.ts")).runReport(args, io),
  },
  {
    name: "doctor",
    summary: "shows what is installed and which ways to profile will work here",
    commandLine: async () => (await import("./subcommand-lines.ts")).DOCTOR,
    run: async (args, io) => (await import("./subcommand-lines.ts")).runDoctor(args, io),
  },
];
