/** The signals that ask a command to stop: Ctrl-C, Ctrl-\\, `kill`, and a terminal or connection that closes. */
export const INTERRUPTS: readonly NodeJS.Signals[] = ["SIGINT", "SIGQUIT", "SIGTERM", "SIGHUP"];
