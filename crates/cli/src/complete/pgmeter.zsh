#compdef pgmeter
# Completion of pgmeter for zsh, printed by `pgmeter completions zsh`.
_pgmeter() {
    local -a lines whole begun
    local line value described
    lines=("${(@f)$(PGMETER_COMPLETE=zsh @COMPLETER@ -- "${(@Q)words[1,CURRENT]}" 2>/dev/null)}")
    for line in "${(@)lines:#}"; do
        value=${line%%$'\t'*}
        described=${${value//\\/\\\\}//:/\\:}
        [[ $line == *$'\t'* ]] && described+=":${line#*$'\t'}"
        if [[ $value == *[/=:] ]]; then begun+=("$described"); else whole+=("$described"); fi
    done
    (( $#begun )) && _describe -V values begun -S ''
    (( $#whole )) && _describe -V values whole
}
if [[ $funcstack[1] == _pgmeter ]]; then
    _pgmeter "$@"
else
    compdef _pgmeter pgmeter
fi
