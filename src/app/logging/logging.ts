import { ConfigError } from "../../values/errors.ts";
import type { Console } from "../process/console.ts";
import { configureLoggers } from "./configure-loggers.ts";
import { LEVELS } from "./levels.ts";
import {
  type Handler,
  type Locate,
  namesOf,
  openHandler,
  refuseMalformed,
  rememberFormatters,
  type Section,
  section,
} from "./log-config.ts";
import { type Logger, openLogger } from "./logger.ts";
import { createLoggerTree, stateOf } from "./logger-tree.ts";

/**
 * The logging of one run of a program, as Python's `logging` is that of a process: loggers whose
 * names form a tree, and handlers that a config attaches to them.
 */
export interface Logging {
  logger(name: string): Logger;
  /**
   * What Hydra does with `hydra.job_logging` and `hydra.hydra_logging`: closes all handlers and
   * attaches those of the config (the dictionary schema of Python's logging.config, resolved),
   * unless its `root` is null, which leaves everything as it was. Then `hydra.verbose` (true, a name
   * or names of loggers) lowers levels to DEBUG.
   *
   * @param cwd where relative file names start
   * @param locate where errors say that something is; by default its key in the log config
   * @throws ConfigError `app.unsupported` for handlers and formats that only Python has, and
   * `value.wrong_type` for any other `hydra.verbose`
   */
  configure(config: unknown, verbose: unknown, cwd: string, locate?: Locate): void;
  /** Closes log files; records that come later are lost. */
  close(): void;
}

export interface LoggingRequest {
  readonly console: Console;
  readonly now?: () => Date;
}

export function createLogging({ console, now = () => new Date() }: LoggingRequest): Logging {
  const tree = createLoggerTree();
  const formatterFor = rememberFormatters();
  let handlers: readonly Handler[] = [];

  const close = (): void => {
    for (const { sink } of handlers) sink.close();
    handlers = [];
  };
  const attach = (config: Section, cwd: string, locate: Locate): void => {
    refuseMalformed(config, { formatterFor, locate });
    close();
    const open = (name: string): Handler => {
      const handler = openHandler(name, config, { console, cwd, formatterFor, locate });
      handlers = [...handlers, handler];
      return handler;
    };
    configureLoggers(tree, config, open, locate);
  };

  return {
    logger: (name) => openLogger(tree, name, { console, now }),
    configure(given, verbose, cwd, locate = (path) => ({ key: path.join(".") })) {
      requireVerbose(verbose);
      const config = section(given);
      if (!Object.hasOwn(config, "root"))
        throw new ConfigError({
          code: "app.unsupported",
          message: "A log config needs a 'root'; set it to null to leave logging as it is",
          ...locate([]),
        });
      if (config["root"] !== null) attach(config, cwd, locate);
      if (verbose === true) tree.root.level = LEVELS.DEBUG;
      for (const name of namesOf(verbose)) stateOf(tree, name).level = LEVELS.DEBUG;
    },
    close,
  };
}

function requireVerbose(value: unknown): void {
  if (typeof value === "boolean" || typeof value === "string") return;
  if (Array.isArray(value) && value.every((name) => typeof name === "string")) return;
  throw new ConfigError({
    code: "value.wrong_type",
    message: "hydra.verbose must be true, false, or the name or names of loggers",
    key: "hydra.verbose",
  });
}
