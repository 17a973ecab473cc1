/** The plugin `hydra-colorlog`: coloured log lines. */
import type { ConfigPlugin } from "../../engine/compose/config-plugin.ts";

const JOB_LOGGING = `# @package hydra.job_logging
version: 1
formatters:
  simple:
    format: '[%(asctime)s][%(name)s][%(levelname)s] - %(message)s'
  colorlog:
    '()': colorlog.ColoredFormatter
    format: '[%(cyan)s%(asctime)s%(reset)s][%(blue)s%(name)s%(reset)s][%(log_color)s%(levelname)s%(reset)s] - %(message)s'
    log_colors:
      DEBUG: purple
      INFO: green
      WARNING: yellow
      ERROR: red
      CRITICAL: red
handlers:
  console:
    class: logging.StreamHandler
    formatter: colorlog
    stream: ext://sys.stdout
  file:
    class: logging.FileHandler
    formatter: simple
    filename: \${hydra.job.name}.log
root:
  level: INFO
  handlers: [console, file]
disable_existing_loggers: false
`;

/** From Hydra 1.4 on, the log is in the run directory, whatever directory the job works in. */
const NEWER_JOB_LOGGING = JOB_LOGGING.replace(
  "filename: ",
  "filename: ${hydra.runtime.output_dir}/",
);

const HYDRA_LOGGING = `# @package hydra.hydra_logging
version: 1
formatters:
  colorlog:
    '()': colorlog.ColoredFormatter
    format: '[%(cyan)s%(asctime)s%(reset)s][%(purple)sHYDRA%(reset)s] %(message)s'
handlers:
  console:
    class: logging.StreamHandler
    formatter: colorlog
    stream: ext://sys.stdout
root:
  level: INFO
  handlers: [console]
disable_existing_loggers: false
`;

const PLACE = { provider: "hydra-colorlog", path: "hydra_plugins.hydra_colorlog.conf" };

/**
 * Coloured log lines. Before Hydra 1.4 its file handler writes to the working directory rather than the run directory;
 * in Hydra 1.1 these were the same.
 */
export const colorlog: ConfigPlugin = {
  name: "colorlog",
  files: {
    ...PLACE,
    texts: {
      "hydra/hydra_logging/colorlog": HYDRA_LOGGING,
      "hydra/job_logging/colorlog": JOB_LOGGING,
    },
  },
  newer: { files: { ...PLACE, texts: { "hydra/job_logging/colorlog": NEWER_JOB_LOGGING } } },
};
