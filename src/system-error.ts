/** What the system, or Node, says of what failed, by its code. */

/** `ENOENT` and the like; undefined for what has none. */
export const errorCode = (error: unknown): string | undefined =>
  error instanceof Error && "code" in error && typeof error.code === "string"
    ? error.code
    : undefined;

/** Whether a call of the system failed, and no rule of ours or of Node's. */
export const isSystemError = (error: unknown): error is NodeJS.ErrnoException =>
  errorCode(error) !== undefined && error instanceof Error && "syscall" in error;
