#!/usr/bin/env bash
# The installed server under a real systemd, with an agent at work (needs root, mmdebstrap and the network; minutes):
#   packaging/server/try-systemd.sh PACKAGE [SUITE]
# A bare root with systemd as the first process of its own namespaces. The session of a scripted agent that counts goes on
# through a restart of the unit, a server that is killed, and an upgrade, at which the runner begins anew with the new
# program; it is stopped then, and every number up to there was counted once. The version before is that of dist/before
# where one lies there, else the same program under a lower number.
set -euo pipefail
package=$(readlink -f "$1") suite=${2:-bookworm}
here=$(cd "$(dirname "$0")/../.." && pwd)
steps=1000 group=tiphys-try-$$
root=$(mktemp -d /tmp/tiphys-systemd-XXXXXX)
groups=$(findmnt -t cgroup2 -no TARGET | head -1)
say() { printf '%5ss  %s\n' "$SECONDS" "$*"; }
fail() { echo "$*" >&2; exit 1; }
finish() {
  [ -z "${machine:-}" ] || { kill -KILL "$(pgrep -P "$machine")" 2>/dev/null; wait "$machine" 2>/dev/null; } || true
  rm -rf --one-file-system "$root"
  find "$groups/$group" -depth -type d -exec rmdir {} + 2>/dev/null || true
}
trap finish EXIT

mmdebstrap --quiet --variant=minbase --include=ca-certificates,systemd,systemd-sysv,procps "$suite" "$root" >/dev/null
cp /etc/resolv.conf "$root/etc/resolv.conf"
apt-config dump | grep -i proxy >"$root/etc/apt/apt.conf.d/99-as-outside" || true
older=$(find "$here/dist/before" -name 'tiphys-server_*_amd64.deb' 2>/dev/null | sort -V | tail -1)
pack() {  # NUMBER PACKAGE
  dpkg-deb -R "$2" "$root/root/tree"
  sed -i "s/^Version: .*/Version: $1/" "$root/root/tree/DEBIAN/control" \
    "$root"/root/tree/usr/lib/tiphys-server/lib/python3/dist-packages/tiphys-*.dist-info/METADATA
  dpkg-deb --root-owner-group -Zgzip -z1 -b "$root/root/tree" "$root/root/$1.deb" >/dev/null
  rm -r "$root/root/tree"
}
pack 0.0.1 "${older:-$package}"
pack 0.0.2 "$package"
say "a bare $suite; the version before is ${older:-the same program}"

cat >"$root/root/boot" <<'SH'
set -e
mount --bind "$1" "$1"
mount -t proc proc "$1/proc"
mount -t sysfs sysfs "$1/sys"
mount -t cgroup2 cgroup2 "$1/sys/fs/cgroup"
for one in run tmp; do mount -t tmpfs tmpfs "$1/$one"; done
mount --rbind /dev "$1/dev"
exec chroot "$1" /usr/bin/env -i container=tiphys PATH=/usr/sbin:/usr/bin:/sbin:/bin \
  /lib/systemd/systemd --log-target=null --show-status=0 --unit=multi-user.target
SH
mkdir "$groups/$group"
# the child of unshare is the first process of the namespaces; nothing of this machine's groups is seen there
bash -c 'echo $$ >"$1/cgroup.procs"; exec unshare --mount --pid --cgroup --fork --kill-child bash "$2/root/boot" "$2"' \
  - "$groups/$group" "$root" </dev/null >"$root/root/boot.log" 2>&1 &
machine=$!
inside() {
  timeout 600 nsenter -t "$(pgrep -P "$machine")" -m -p chroot "$root" /usr/bin/env -i DEBIAN_FRONTEND=noninteractive \
    PATH=/usr/sbin:/usr/bin:/sbin:/bin bash -c "$1"
}
wait_for() {  # WORDS COMMAND
  for _ in $(seq 300); do inside "$2" >/dev/null 2>&1 && return; sleep 0.5; done
  inside 'journalctl -u tiphys-server --no-pager -n 20' >&2 || cat "$root/root/boot.log" >&2
  fail "This did not come: $1."
}
wait_for "a system that has started" 'systemctl is-system-running | grep -Eq "running|degraded"'
say "systemd runs"

inside 'apt-get -qq update && apt-get -qq install -y --no-install-recommends /root/0.0.1.deb' >"$root/root/apt.log" 2>&1 ||
  { cat "$root/root/apt.log"; exit 1; }
wait_for "the server" 'systemctl is-active tiphys-server'
task=$root/var/lib/tiphys/tasks/count
mkdir -p "$task"
printf 'id = "count"\ntitle = "Count"\ndescription = "Count."\n[[hosts]]\nname = "main"\n[limits]\nsteps = 2000\n%s\n' \
  '[agent.model]
kind = "scripted"
name = "scripted"
script = "script.toml"' >"$task/task.toml"
{
  echo 'pace_s = 0.0'
  for number in $(seq $steps); do
    printf '[[turn]]\nthought = "%s"\n[[turn.calls]]\ntool = "run_command"\n[turn.calls.arguments]\n' "$number"
    printf 'command = "echo %s >>counted; sleep 2"\nsession_id = "main"\nwait_for_completion = true\n' "$number"
  done
  printf '[[turn]]\nthought = "Done."\n[[turn.calls]]\ntool = "finish"\n'
} >"$task/script.toml"
session=$(inside 'chown -R tiphys: /var/lib/tiphys/tasks; tiphys-server run count --unconfined --json' |
          sed -n 's/.*"session": *"\([^"]*\)".*/\1/p')
counted=$root/var/lib/tiphys/sessions/$session/local/main/workspace/counted
server() { inside 'systemctl show -p MainPID --value tiphys-server'; }
runner() { inside 'pgrep -u tiphys -f "core[.]cli agent --session"'; }
goes_on() {  # WORDS: two numbers more than now, with another server than $was
  local until=$(($(wc -l <"$counted") + 2))
  wait_for "two more steps after $1" "[ \$(wc -l </var/lib/tiphys/sessions/$session/local/main/workspace/counted) -ge $until ]"
  [ "$(server)" != "$was" ] || fail "The server is the same after $1."
  say "$1: server $was → $(server), runner $agent → $(runner), $(wc -l <"$counted") counted"
}
wait_for "the first steps" "[ -s /var/lib/tiphys/sessions/$session/local/main/workspace/counted ]"
agent=$(runner)

was=$(server); inside 'systemctl restart tiphys-server'
goes_on "restarted"
[ "$(runner)" = "$agent" ] || fail "The runner did not outlive the restart."
was=$(server); inside "kill -KILL $was"
goes_on "killed"
[ "$(runner)" = "$agent" ] || fail "The runner did not outlive the server."
was=$(server); inside 'apt-get -qq install -y --no-install-recommends /root/0.0.2.deb' >"$root/root/apt.log" 2>&1 ||
  { cat "$root/root/apt.log"; inside 'journalctl -u tiphys-server --no-pager -n 20'; exit 1; }
goes_on "upgraded"
[ "$(runner)" != "$agent" ] || fail "The runner still is the old program."
inside 'tiphys-server --version' | grep -q 0.0.2

inside "tiphys-server stop $session" >/dev/null
wait_for "the end" "tiphys-server sessions | grep -Eq '^$session +(stopped|finished)'"
seq "$(wc -l <"$counted")" | cmp - "$counted" || fail "Numbers were counted twice or not at all."
inside "tiphys-server verify" >/dev/null || fail "The log is not whole."
say "stopped: each of the $(wc -l <"$counted") numbers was counted once"
