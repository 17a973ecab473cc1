import { alternativesTo, ConfigError } from "../../values/errors.ts";
import {
  configured,
  type Handler,
  type Locate,
  namesOf,
  requireLevel,
  type Section,
  section,
} from "./log-config.ts";
import { freshLogger, type LoggerState, type LoggerTree, stateOf } from "./logger-tree.ts";

/**
 * Sets loggers up as Python's `dictConfig` does. The handlers that they had are closed by then.
 *
 * @param open opens the handler that the config has under a name
 * @throws ConfigError `app.unsupported`
 */
export function configureLoggers(
  tree: LoggerTree,
  config: Section,
  open: (name: string) => Handler,
  locate: Locate,
): void {
  const named = section(config["loggers"]);
  putAside(tree, named, config["disable_existing_loggers"] !== false);
  const names = Object.keys(section(config["handlers"]));
  const handlers = new Map(names.map((name) => [name, open(name)]));
  for (const [name, value] of Object.entries(named)) {
    const settings = section(value);
    const state = stateOf(tree, name);
    configured(`logger '${name}'`, ["loggers", name], locate, () =>
      setUp(state, settings, handlers),
    );
    // Where the config does not say it, it stays as it was.
    if (typeof settings["propagate"] === "boolean") state.propagate = settings["propagate"];
    state.disabled = false;
  }
  configured("root logger", ["root"], locate, () =>
    setUp(tree.root, section(config["root"]), handlers),
  );
}

/** What becomes of the loggers that there are and that the config does not name. */
function putAside({ loggers }: LoggerTree, named: Section, disabled: boolean): void {
  for (const [name, state] of loggers) {
    if (name === "" || Object.hasOwn(named, name)) continue;
    // What is below a logger that the config names goes with it.
    if (Object.keys(named).some((above) => name.startsWith(`${above}.`)))
      Object.assign(state, freshLogger(), { disabled: state.disabled });
    else state.disabled = disabled;
  }
}

function setUp(
  state: LoggerState,
  settings: Section,
  handlers: ReadonlyMap<string, Handler>,
): void {
  const { level } = settings;
  if (level !== undefined && level !== null) state.level = requireLevel(level);
  state.handlers = [...new Set(namesOf(settings["handlers"]))].map((name) => {
    const handler = handlers.get(name);
    if (handler !== undefined) return handler;
    throw new ConfigError({
      code: "app.unsupported",
      message: `there is no handler '${name}'`,
      key: "handlers",
      ...alternativesTo(name, [...handlers.keys()]),
    });
  });
}
