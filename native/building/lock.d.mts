/** Waits for the lock file, calls `action`, and removes the file; `onWait` is told once where another process holds it, `signal` ends the waiting. */
export function withLock<T>(
  path: string,
  onWait: () => void,
  action: () => T | Promise<T>,
  signal?: AbortSignal,
): Promise<T>;
