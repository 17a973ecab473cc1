__hydraconf_complete() {
  local answer
  COMPREPLY=()
  while IFS= read -r answer; do
    COMPREPLY+=("$answer")
  done < <(COMP_LINE="$COMP_LINE" COMP_POINT="$COMP_POINT" COMP_WORDBREAKS="$COMP_WORDBREAKS" "$@" -sc query=bash 2>/dev/null)
  (( ${#COMPREPLY[@]} )) && compopt -o nospace 2>/dev/null
  return 0
}
__hydraconf_program() {
  __hydraconf_complete "${1/#\~/$HOME}"
}
__hydraconf_install() {
  if type compopt >/dev/null 2>&1; then
    complete -o bashdefault -o default -F "$@"
  else
    complete -o bashdefault -o default -o nospace -F "$@"
  fi
}
__hydraconf_npx() {
  local name folder="$PWD" before
  for name in "${__hydraconf_packaged[@]}"; do
    [[ "$name" == "${COMP_WORDS[1]}" && "$COMP_CWORD" -gt 1 ]] || continue
    while [[ -n "$folder" && ! -x "$folder/node_modules/.bin/$name" ]]; do folder="${folder%/*}"; done
    before="${COMP_LINE%%"$name"*}"
    local COMP_LINE="${COMP_LINE:${#before}}" COMP_POINT=$(( COMP_POINT - ${#before} ))
    __hydraconf_complete "$folder/node_modules/.bin/$name"
    return
  done
  [[ -n "$__hydraconf_before_npx" ]] && "$__hydraconf_before_npx" "$@"
}
__hydraconf_wrap_npx() {
  __hydraconf_packaged+=("$1")
  local known
  known="$(complete -p npx 2>/dev/null)"
  [[ "$known" =~ -F\ ([^\ ]+) && "${BASH_REMATCH[1]}" != __hydraconf_npx ]] && __hydraconf_before_npx="${BASH_REMATCH[1]}"
  __hydraconf_install __hydraconf_npx npx
}
__hydraconf_node() {
  local script
  # shellcheck disable=SC2154 # set by the line of each script
  for script in "${__hydraconf_scripts[@]}"; do
    if (( COMP_CWORD > 1 )) && [[ "${COMP_WORDS[1]/#\~/$HOME}" -ef "$script" ]]; then
      __hydraconf_complete "$1" "$script"
      return
    fi
  done
}
