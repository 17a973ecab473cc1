import { describedLines } from "./described.ts";
import type { InstalledProgram, Shell } from "./shell.ts";

/* fish puts no blank behind words that end with `=`, `/`, `.`, `,` or `@`, which is as it should be. */
const FUNCTIONS = `function __hydraconf_complete
  set -l before (commandline -opc)
  set -l skipped $argv[1]
  set -l command $argv[2..-1]
  set -l answers ($command -sc query=fish -- $before[(math $skipped + 1)..-1] (commandline -ct | string unescape) 2>/dev/null)
  if test (count $answers) -gt 0
    printf '%s\\n' $answers
  else
    __fish_complete_path (commandline -ct)
  end
end
function __hydraconf_program
  set -l words (commandline -opc)
  __hydraconf_complete 1 (string replace -r '^~' $HOME -- $words[1])
end
function __hydraconf_is_script
  set -l words (commandline -opc)
  test (count $words) -gt 1; and test (path resolve -- (string replace -r '^~' $HOME -- $words[2])) = $argv[1]
end
`;

export const fish: Shell = {
  name: "fish",
  hydraSeparator: "\n",
  describes: true,
  install: ({ name, script }: InstalledProgram) =>
    [
      FUNCTIONS,
      `complete -c ${quoted(name)} -f -k -a '(__hydraconf_program)'\n`,
      script === undefined
        ? ""
        : `complete -c node -f -k -n ${quoted(`__hydraconf_is_script ${quoted(script)}`)} -a ${quoted(`(__hydraconf_complete 2 node ${quoted(script)})`)}\n`,
    ].join(""),
  uninstall: ({ name, script }) =>
    `complete -c ${quoted(name)} -e\n${script === undefined ? "" : "complete -c node -e\n"}`,
  print: describedLines,
};

/** fish knows two escapes within single quotes. */
const quoted = (text: string): string => `'${text.replace(/[\\']/g, "\\$&")}'`;
