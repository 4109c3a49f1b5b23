# Completion of pgmeter for fish, printed by `pgmeter completions fish`.
function __pgmeter_complete
    set --local before (commandline --current-process --tokenize --cut-at-cursor)
    set --local current (commandline --current-token --cut-at-cursor)
    PGMETER_COMPLETE=fish @COMPLETER@ -- $before "$current" 2>/dev/null
end
complete --command pgmeter --keep-order --no-files --arguments '(__pgmeter_complete)'
