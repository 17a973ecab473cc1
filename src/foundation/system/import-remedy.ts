/** What helps if this process cannot import modules at all, as in Jest; undefined for errors of the module. */
export const importRemedy = (error: unknown): string | undefined =>
  typeof error === "object" &&
  error !== null &&
  "code" in error &&
  error.code === "ERR_VM_DYNAMIC_IMPORT_CALLBACK_MISSING_FLAG"
    ? "Jest imports modules only with NODE_OPTIONS=--experimental-vm-modules"
    : undefined;
