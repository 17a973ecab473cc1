/**
 * Imports a module that belongs to no bundle, by its URL. The one place where that is done: code from V8's cache has no
 * `import()`, so that the bundles of the commands take this function from their launcher instead.
 */
export const importFile = (url: string): Promise<unknown> => import(url);
