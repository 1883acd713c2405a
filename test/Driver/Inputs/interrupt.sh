# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# interrupt.sh SIGNAL MODEL COUNT: ends fact-compile once it has measured COUNT
# candidates and goes on to the next.
set -m
cat > launcher <<END
#!/bin/sh
for last; do :; done
case \$last in
*.job)
  echo >> measured
  if [ \$(wc -l < measured) -gt $3 ] && [ ! -e launched ]; then
    echo \$\$ > launched
    exec sleep 60
  fi;;
esac
exec "\$@"
END
chmod +x launcher
rm -f launched measured
# Whoever started this may ignore SIGINT, and so would its children.
env --default-signal=INT fact-compile "$2" -o model.so --tuner-argument=--run-launcher="$PWD/launcher" \
  --tuner-argument=--candidates=6 > log 2>&1 &
compiler=$!
for _ in $(seq 6000); do
  [ -s launched ] && break
  sleep 0.02
done
child=$(cat launched)
kill -"$1" $compiler
wait $compiler 2> /dev/null
echo "status $?"
is_running() { [ -e "/proc/$1" ] && ! grep -q ' Z ' "/proc/$1/stat" 2> /dev/null; }
for _ in $(seq 500); do
  is_running "$child" || break
  sleep 0.02
done
is_running "$child" && echo "child $child is left" || echo "no child is left"
ls
