#!/bin/sh
# The suite calls this script in the directory of the test, which is also HOME, and reads the exit
# status from a file there.

if ! command -v pgmeter > /dev/null; then
  echo "pgmeter is not installed" >&2
  echo 2 > ~/install-exit-status
  exit
fi

mkdir -p target
cat > pgmeter-profile << 'SCRIPT'
#!/bin/sh
# Arguments: a workload and options of `pgmeter run`.
cd "$HOME" || exit
{
  pgmeter run "$@" --target target --quiet --no-db --no-html --json record.json \
    && pgmeter report record.json --format openmetrics > metrics.txt \
    && sed -n \
      -e 's/^pgmeter_operations_per_second{.*kind="total".*} \(.*\)/Rate: \1 operations per second/p' \
      -e 's/^pgmeter_bytes_per_second{.*kind="total".*} \(.*\)/Bandwidth: \1 bytes per second/p' \
      metrics.txt
} > "$LOG_FILE" 2>&1
echo $? > ~/test-exit-status
SCRIPT
chmod +x pgmeter-profile
echo 0 > ~/install-exit-status
