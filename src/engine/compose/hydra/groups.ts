/** Hydra's own config groups, `pkg://hydra.conf`, as a source of configs. */

import { once } from "../../../foundation/system/get-or-create.ts";
import type { Dialect } from "../../values/dialect.ts";
import type { ConfigSource } from "../sources/config-source.ts";
import { memorySource, type StoreEntry } from "../sources/memory-source.ts";
import { memoizedSource } from "../sources/repository.ts";

/*
 * Hydra's own config groups, as `pkg://hydra.conf` holds them. The texts must come out of a
 * composition byte for byte, since `--cfg hydra` and `.hydra/hydra.yaml` print them.
 */

const OUTPUT = `# @package hydra
run:
  dir: outputs/\${now:%Y-%m-%d}/\${now:%H-%M-%S}
sweep:
  dir: multirun/\${now:%Y-%m-%d}/\${now:%H-%M-%S}
  subdir: \${hydra.job.num}
`;

const HELP = `app_name: \${hydra.job.name}
header: |
  \${hydra.help.app_name} is powered by Hydra.
footer: |
  Powered by Hydra (https://hydra.cc)
  Use --hydra-help to view Hydra specific help
template: |
  \${hydra.help.header}
  == Configuration groups ==
  Compose your configuration from those groups (group=option)

  $APP_CONFIG_GROUPS

  == Config ==
  Override anything in the config (foo.bar=value)

  $CONFIG

  \${hydra.help.footer}
`;

/** The table of aliases ends with its own blank line, and is empty where there are none. */
const HELP_WITH_ALIASES = HELP.replace("== Config ==", "$OVERRIDE_ALIASES== Config ==");

const HYDRA_HELP = `template: |
  Hydra (\${hydra.runtime.version})
  See https://hydra.cc for more info.

  == Flags ==
  $FLAGS_HELP

  == Configuration groups ==
  Compose your configuration from those groups (For example, append hydra/job_logging=disabled to command line)

  $HYDRA_CONFIG_GROUPS

  Use '--cfg hydra' to Show the Hydra config.
`;

const HYDRA_LOGGING = `version: 1
formatters:
  simple:
    format: '[%(asctime)s][HYDRA] %(message)s'
handlers:
  console:
    class: logging.StreamHandler
    formatter: simple
    stream: ext://sys.stdout
root:
  level: INFO
  handlers: [console]
loggers:
  logging_example:
    level: DEBUG
disable_existing_loggers: false
`;

const HYDRA_LOGGING_DEBUG = `version: 1
formatters:
  simple:
    format: '[%(asctime)s][%(name)s][%(levelname)s] - %(message)s'
handlers:
  file:
    class: logging.FileHandler
    mode: w
    formatter: simple
    filename: hydra-\${hydra.job.name}.log
    delay: true
root:
  level: ERROR
  handlers: [file]
loggers:
  hydra:
    level: DEBUG
disable_existing_loggers: false
`;

const JOB_LOGGING = `version: 1
formatters:
  simple:
    format: '[%(asctime)s][%(name)s][%(levelname)s] - %(message)s'
handlers:
  console:
    class: logging.StreamHandler
    formatter: simple
    stream: ext://sys.stdout
  file:
    class: logging.FileHandler
    formatter: simple
    filename: \${hydra.runtime.output_dir}/\${hydra.job.name}.log
root:
  level: INFO
  handlers: [console, file]
disable_existing_loggers: false
`;

const JOB_LOGGING_STDOUT = `version: 1
formatters:
  simple:
    format: '%(message)s'
handlers:
  console:
    class: logging.StreamHandler
    formatter: simple
    stream: ext://sys.stdout
root:
  level: INFO
  handlers: [console]
disable_existing_loggers: false
`;

const LOGGING_DISABLED = `version: 1
root:
  level: ERROR
disable_existing_loggers: true
`;

const LOGGING_NONE = `version: 1
root: null
disable_existing_loggers: false
`;

const TEXTS: Readonly<Record<string, string>> = {
  "hydra/env/default": "",
  "hydra/help/default": HELP,
  "hydra/hydra_help/default": HYDRA_HELP,
  "hydra/hydra_logging/default": HYDRA_LOGGING,
  "hydra/hydra_logging/disabled": LOGGING_DISABLED,
  "hydra/hydra_logging/hydra_debug": HYDRA_LOGGING_DEBUG,
  "hydra/hydra_logging/none": LOGGING_NONE,
  "hydra/job_logging/default": JOB_LOGGING,
  "hydra/job_logging/disabled": LOGGING_DISABLED,
  "hydra/job_logging/none": LOGGING_NONE,
  "hydra/job_logging/stdout": JOB_LOGGING_STDOUT,
  "hydra/output/default": OUTPUT,
};

// These texts never change, so all engines share what is parsed of them.
const sourceOf = (texts: typeof TEXTS): (() => ConfigSource) =>
  once(() =>
    memoizedSource(
      memorySource(
        { scheme: "pkg", path: "hydra.conf", provider: "hydra" },
        new Map(
          Object.entries(texts).map(([path, text]): [string, StoreEntry] => [path, { text }]),
        ),
      ),
    ),
  );

const source = sourceOf(TEXTS);
const sourceWithAliases = sourceOf({ ...TEXTS, "hydra/help/default": HELP_WITH_ALIASES });

/** The first source of every search path. */
export const hydraGroups = ({ hasAliases }: Dialect): ConfigSource =>
  hasAliases ? sourceWithAliases() : source();
