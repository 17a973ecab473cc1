import { writeFileAtomic } from "../../system/atomic-write.ts";
import { shellCommand } from "../../text/shell-words.ts";

/** `cmd.txt` of a collector: every command that it ran, to be run again from a shell. */
export interface CommandFile {
  /** Resolves once the command is on file: before it runs. */
  add(argv: readonly string[], env?: Readonly<Record<string, string>>): Promise<void>;
}

export function createCommandFile(file: string): CommandFile {
  const lines: string[] = [];
  return {
    async add(argv, env) {
      lines.push(shellCommand(argv, env));
      await writeFileAtomic(file, `${lines.join("\n")}\n`);
    },
  };
}
