/** Errors of the operating system and of Node, told apart by their codes. */

/** `ENOENT` and the like; undefined for an error without a code. */
export const errorCode = (error: unknown): string | undefined =>
  error instanceof Error && "code" in error && typeof error.code === "string"
    ? error.code
    : undefined;

/** Whether a system call failed, as opposed to a check of ours or of Node's. */
export const isSystemError = (error: unknown): error is NodeJS.ErrnoException =>
  errorCode(error) !== undefined && error instanceof Error && "syscall" in error;
