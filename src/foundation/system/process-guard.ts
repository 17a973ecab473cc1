import { spawn } from "node:child_process";

/** Kills a process, or a process group, when this process is gone without having released it. */
export interface ProcessGuard {
  /**
   * @param target a process, which is killed alone; or, negative, the leader of a process group, which is killed with the groups of
   * the leader's descendants
   */
  watch(target: number): void;
  /** What is watched may live on. */
  release(): void;
}

/** A program that is to be started as the leader of a session. */
interface ExpectedProgram {
  readonly argv: readonly string[];
  readonly cwd: string;
}

/**
 * `fields` reads `/proc/PID/stat` (proc(5)): the name in it may contain anything, but ends with the last parenthesis.
 *
 * `groups_below` goes along the kernel's lists of children. Without such lists nothing is found.
 *
 * `find_program` looks for a program that has been started, but was not named before this process was killed. It is what
 * nothing else is: a child of the process that has got the shell, too, leader of a session, younger than the shell, in its
 * directory, with its arguments. If it is not that yet, it will be soon.
 */
const SCRIPT = `
fields() {
  read -r line <"/proc/$1/stat" || return
  set -- \${line##*) }
  parent=$2 group=$3 session=$4 start=\${20}
}
groups_below() {
  for list in /proc/$1/task/*/children; do
    children=
    read -r children <"$list"
    for child in $children; do
      fields "$child" || continue
      groups="$groups -$group"
      groups_below "$child"
    done
  done
}
find_program() {
  for round in 1 2 3 4 5 6 7 8 9 10; do
    fields $$ || return
    adopter=$parent oldest=$start
    for place in /proc/[0-9]*; do
      pid=\${place#/proc/}
      fields "$pid" || continue
      [ "$parent $group $session" = "$adopter $pid $pid" ] || continue
      [ "$start" -ge "$oldest" ] && [ "$place/cwd" -ef "$cwd" ] || continue
      words=
      IFS= read -r words <"$place/cmdline"
      case $words in *"$arguments") target=-$pid; return ;; esac
    done
    sleep 0.1
  done
}
cwd=$1 arguments=$2 target= groups=
read -r target
read -r end
[ -n "$target" ] || [ -z "$cwd" ] || find_program
case $target in -*) groups_below "\${target#-}" ;; esac
for one in $target $groups; do kill -9 "$one"; done
`;

/**
 * Starts a guard: a shell that waits for the end of a pipe that nobody but this process can write to. So it also learns of a
 * SIGKILL, which leaves this process no time for anything. To be opened before what it is to watch is started.
 *
 * @param expected what is to be watched as a group, also if this process is killed between its start and `watch`
 */
export function openGuard(expected?: ExpectedProgram): ProcessGuard {
  const shell = spawn("/bin/sh", ["-c", SCRIPT, "sh", ...shownAs(expected)], {
    cwd: "/",
    env: {},
    stdio: ["pipe", "ignore", "ignore"],
    // A kill of our group must leave it.
    detached: true,
  });
  // Without a shell nothing is watched.
  shell.once("error", () => {});
  shell.stdin.on("error", () => {});
  shell.unref();
  return {
    watch: (target) => void shell.stdin.write(`${target}\n`),
    release() {
      // Before its input ends.
      shell.kill("SIGKILL");
      shell.stdin.destroy();
    },
  };
}

/**
 * Its directory, and the end of its arguments as the shell reads them: without what separates them, up to the end of a line. The
 * file is not among them, since of a script the kernel shows the interpreter.
 */
const shownAs = (expected: ExpectedProgram | undefined): readonly string[] =>
  expected === undefined
    ? []
    : [expected.cwd, expected.argv.slice(1).join("").split("\n")[0]?.slice(-MOST_CHARACTERS) ?? ""];

/** The kernel limits the length of an argument. */
const MOST_CHARACTERS = 10_000;
