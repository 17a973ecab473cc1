/**
 * How `--detach` tells a program that it is started to carry a sweep on without anybody waiting for it: this
 * variable, and a channel on which it says that it does.
 */
export const DRIVER_VARIABLE = "HYDRACONF_DRIVER";

/** What the program says once it drives the sweep. */
export const DRIVES = "drives";

/**
 * Reads the mark and takes it out of the environment: programs that a job starts drive nothing.
 *
 * @returns what says that this process drives the sweep now; undefined where nobody asked
 */
export function takeDriverMark(env: Record<string, string | undefined>): (() => void) | undefined {
  if (env[DRIVER_VARIABLE] === undefined) return undefined;
  delete env[DRIVER_VARIABLE];
  return () => {
    if (!process.connected) return;
    // Who asked may be gone: then nobody needs to know.
    process.send?.(DRIVES, () => process.disconnect());
  };
}
