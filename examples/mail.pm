set number 2000
set transactions 5000
set size 500 100000
set subdirectories 10
set seed 42
run
quit
