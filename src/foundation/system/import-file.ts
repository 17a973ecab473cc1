/** What helps if this process cannot import modules at all, as in Jest; undefined for errors of the module. */
export const importRemedy = (error: unknown): string | undefined =>
  typeof error === "object" &&
  error !== null &&
  "code" in error &&
  error.code === "ERR_VM_DYNAMIC_IMPORT_CALLBACK_MISSING_FLAG"
    ? "Jest imports modules only with NODE_OPTIONS=--experimental-vm-modules"
    : undefined;

/**
 * Imports a module outside of every bundle, by its URL. This is the only place that does so: code from V8's code cache cannot
 * use `import()`, so the commands' bundles get this function from their launcher instead.
 */
export const importFile = (url: string): Promise<unknown> =>
  import(/* webpackIgnore: true */ /* @vite-ignore */ url);
