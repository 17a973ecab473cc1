(( $+functions[compdef] )) || { autoload -Uz compinit && compinit -u -D }
__hydraconf_complete() {
  local answer text
  local -a open open_shown closed closed_shown
  local -x HYDRACONF_COMP_AFTER="${(Q)SUFFIX} ${(j: :)${(@)words[CURRENT+1,-1]}}"
  for answer in "${(@f)$("$@" -sc query=zsh -- "${(@Q)__hydraconf_words}" "${(Q)PREFIX}" 2>/dev/null)}"; do
    text=${${answer%%$'\t'*}#?}
    [[ -z $text ]] && continue
    local shown=$text
    [[ -n ${answer#*$'\t'} ]] && shown="$text  -- ${answer#*$'\t'}"
    if [[ $answer == +* ]]; then
      open+=("$text") open_shown+=("$shown")
    else
      closed+=("$text") closed_shown+=("$shown")
    fi
  done
  local -i found=1
  (( $#open )) && compadd -l -S '' -d open_shown -a open && found=0
  (( $#closed )) && compadd -l -d closed_shown -a closed && found=0
  if (( found )); then
    compset -P '*='
    _files
  fi
}
__hydraconf_program() {
  local -a __hydraconf_words
  __hydraconf_words=("${(@)words[2,CURRENT-1]}")
  __hydraconf_complete "${(Q)words[1]/#\~/$HOME}"
}
__hydraconf_npx() {
  local name=${(Q)words[2]} folder=$PWD
  if (( CURRENT > 2 && $+__hydraconf_packaged[(r)$name] )); then
    while [[ -n $folder && ! -x $folder/node_modules/.bin/$name ]]; do folder=${folder%/*}; done
    local -a __hydraconf_words
    __hydraconf_words=("${(@)words[3,CURRENT-1]}")
    __hydraconf_complete "$folder/node_modules/.bin/$name"
    return
  fi
  if (( $+functions[_npx] )); then _npx; else _default; fi
}
__hydraconf_node() {
  local script
  for script in $__hydraconf_scripts; do
    if (( CURRENT > 2 )) && [[ "${(Q)words[2]/#\~/$HOME}" -ef $script ]]; then
      local -a __hydraconf_words
      __hydraconf_words=("${(@)words[3,CURRENT-1]}")
      __hydraconf_complete node "$script"
      return
    fi
  done
  if (( $+functions[_node] )); then _node; else _default; fi
}
