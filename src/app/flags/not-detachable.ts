import { ConfigError } from "../../values/errors.ts";

/** `--detach` where there is no sweep to leave: a wrong command line. */
export const notDetachable = (message: string): ConfigError =>
  new ConfigError({
    code: "app.usage",
    message: `argument --detach: ${message}`,
    hint: "use it with --multirun, --resume DIR or --retry-failed DIR; for a single run, use tmux, or 'setsid COMMAND >run.log 2>&1 &' (nohup does not keep Node.js from ending)",
  });
