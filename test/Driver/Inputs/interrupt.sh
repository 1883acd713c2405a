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
[ "$child" ] || { echo "nothing was launched"; cat log; }
kill -"$1" $compiler
wait $compiler 2> /dev/null
echo "status $?"
# A process that has ended may be a zombie, and gone at the next look.
is_running() {
  state=$(cat "/proc/$1/stat" 2> /dev/null) && [[ $state != *") Z "* ]]
}
left="child $child is left"
for _ in $(seq 500); do
  is_running "$child" || { left="no child is left"; break; }
  sleep 0.02
done
echo "$left"
ls
