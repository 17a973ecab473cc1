/**
 * Completion of `python train.py ...`: the shell calls hydraconf, which reads the program's source without running it.
 */
import { basename } from "node:path";
import { SHELL_FUNCTIONS } from "../app/cli/completion/shells.ts";
import { type CommandLine, commandHelp } from "../app/command-line/command-line.ts";
import { parseCommandLine } from "../app/command-line/parse.ts";
import type { Invocation } from "../app/job/process/invocation.ts";
import { ConfigError, nearest } from "../engine/values/errors.ts";
import { isExecutableFile } from "../foundation/system/find-program.ts";
import { shellQuote } from "../foundation/text/shell-words.ts";
import { findApps } from "./apps.ts";

const LINE: CommandLine = {
  name: "hydraconf completion",
  takes: { shown: "bash|zsh|fish", expected: "one shell", least: 1, most: 1 },
  about: `Prints code for a shell that completes the overrides of Python's Hydra programs: python train.py, uv run train.py,
torchrun train.py, and the programs of this directory that can be executed, as ./train.py.

  eval "$(hydraconf completion bash)"        ~/.bashrc; likewise zsh
  hydraconf completion fish | source         ~/.config/fish/config.fish`,
  options: {},
};

/** Programs that start a Python script given as an argument. */
const STARTERS = ["python", "python3", "uv", "torchrun", "accelerate", "deepspeed", "ipython"];

/** @returns the exit code */
export async function runCompletionCode(
  args: readonly string[],
  { console, cwd, env }: Invocation,
): Promise<number> {
  const parsed = parseCommandLine(LINE, args);
  if (parsed.has("help")) {
    console.stdout(commandHelp(LINE));
    return 0;
  }
  const [shell = ""] = parsed.positionals;
  const code = CODE.get(shell);
  if (code === undefined)
    throw new ConfigError({
      code: "app.usage",
      message: `'${shell}' is not a shell that can be completed`,
      nearest: nearest(shell, [...CODE.keys()]),
    });
  const executables = findApps(cwd, { cwd, env })
    .filter(({ file, kind }) => kind === "main" && isExecutableFile(file))
    .map(({ file }) => basename(file));
  console.stdout(code([...STARTERS, ...new Set(executables)]));
  return 0;
}

/* The line is handed on as if the program were its first word. What was completed before for the starter goes on for other lines. */
const BASH = `__hydraconf_python() {
  local at script word before
  for (( at = 0; at < COMP_CWORD; at++ )); do
    word="\${COMP_WORDS[at]}"
    if [[ "$word" == *.py && -f "\${word/#\\~/$HOME}" ]]; then
      script="$word"
      break
    fi
  done
  if [[ -n "$script" ]]; then
    before="\${COMP_LINE%%"$script"*}"
    local line="prog\${COMP_LINE:\${#before}+\${#script}}"
    local point=$(( COMP_POINT - \${#before} - \${#script} + 4 ))
    local COMP_LINE="$line" COMP_POINT="$point"
    __hydraconf_complete hydraconf --app "\${script/#\\~/$HOME}"
    return
  fi
  local earlier="__hydraconf_before_\${1##*/}"
  earlier="\${earlier//[^a-zA-Z0-9_]/_}"
  [[ -n "\${!earlier}" ]] && "\${!earlier}" "$@"
}
__hydraconf_wrap() {
  local name known variable
  for name in "$@"; do
    variable="__hydraconf_before_\${name//[^a-zA-Z0-9_]/_}"
    known="$(complete -p "$name" 2>/dev/null)"
    if [[ "$known" =~ -F\\ ([^\\ ]+) && "\${BASH_REMATCH[1]}" != __hydraconf_python ]]; then
      printf -v "$variable" %s "\${BASH_REMATCH[1]}"
    fi
    __hydraconf_install __hydraconf_python "$name"
  done
}
`;

const ZSH = `__hydraconf_python() {
  local -i at
  local script
  for (( at = 1; at < CURRENT; at++ )); do
    script=\${(Q)words[at]/#\\~/$HOME}
    if [[ $script == *.py && -f $script ]]; then
      local -a __hydraconf_words
      __hydraconf_words=("\${(@)words[at+1,CURRENT-1]}")
      __hydraconf_complete hydraconf --app "$script"
      return
    fi
  done
  local before=_\${words[1]:t}
  if (( $+functions[$before] )); then $before; else _default; fi
}
`;

const FISH = `function __hydraconf_script_at
  set -l words (commandline -opc)
  for at in (seq (count $words))
    set -l word (string replace -r '^~' $HOME -- $words[$at])
    if string match -q '*.py' -- $word; and test -f $word
      echo $at
      return 0
    end
  end
  return 1
end
function __hydraconf_python
  set -l at (__hydraconf_script_at)
  set -l words (commandline -opc)
  __hydraconf_complete $at hydraconf --app (string replace -r '^~' $HOME -- $words[$at])
end
`;

const CODE: ReadonlyMap<string, (names: readonly string[]) => string> = new Map([
  [
    "bash",
    (names) =>
      `${SHELL_FUNCTIONS.bash}${BASH}__hydraconf_wrap ${names.map(shellQuote).join(" ")}\n`,
  ],
  [
    "zsh",
    (names) =>
      `${SHELL_FUNCTIONS.zsh}${ZSH}compdef __hydraconf_python ${names.map(shellQuote).join(" ")}\ncompdef -P __hydraconf_python '*.py'\n`,
  ],
  [
    "fish",
    (names) =>
      `${SHELL_FUNCTIONS.fish}${FISH}${names
        .map(
          (name) =>
            `complete -c ${shellQuote(name)} -f -k -n '__hydraconf_script_at >/dev/null' -a '(__hydraconf_python)'\n`,
        )
        .join("")}`,
  ],
]);
