# Completion of pgmeter for bash, printed by `pgmeter completions bash`.
_pgmeter() {
    # Bash splits `tag:a` and `--fs=b` into several words; join them again.
    local line=${COMP_LINE:0:COMP_POINT} word reply cut=''
    local -a words=()
    for word in "${COMP_WORDS[@]:0:COMP_CWORD+1}"; do
        if [[ ${#words[@]} -eq 0 || $line == [[:blank:]]* ]]; then
            line=${line#"${line%%[![:blank:]]*}"}
            words+=('')
        fi
        # The word may continue after the cursor.
        [[ $line == "$word"* ]] || word=$line
        words[${#words[@]} - 1]+=$word
        line=${line#"$word"}
    done
    local current=${words[${#words[@]} - 1]}
    local breaks=${COMP_WORDBREAKS//[^:=]/}
    if [[ -n $breaks && $current == *["$breaks"]* && $current != [\"\']* ]]; then
        # The text before the last break is already on the command line.
        cut=${current%"${current##*["$breaks"]}"}
    fi
    COMPREPLY=()
    while IFS= read -r reply; do
        reply=${reply#"$cut"}
        if [[ $reply == *[^A-Za-z0-9_./:=,@%+~^-]* && $current != [\"\']* ]]; then
            printf -v reply %q "$reply"
        fi
        COMPREPLY+=("$reply")
    done < <(PGMETER_COMPLETE=bash @COMPLETER@ -- "${words[@]//[\"\'\\]/}" 2>/dev/null)
    if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[/=:] ]]; then
        compopt -o nospace 2>/dev/null
    fi
}
complete -o bashdefault -o default -o nosort -F _pgmeter pgmeter 2>/dev/null ||
    complete -o bashdefault -o default -F _pgmeter pgmeter
