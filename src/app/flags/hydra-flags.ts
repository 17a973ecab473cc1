import type { Flag } from "./flag.ts";

/** Hydra's own flags, in the order of its usage text, with its meanings. */
export const HYDRA_FLAGS: readonly Flag[] = [
  {
    id: "help",
    names: ["--help", "-h"],
    takes: "nothing",
    help: "Show the application's help; with KEYs, explain them",
  },
  {
    id: "hydra-help",
    names: ["--hydra-help"],
    takes: "nothing",
    help: "Show the help of Hydra's flags",
  },
  {
    id: "version",
    names: ["--version"],
    takes: "nothing",
    final: true,
    help: "Show the version and the Hydra dialect, and exit",
  },
  {
    id: "cfg",
    names: ["--cfg", "-c"],
    takes: "value",
    choices: ["job", "hydra", "all"],
    help: "Show a configuration instead of running",
  },
  {
    id: "resolve",
    names: ["--resolve"],
    takes: "nothing",
    help: "With --cfg: resolve interpolations before printing",
  },
  {
    id: "package",
    names: ["--package", "-p"],
    takes: "value",
    completes: "key",
    help: "With --cfg: the part to show",
  },
  { id: "run", names: ["--run", "-r"], takes: "nothing", help: "Run one job (the default)" },
  {
    id: "multirun",
    names: ["--multirun", "-m"],
    takes: "nothing",
    help: "Run several jobs: a sweep",
  },
  {
    id: "shell-completion",
    names: ["--shell-completion", "-sc"],
    takes: "nothing",
    help: "Install or uninstall shell completion: install=SHELL, uninstall=SHELL, for bash, zsh or fish",
  },
  {
    id: "config-path",
    names: ["--config-path", "-cp"],
    takes: "value",
    completes: "directory",
    help: "Replace the application's configuration directory; relative to the application",
  },
  {
    id: "config-name",
    names: ["--config-name", "-cn"],
    takes: "value",
    completes: "config",
    help: "Replace the name of the primary config",
  },
  {
    id: "config-dir",
    names: ["--config-dir", "-cd"],
    takes: "value",
    completes: "directory",
    help: "Add a directory to the end of the config search path",
  },
  {
    id: "experimental-rerun",
    names: ["--experimental-rerun"],
    takes: "value",
    help: "Rerun a job from a pickled config",
    refusal: "only Python can read a pickled config: rerun with the overrides in overrides.yaml",
  },
  {
    id: "info",
    names: ["--info", "-i"],
    takes: "optional-value",
    valueIfBare: "all",
    choices: ["all", "config", "defaults", "defaults-tree", "plugins", "searchpath"],
    help: "Show how the configuration is composed",
  },
];

/** Flags of ours beside Hydra's, which every program has. */
export const OWN_FLAGS: readonly Flag[] = [
  {
    id: "explain",
    names: ["--explain"],
    takes: "value",
    completes: "key",
    help: "Show which file or override set a key, and what it replaced",
  },
  {
    id: "origins",
    names: ["--origins"],
    takes: "nothing",
    help: "With --cfg: name the file or override behind every line, as a comment",
  },
  {
    id: "diff",
    names: ["--diff"],
    takes: "overrides",
    help: "Show what MORE overrides change; with two run directories, how their configs differ",
  },
  {
    id: "dry-run",
    names: ["--dry-run"],
    takes: "nothing",
    help: "Show the jobs that would run, their directories and configs; write nothing",
  },
  {
    id: "resume",
    names: ["--resume"],
    takes: "value",
    completes: "directory",
    help: "Continue a sweep: run the jobs that have not finished",
  },
  {
    id: "retry-failed",
    names: ["--retry-failed"],
    takes: "value",
    completes: "directory",
    help: "Run the failed jobs of a sweep again",
  },
  {
    id: "accept-changes",
    names: ["--accept-changes"],
    takes: "nothing",
    help: "With --resume or --retry-failed: also run jobs whose config has changed",
  },
  {
    id: "detach",
    names: ["--detach"],
    takes: "nothing",
    help: "With --multirun or --resume: start the sweep and exit; manage it with 'hydraconf sweep'",
  },
  {
    id: "schema",
    names: ["--schema"],
    takes: "nothing",
    help: "Show the JSON Schema that the configuration must fit",
  },
  {
    id: "json",
    names: ["--json"],
    takes: "nothing",
    help: "With --cfg, --explain, --diff or --dry-run: print JSON",
  },
];
