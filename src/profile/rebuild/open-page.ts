/** Shows a file in the user's browser. */
import { setTimeout } from "node:timers/promises";
import { execa } from "execa";

export interface Desktop {
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The program that opens files on a desktop, never a shell; null where there is nobody to see it. */
export function openCommand(file: string, { platform, env }: Desktop): readonly string[] | null {
  if ((env["CI"] ?? "") !== "") return null;
  if (platform === "darwin") return ["open", file];
  if (platform === "win32") return ["explorer.exe", file];
  // Without a display xdg-open takes a browser in the terminal, or fails.
  const hasDisplay = [env["DISPLAY"], env["WAYLAND_DISPLAY"], env["WSL_DISTRO_NAME"]].some(
    (value) => (value ?? "") !== "",
  );
  return hasDisplay ? ["xdg-open", file] : null;
}

/** How long a program may take to say that it cannot open the file. */
const WAIT_MS = 5_000;

/**
 * Opens it, without waiting for the browser to end.
 *
 * @returns null, or why it was not opened, in words
 */
export async function openPage(
  file: string,
  desktop: Desktop,
  waitMs = WAIT_MS,
): Promise<string | null> {
  const command = openCommand(file, desktop);
  if (command === null)
    return (desktop.env["CI"] ?? "") === "" ? "there is no display" : "CI is set";
  const [program = "", ...args] = command;
  const child = execa(program, args, {
    env: { ...desktop.env },
    extendEnv: false,
    stdio: "ignore",
    detached: true,
    reject: false,
    cleanup: false,
  });
  child.unref();
  const patience = new AbortController();
  // The browser may be this very program, which is not kept waiting for. Until then only the timer
  // keeps this process from ending before it knows.
  const ended = await Promise.race([
    child,
    setTimeout(waitMs, null, { signal: patience.signal }).catch(() => null),
  ]);
  patience.abort();
  // explorer.exe ends with 1 also where all is well.
  if (ended === null || ended.exitCode === 0 || desktop.platform === "win32") return null;
  return ended.exitCode === undefined
    ? `${program} could not be started`
    : `${program} ended with exit code ${ended.exitCode}`;
}
