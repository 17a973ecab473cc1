/**
 * Imports a module outside of every bundle, by its URL. This is the only place that does so: code from V8's code cache cannot
 * use `import()`, so the commands' bundles get this function from their launcher instead.
 */
export const importFile = (url: string): Promise<unknown> =>
  import(/* webpackIgnore: true */ /* @vite-ignore */ url);
