import { shellQuote } from "../../../text/shell-words.ts";
import type { Candidate } from "../candidate.ts";
import { quoteForBash, type ShellLine } from "../shell-line.ts";
import type { InstalledProgram, Shell } from "./shell.ts";

/*
 * Works from bash 3.2 on, which has no mapfile and no compopt. A blank that belongs behind a word
 * comes with the answer: bash itself would put one behind `db=`, too.
 */
const FUNCTIONS = `__hydraconf_complete() {
  local answer
  COMPREPLY=()
  while IFS= read -r answer; do
    COMPREPLY+=("$answer")
  done < <(COMP_LINE="$COMP_LINE" COMP_POINT="$COMP_POINT" COMP_WORDBREAKS="$COMP_WORDBREAKS" "$@" -sc query=bash 2>/dev/null)
  (( \${#COMPREPLY[@]} )) && compopt -o nospace 2>/dev/null
  return 0
}
__hydraconf_program() {
  __hydraconf_complete "\${1/#\\~/$HOME}"
}
__hydraconf_install() {
  if type compopt >/dev/null 2>&1; then
    complete -o bashdefault -o default -F "$@"
  else
    complete -o bashdefault -o default -o nospace -F "$@"
  fi
}
__hydraconf_node() {
  local script
  for script in "\${__hydraconf_scripts[@]}"; do
    if (( COMP_CWORD > 1 )) && [[ "\${COMP_WORDS[1]/#\\~/$HOME}" -ef "$script" ]]; then
      __hydraconf_complete "$1" "$script"
      return
    fi
  done
}
`;

export const bash: Shell = {
  name: "bash",
  hydraSeparator: " ",
  describes: false,
  install: ({ name, script }: InstalledProgram) =>
    [
      FUNCTIONS,
      `__hydraconf_install __hydraconf_program ${shellQuote(name)}\n`,
      script === undefined
        ? ""
        : `__hydraconf_scripts+=(${shellQuote(script)})\n__hydraconf_install __hydraconf_node node\n`,
    ].join(""),
  uninstall: ({ name, script }) =>
    [
      `complete -r ${shellQuote(name)} 2>/dev/null\n`,
      script === undefined ? "" : "complete -r node 2>/dev/null\nunset __hydraconf_scripts\n",
      "true\n",
    ].join(""),
  print: (candidates, line) => candidates.map((each) => `${typed(each, line)}\n`).join(""),
};

/** What replaces the piece of the word that bash completes. */
function typed({ text, isOpen }: Candidate, { kept, quote }: ShellLine): string {
  const piece = quoteForBash(text.slice(kept), quote);
  // Within quotes bash closes them itself.
  return isOpen || quote !== "" ? piece : `${piece} `;
}
