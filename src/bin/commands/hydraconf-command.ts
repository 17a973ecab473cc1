/** The command `hydraconf`, as a function of its invocation. */
import { existsSync, readdirSync } from "node:fs";
import { type AdaptableCall, type Adaptation, runMain } from "../../app/cli/main.ts";
import type { Flag } from "../../app/job/options.ts";
import type { Invocation } from "../../app/job/process/invocation.ts";

const ABOUT = `hydraconf composes any Hydra configuration tree and prints it. Without a subcommand it runs and writes nothing.

  hydraconf                                 the tree in conf/, primary config 'config'
  hydraconf -cp DIR -cn NAME db=mysql       another tree, with overrides
  hydraconf --resolve db=mysql              resolved interpolations
  hydraconf --explain db.port               which file or override set a value
  hydraconf --diff db=mysql                 what an override changes
  hydraconf -m db=mysql,pg                  the config of every job of a sweep
  hydraconf --help db.port                  what a key or a group is
  hydraconf run -m lr=0.1,0.2 -- python train.py   runs a program, in any language, with the config of each job
  hydraconf schema --types                  TypeScript types of the tree; also schemas for editors
  hydraconf sweep status DIR                the state of a sweep; also wait, cancel, collect and best
  hydraconf open                            the tree in a browser: where values come from, what overrides change
  hydraconf gc DIR                          old output directories of runs and sweeps
  hydraconf migrate                         what Hydra 1.4 changes in this project; --fix edits it
  hydraconf trust                           lets this project run what its hydraconf.yaml names, such as plugins

In a directory with a program of Hydra, the tree is that of its @hydra.main; --app FILE chooses one of several.
run, schema and sweep have their own --help.`;

const APP_FLAG: Flag = {
  id: "app",
  names: ["--app"],
  takes: "value",
  completes: "file",
  help: "The program whose configs are composed, by its file or its name in hydraconf.yaml",
};

/** The command `hydraconf`: composes and prints a tree, or runs a subcommand. @returns the exit code */
export const hydraconf = (invocation: Invocation): Promise<number> =>
  runMain(
    {
      name: "hydraconf",
      about: ABOUT,
      base: invocation.cwd,
      configPath: "conf",
      configName: "config",
      whenBare: "show",
      settingsFiles: true,
      trustCommand: "hydraconf trust",
      choosesDialect: true,
      flags: [APP_FLAG],
      subcommands: [
        {
          name: "run",
          summary: "runs a program with the config of each job: [overrides] [-m] -- PROG ARG...",
          isProgram: true,
          programFlags: async () =>
            (await import("../../python/program-command-line.ts")).RUN_FLAGS,
          run: async (args, io) =>
            (await import("../../python/run-main.ts")).runCommandLine(args, io),
        },
        {
          name: "sweep",
          summary: "manages a sweep: status DIR, wait DIR, cancel DIR, collect DIR, best DIR",
          commandLine: async () => (await import("../../app/cli/sweep-line.ts")).SWEEP_LINE,
          run: async (args, io) =>
            (await import("../../app/cli/sweep-command.ts")).runSweepCommand(args, io),
        },
        {
          name: "open",
          summary: "shows the tree in a browser: options, origins of values, what overrides change",
          commandLine: async () => (await import("../../playground/open-command.ts")).OPEN_LINE,
          run: async (args, io) =>
            (await import("../../playground/open-command.ts")).runOpen(args, io),
        },
        {
          name: "python",
          summary: "python sync: reads what only Python registers, the ConfigStore of a project",
          run: async (args, io) =>
            (await import("../../python/store-export.ts")).runPython(args, io),
        },
        {
          name: "completion",
          summary: "code for a shell that completes python train.py: bash, zsh or fish",
          run: async (args, io) =>
            (await import("../../python/completion.ts")).runCompletionCode(args, io),
        },
        {
          name: "mcp",
          summary: "answers clients of the Model Context Protocol: compose, explain, groups",
          commandLine: async () =>
            (await import("../../app/command-line/mcp.ts")).mcpLine("hydraconf"),
          run: async (args, io) => {
            const { PROJECT_TOOLS, serveMcp } = await import("../../app/command-line/mcp.ts");
            return serveMcp("hydraconf", PROJECT_TOOLS, args, io);
          },
        },
        {
          name: "gc",
          summary:
            "lists old output directories of runs and sweeps below DIR; --delete removes them",
          commandLine: async () => (await import("../../app/cli/gc-command.ts")).GC_LINE,
          run: async (args, io) => (await import("../../app/cli/gc-command.ts")).runGc(args, io),
        },
        {
          name: "trust",
          summary: "lets a project run what its settings file names, such as plugins",
          commandLine: async () =>
            (await import("../../app/cli/trust-command.ts")).trustLine("hydraconf"),
          run: async (args, io) =>
            (await import("../../app/cli/trust-command.ts")).runTrust("hydraconf", args, io),
        },
        {
          name: "migrate",
          summary: "what a newer version of Hydra changes in this project, and edits that mend it",
          commandLine: async () =>
            (await import("../../language/migrate/migrate-command.ts")).MIGRATE_LINE,
          run: async (args, io) =>
            (await import("../../language/migrate/migrate-command.ts")).runMigrate(args, io),
        },
        {
          name: "schema",
          summary: "JSON Schemas of the files of a tree for editors, and TypeScript types",
          commandLine: async () =>
            (await import("../../app/cli/tree-schema/schema-command.ts")).COMMAND,
          run: async (args, io) =>
            (await import("../../app/cli/tree-schema/schema-command.ts")).runSchema(
              args,
              io,
              adapt,
            ),
        },
      ],
    },
    () => undefined,
    invocation,
    adapt,
  );

/** Programs are searched for only if there may be any, so that this code is not loaded for most config trees. */
async function adapt(call: AdaptableCall): Promise<Adaptation> {
  const { parsed, settings } = call;
  const isAsked = parsed.flags.has("app") || parsed.rest !== undefined;
  const isSettled =
    parsed.flags.has("config-path") &&
    Object.keys(settings).length === 0 &&
    !existsSync(".hydraconf");
  if (!isAsked && (isSettled || (Object.keys(settings).length === 0 && !hasSources()))) return {};
  return (await import("../../python/project.ts")).adaptToProject(call);
}

/** Whether the working directory or a directory below may contain a program. */
function hasSources(): boolean {
  const isTree = existsSync("conf");
  return readdirSync(".", { withFileTypes: true }).some((entry) =>
    entry.isDirectory()
      ? !(
          /^(\.|node_modules$|outputs$|multirun$)/.test(entry.name) ||
          (isTree && entry.name === "conf")
        )
      : /\.(py|[mc]?[jt]s)$/.test(entry.name),
  );
}
