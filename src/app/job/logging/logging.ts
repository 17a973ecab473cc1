/** The logging of one program run, configured by `hydra.job_logging` and `hydra.hydra_logging`. */
import { alternativesTo, ConfigError } from "../../../engine/values/errors.ts";
import { byCodePoint } from "../../../foundation/text/code-points.ts";
import type { Console } from "../process/invocation.ts";
import {
  configured,
  filtersOf,
  type Handler,
  type Locate,
  openHandler,
  partsOf,
  refuseMalformed,
  rememberFormatters,
  requireLevel,
  requireNames,
  requireSection,
} from "./log-config.ts";
import {
  createLoggerTree,
  freshLogger,
  type Logger,
  type LoggerState,
  type LoggerTree,
  openLogger,
  stateOf,
  writeOrTell,
} from "./logger.ts";
import { LEVELS, type LogRecord } from "./record.ts";
import { isTruthy, namesOf, type Section, section } from "./section.ts";

/**
 * The logging of one program run, as Python's `logging` is that of a process: loggers whose names form a tree, and
 * handlers that a config attaches to them.
 */
export interface Logging {
  logger(name: string): Logger;
  /**
   * Applies `hydra.job_logging` or `hydra.hydra_logging` as Hydra does: closes all handlers and attaches those of the
   * config (the dictionary schema of Python's logging.config, resolved), unless its `root` is null, which leaves
   * everything unchanged. Then `hydra.verbose` (true, a name or names of loggers) lowers levels to DEBUG.
   *
   * @param cwd directory that relative file names start from
   * @param locate gives errors their key and origin; by default the key in the log config
   * @throws ConfigError `app.unsupported` for handlers and formats that only Python has, and `value.wrong_type` for any
   * other `hydra.verbose`
   */
  configure(config: unknown, verbose: unknown, cwd: string, locate?: Locate): void;
  /** Writes a record of an error only to the files of the root logger, whatever the levels of loggers are. */
  errorToFiles(logger: string, message: string, error: unknown): void;
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
    const open = (name: string, settings: unknown): Handler => {
      const handler = openHandler(name, settings, config, { console, cwd, formatterFor, locate });
      handlers = [...handlers, handler];
      return handler;
    };
    configureLoggers(tree, config, open, locate);
  };

  return {
    logger: (name) => openLogger(tree, name, { console, now }),
    configure(value, verbose, cwd, locate = (path) => ({ key: path.join(".") })) {
      requireVerbose(verbose);
      const config = section(value);
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
    errorToFiles(logger, message, error) {
      const level = LEVELS.ERROR;
      const record: LogRecord = { logger, levelName: "ERROR", level, message, time: now(), error };
      for (const handler of tree.root.handlers)
        if (handler.isFile && level >= handler.level && handler.accepts(logger))
          writeOrTell(record, () => handler.sink.write(handler.format(record)), console);
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

/**
 * Configures loggers as Python's `dictConfig` does. Their earlier handlers must be closed already.
 *
 * @param open opens the handler that the config has under a name
 * @throws ConfigError `app.unsupported`
 */
function configureLoggers(
  tree: LoggerTree,
  config: Section,
  open: (name: string, settings: unknown) => Handler,
  locate: Locate,
): void {
  // In the order of their names: an error keeps those after it from making their files.
  const described = Object.entries(partsOf(config, "handlers", locate));
  const handlers = new Map(
    described
      .sort(([left], [right]) => byCodePoint(left, right))
      .map(([name, settings]) => [name, open(name, settings)]),
  );
  const named = partsOf(config, "loggers", locate);
  const { disable_existing_loggers: disables = true, root } = config;
  putAside(tree, named, isTruthy(disables));
  for (const [name, value] of Object.entries(named)) {
    const state = stateOf(tree, name);
    configured(`logger '${name}'`, ["loggers", name], locate, () => {
      const settings = requireSection(value);
      setUp(state, settings, config, handlers);
      // Unless the config sets it, it stays unchanged.
      const { propagate } = settings;
      if (propagate !== undefined && propagate !== null) state.propagate = isTruthy(propagate);
    });
    state.disabled = false;
  }
  // One that says nothing leaves it as it is.
  if (!isTruthy(root)) return;
  configured("root logger", ["root"], locate, () =>
    setUp(tree.root, requireSection(root), config, handlers),
  );
}

/** Resets or disables existing loggers that the config does not name. */
function putAside({ loggers }: LoggerTree, named: Section, disabled: boolean): void {
  for (const [name, state] of loggers) {
    if (name === "" || Object.hasOwn(named, name)) continue;
    // Descendants of a logger that the config names are reset, not disabled.
    if (Object.keys(named).some((above) => name.startsWith(`${above}.`)))
      Object.assign(state, freshLogger(), { disabled: state.disabled, filters: state.filters });
    else state.disabled = disabled;
  }
}

function setUp(
  state: LoggerState,
  settings: Section,
  config: Section,
  handlers: ReadonlyMap<string, Handler>,
): void {
  const { level } = settings;
  if (level !== undefined && level !== null) state.level = requireLevel(level);
  state.handlers = [...new Set(requireNames(settings, "handlers"))].map((name) => {
    const handler = handlers.get(name);
    if (handler !== undefined) return handler;
    throw new ConfigError({
      code: "app.unsupported",
      message: `there is no handler '${name}'`,
      key: "handlers",
      ...alternativesTo(name, [...handlers.keys()]),
    });
  });
  // Python keeps those of the configs before; each job of a sweep brings its own again.
  state.filters = [...new Set([...state.filters, ...filtersOf(settings, config)])];
}
