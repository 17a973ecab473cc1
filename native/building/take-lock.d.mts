export function ownFile(path: string, content: string): string;

export interface LockFiles {
  link(existing: string, path: string): Promise<void>;
  readFile(path: string, encoding: "utf8"): Promise<string>;
  rename(from: string, to: string): Promise<void>;
  rm(path: string, options: { readonly force: true }): Promise<void>;
}

export function tryToTake(
  path: string,
  content: string,
  isDead: (file: string, text: string) => Promise<boolean>,
  files?: LockFiles,
): Promise<{ readonly isHeld: boolean; readonly rival: string | null }>;
