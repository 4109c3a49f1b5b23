set number 5000
set transactions 20000
set size 500 100000
set subdirectories 10
set seed 42
run
quit
