#!/usr/bin/env bash
# Audits one abi3 wheel, then installs and runs it in a clean environment for every Python that is found (3.11 and newer,
# on the path or under pyenv). The argument is the wheel; `make wheel-check` builds one first.
set -euo pipefail
cd "$(dirname "$0")/.."

wheel=$1
bin=.venv/bin
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$bin/abi3audit" --strict --summary "$wheel"

# pip does not accept hashes in a constraints file if the wheel has none.
sed -nE 's/^([A-Za-z0-9._-]+==.*[^ \\]) *\\?$/\1/p' requirements-dev.lock >"$work/constraints.txt"

describe='
import sys, sysconfig
if sys.version_info < (3, 11): sys.exit(1)
kind = "free-threaded" if sysconfig.get_config_var("Py_GIL_DISABLED") else "default"
print(sys.executable, "%d.%d.%d" % sys.version_info[:3], kind)'

candidates() {
    local version path
    for version in 3.11 3.12 3.13 3.14 3.15; do
        type -aP "python$version" || true
    done
    type -aP python3 || true
    for path in "${PYENV_ROOT:-$HOME/.pyenv}"/versions/*/bin/python3; do
        [ -x "$path" ] && echo "$path"
    done
    return 0
}

# A shim and its target are the same interpreter. A shim for a version that is not selected does not run, so it is ignored.
mapfile -t pythons < <(candidates | while read -r path; do "$path" -c "$describe" 2>/dev/null || true; done | sort -u)
[ ${#pythons[@]} -gt 0 ] || { echo "no Python 3.11 or newer was found" >&2; exit 1; }

seen=" "
count=0
for line in "${pythons[@]}"; do
    read -r python version kind <<<"$line"
    real=$(readlink -f "$python")
    case $seen in *" $real "*) continue ;; esac
    seen+="$real "
    if [ "$kind" = free-threaded ]; then
        echo "Python $version, free-threaded: skipped, because it needs another wheel"
        continue
    fi
    env="$work/env-$count"
    # Without pip, because some distributions have no ensurepip. Our own pip installs into it.
    "$python" -m venv --without-pip "$env"
    "$bin/python" -m pip --quiet --disable-pip-version-check --python "$env/bin/python" \
        install --constraint "$work/constraints.txt" "${wheel}[cli]"
    (
        cd "$work" # so that nothing is imported from the checkout
        "$env/bin/python" -I -c 'import wirecall, wirecall._core; assert "site-packages" in wirecall.__file__, wirecall.__file__'
        "$env/bin/wirecall" demo >/dev/null
    )
    echo "Python $version: installed, imported, demo run"
    count=$((count + 1))
done
[ "$count" -gt 0 ]
echo "$(basename "$wheel"): $count interpreters"
