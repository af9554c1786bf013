#!/usr/bin/env bash
# Makes an environment of its own for each peer in Python, or for some: install.sh
# [NAME...]. The peer in Go that is a module of its own is built beside them.
# A script's first line says which packages it needs. An environment that is
# there for the same line is left as it is, or used again by another script.
set -eu
cd "$(dirname "$0")"
mkdir -p .cache
(cd testdata/chromem && ${GO:-go} build -o ../../.cache/chromem-go .)
[ $# -gt 0 ] || set -- $(grep -l '^# pip:' python/*.py | xargs -n1 basename | sed 's/\.py$//')
for name; do
  line=$(sed -n '1s/^# pip: //p' "python/$name.py")
  env=.cache/$name
  [ "$(cat "$env/installed" 2>/dev/null)" = "$line" ] && continue
  rm -rf "$env"
  for other in .cache/*/installed; do
    [ "$(cat "$other" 2>/dev/null)" = "$line" ] && ln -s "$(basename "$(dirname "$other")")" "$env" && continue 2
  done
  echo "installing $name: $line"
  python3 -m venv "$env"
  # shellcheck disable=SC2086 # the line is a list
  "$env/bin/pip" install --quiet --disable-pip-version-check $line
  echo "$line" >"$env/installed"
done
