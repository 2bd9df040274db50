#!/usr/bin/env bash
# Gradescope runs this once, as root, when it builds the image.
set -euo pipefail
AUTOGRADER_ROOT=${AUTOGRADER_ROOT:-/autograder}
cd "$AUTOGRADER_ROOT/source"
export DEBIAN_FRONTEND=noninteractive

is_new_enough() {
  command -v "$1" >/dev/null &&
    "$1" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
}

find_python() {
  local name
  for name in python3.13 python3.12 python3.11 python3; do
    if is_new_enough "$name"; then
      echo "$name"
      return
    fi
  done
}

python=$(find_python)
if [[ -z $python ]]; then
  apt-get update
  apt-get install -y python3.11 python3.11-venv || apt-get install -y python3 python3-venv
  python=$(find_python)
fi
if [[ -z $python ]]; then
  echo "There is no Python 3.11 or later: choose a newer base image." >&2
  exit 1
fi

# If the container may make namespaces, bubblewrap protects the grading.
apt-get install -y bubblewrap || { apt-get update && apt-get install -y bubblewrap; } ||
  echo "no bubblewrap: the grader uses accounts"

"$python" -m venv "$AUTOGRADER_ROOT/python"
"$AUTOGRADER_ROOT/python/bin/python" -m pip install \
  @index@-c constraints.txt -r requirements.txt
