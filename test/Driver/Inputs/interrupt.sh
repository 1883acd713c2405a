# interrupt.sh SIGNAL MODEL: ends fact-compile once it has started to measure.
set -m # A child of a script would ignore SIGINT otherwise.
cat > launcher <<'END'
#!/bin/sh
if [ ! -e launched ]; then
  echo $$ > launched
  exec sleep 60
fi
exec "$@"
END
chmod +x launcher
rm -f launched
fact-compile "$2" -o model.so --tuner-argument=--run-launcher="$PWD/launcher" \
  > log 2>&1 &
compiler=$!
for _ in $(seq 3000); do
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
