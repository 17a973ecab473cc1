import { hydraMain } from "../cli/hydra-main.ts";
import { ownDirectory } from "../job/process/invocation.ts";

const ABOUT = `hydraconf composes any Hydra configuration tree and prints it. It runs and writes nothing.

  hydraconf                                 the tree in conf/, primary config 'config'
  hydraconf -cp DIR -cn NAME db=mysql       another tree, with overrides
  hydraconf --resolve db=mysql              resolved interpolations
  hydraconf --explain db.port               which file or override set a value
  hydraconf --diff db=mysql                 what an override changes
  hydraconf -m db=mysql,pg                  the config of every job of a sweep
  hydraconf --help db.port                  what a key or a group is
  hydraconf schema --types                  TypeScript types of the tree; also schemas for editors
  hydraconf sweep status DIR                the state of a sweep; also wait, cancel and collect

schema and sweep have their own --help.`;

void hydraMain(
  {
    name: "hydraconf",
    about: ABOUT,
    base: ownDirectory(),
    configPath: "conf",
    configName: "config",
    whenBare: "show",
    settingsFiles: true,
    choosesDialect: true,
    subcommands: [
      {
        name: "sweep",
        summary: "manages a sweep: status DIR, wait DIR, cancel DIR, collect DIR",
        commandLine: async () => (await import("../cli/sweep-line.ts")).SWEEP_LINE,
        run: async (args, io) =>
          (await import("../cli/sweep-command.ts")).runSweepCommand(args, io),
      },
      {
        name: "schema",
        summary: "JSON Schemas of the files of a tree for editors, and TypeScript types",
        commandLine: async () => (await import("../cli/tree-schema/schema-command.ts")).COMMAND,
        run: async (args, io) =>
          (await import("../cli/tree-schema/schema-command.ts")).runSchema(args, io),
      },
    ],
  },
  () => undefined,
).then((code) => {
  process.exitCode = code;
});
