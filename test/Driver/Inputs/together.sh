# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# together.sh ROUNDS COMMAND...: starts all commands at once, in every round.
rounds=$1
shift
succeeded=0
for _ in $(seq "$rounds"); do
  pids=()
  for command in "$@"; do
    $command 2>&1 &
    pids+=($!)
  done
  for pid in "${pids[@]}"; do
    if wait "$pid"; then succeeded=$((succeeded + 1)); else echo "process $pid failed"; fi
  done
done
echo "$succeeded succeeded"
