function __hydraconf_complete
  set -l before (commandline -opc)
  set -l skipped $argv[1]
  set -l command $argv[2..-1]
  set -l typed (commandline -pc | string collect)
  set -l whole (commandline -p | string collect)
  set -lx HYDRACONF_COMP_AFTER (string sub -s (math (string length -- "$typed") + 1) -- "$whole")
  set -l answers ($command -sc query=fish -- $before[(math $skipped + 1)..-1] (commandline -ct | string unescape) 2>/dev/null)
  if test (count $answers) -gt 0
    printf '%s\n' $answers
  else
    __fish_complete_path (commandline -ct)
  end
end
function __hydraconf_program
  set -l words (commandline -opc)
  __hydraconf_complete 1 (string replace -r '^~' $HOME -- $words[1])
end
function __hydraconf_packaged
  set -l folder $PWD
  while test -n "$folder"; and not test -x $folder/node_modules/.bin/$argv[1]
    set folder (string replace -r '/[^/]*$' '' -- $folder)
  end
  echo $folder/node_modules/.bin/$argv[1]
end
function __hydraconf_is_packaged
  set -l words (commandline -opc)
  test (count $words) -gt 1; and test $words[2] = $argv[1]
end
function __hydraconf_is_script
  set -l words (commandline -opc)
  test (count $words) -gt 1; and test (path resolve -- (string replace -r '^~' $HOME -- $words[2])) = $argv[1]
end
