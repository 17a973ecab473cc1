export interface LockOptions {
  /** Ends the waiting. */
  readonly signal?: AbortSignal;
  /** How many looks, a fifth of a second apart, must find no sign of a holder on another machine for it to be dead; default two minutes of them. */
  readonly silentLooks?: number;
}

/**
 * Waits for the lock file, calls `action`, and removes the file. `onWait` is told once where another process holds it: its machine,
 * null for this one.
 */
export function withLock<T>(
  path: string,
  onWait: (host: string | null) => void,
  action: () => T | Promise<T>,
  options?: LockOptions,
): Promise<T>;
