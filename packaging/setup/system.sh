#!/usr/bin/env bash
# Install the Debian packages that the groups named need; without the right to, print the one command that does.
# usage: system.sh GROUP…            (desktop, engine, tests, packages)
set -euo pipefail

declare -A groups=(
  [desktop]="libglib2.0-0|libglib2.0-0t64 libgl1 libegl1 libfontconfig1 libxkbcommon0 libdbus-1-3 libgssapi-krb5-2 libxcb-cursor0
             libxcb-icccm4 libxcb-keysyms1 libxcb-shape0 libxkbcommon-x11-0 fonts-noto-cjk|fonts-wqy-microhei"
  [engine]="docker.io|docker-ce|moby-engine iptables procps git python3"
  [tests]="openssh-server openssh-client dbus-daemon|dbus systemd openssl glewlwyd"
  [packages]="mmdebstrap dpkg-dev binutils iproute2 xvfb xdotool"
)

command -v dpkg-query >/dev/null || { echo "This is no Debian system: install Qt's xcb libraries, a Chinese font and Docker yourself." >&2; exit 0; }

present() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

# Whatever Python it is: one of these has to bring the packages of .venv.
brings() {
  command -v uv >/dev/null || "${PYTHON:-python3}" -c 'import pip' 2>/dev/null || "${PYTHON:-python3}" -c 'import ensurepip' 2>/dev/null
}

missing=()
brings || missing+=(python3-pip)
for group in "$@"; do
  for choice in ${groups[$group]}; do
    for name in ${choice//|/ }; do present "$name" && continue 2; done
    missing+=("${choice%%|*}")
  done
done
[ ${#missing[@]} -gt 0 ] || exit 0

if [ "$(id -u)" != 0 ]; then
  echo "Missing system packages. This command installs them; then call make again:" >&2
  echo "    sudo apt-get update && sudo apt-get install --no-install-recommends -y ${missing[*]}" >&2
  exit 1
fi
echo "Installing system packages: ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -qq --no-install-recommends -y "${missing[@]}" >/dev/null
