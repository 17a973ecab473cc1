import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * A compiler that never ends by itself and does not listen to SIGTERM. What it compiles is there by half when its process id is
 * in `pidFile`. Whoever asks what it is gets the real one's answer.
 */
export function writeSlowCompiler(folder: string, pidFile: string): string {
  const path = join(folder, "slow-c++");
  const script = `#!/bin/sh
case "$*" in *native/*.cc*) ;; *) exec c++ "$@" ;; esac
while [ "$1" != -o ]; do shift; done
trap '' TERM
echo half > "$2"
echo $$ > '${pidFile}'
exec sleep 600
`;
  writeFileSync(path, script);
  chmodSync(path, 0o755);
  return path;
}
