# bash completion for cardwright. Generated; printed by: cardwright completion bash
_cardwright() {
  local line=${COMP_LINE:0:COMP_POINT} word=$2 broken='' answer
  COMPREPLY=()
  # bash breaks words at = and :, and replaces only the part behind.
  [[ ${line##*[[:blank:]]} == *"$word" ]] && broken=${line##*[[:blank:]]} broken=${broken%"$word"}
  broken=${broken//[\"\']/}
  while IFS= read -r answer; do
    if [[ $answer == :files ]]; then
      compopt -o filenames 2>/dev/null
      while IFS= read -r answer; do COMPREPLY+=("$answer"); done < <(compgen -f -- "$word")
    else
      COMPREPLY+=("${answer#"$broken"}")
    fi
  done < <(command cardwright __complete bash "$line" 2>/dev/null)
}
complete -F _cardwright cardwright
