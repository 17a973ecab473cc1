#!/usr/bin/env bash
# Installs Debian packages that tests need and this machine lacks: scripts/install-debian.sh PACKAGE...
set -euo pipefail
missing=()
for package in "$@"; do
  status=$(dpkg-query --show --showformat='${db:Status-Abbrev}' "$package" 2>/dev/null || true)
  [[ $status == ii* ]] || missing+=("$package")
done
[[ ${#missing[@]} -eq 0 ]] && exit 0
echo "installing ${missing[*]}" >&2
as_root=()
[[ $(id -u) -eq 0 ]] || as_root=(sudo)
export DEBIAN_FRONTEND=noninteractive
# One repository that does not answer must not keep the others from being used.
"${as_root[@]}" apt-get update --quiet --quiet || true
"${as_root[@]}" apt-get install --yes --quiet --quiet --no-install-recommends "${missing[@]}" >/dev/null
