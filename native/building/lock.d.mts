/** Waits for the lock file, calls `action`, and removes the file; `onWait` is told once where another process holds it. */
export function withLock<T>(
  path: string,
  onWait: () => void,
  action: () => T | Promise<T>,
): Promise<T>;
