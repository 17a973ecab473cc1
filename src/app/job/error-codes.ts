/** The codes of errors of programs with a config tree, their jobs and sweeps, with what each means. */
export const APP_ERRORS = {
  "app.flags": "flags that cannot be combined, or have a wrong value",
  "app.help_template": "the help template of the config is malformed",
  "app.objective": "a job gave a sweeper no number to optimize",
  "app.job": "a program could not be started as a job",
  "app.interrupted": "a signal ended the command",
  "app.sweep_record": "a directory has no sweep, or one for which this cannot be done now",
  "app.sweep_changed": "what a sweep was begun with has changed",
  "app.sweep_damaged": "the record of a sweep is damaged",
  "app.launcher": "a launcher or sweeper has a wrong setting, or cannot run",
  "plugin.invalid": "a plugin is malformed",
  "plugin.settings": "a settings file is malformed",
  "plugin.untrusted": "a settings file names code that the user has not trusted",
} as const;

/** A code of an error of programs with a config tree, their jobs and sweeps. */
export type AppErrorCode = keyof typeof APP_ERRORS;

declare module "../../engine/values/error-details.js" {
  interface ErrorCodes {
    readonly app: AppErrorCode;
  }
}
