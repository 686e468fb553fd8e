#!/usr/bin/env bash
# A person's day over an upgrade, as root in a bare root with /srv/old.deb installed and a display:
#   lived.sh OLD_VERSION NEW_VERSION FLAT       (FLAT: yes where the older package had no folder of its version)
# Before: a trajectory imported and judged, a session at work here and one on a lab's server, both advised; remarks, tags,
# a queue; the lab's server is down and advice for it waits in the outbox; the window is open. Then the new
# package over all of it; the window starts again when it is asked. Copies of the databases stay in /srv/before and after.
set -euo pipefail
old=$1 new=$2 flat=$3
windows() { xdotool search --onlyvisible --class tiphys 2>/dev/null || true; }
wait_for() { for i in $(seq 240); do eval "$1" && return; sleep 0.5; done; echo "This did not come: $1" >&2; exit 1; }
person() { su - lab -c "$*"; }
lab="tiphys --home /home/lab/lab-server"
of() { readlink "/proc/$1/exe" | sed 's/ (deleted)$//'; }
server() { sed -n 's/.*"pid": *\([0-9]*\).*/\1/p' "/home/lab/$1/server.json"; }
here=.local/share/tiphys
copy() { person "/usr/lib/tiphys/bin/python3 -I /srv/lived.py copy /srv/$1"; }
mkdir -p /srv/before /srv/after && chown lab /srv/before /srv/after

su - lab -c "exec $lab serve --port 7799" >/srv/lab-server.log 2>&1 & sleep 4
person "/usr/lib/tiphys/bin/python3 -I /srv/lived.py tasks"
theirs=$(person "$lab run count --unconfined --json" | sed -n 's/.*"session": *"\([^"]*\)".*/\1/p')
person "/usr/lib/tiphys/bin/python3 -I /srv/lived.py join"
su - lab -c "DISPLAY=$DISPLAY QT_QPA_PLATFORM=xcb exec tiphys" >/srv/window.log 2>&1 &
wait_for '[ -n "$(windows)" ]'
wait_for '[ -s /home/lab/$here/server.json ]'
imported=$(person "tiphys import --json /srv/trajectory*" | sed -n '1s/.*"session": *"\([^"]*\)".*/\1/p')
ours=$(person "tiphys run count --unconfined --json" | sed -n 's/.*"session": *"\([^"]*\)".*/\1/p')
wait_for "[ -s /home/lab/$here/sessions/$ours/local/main/workspace/counted ]"
wait_for "person /usr/lib/tiphys/bin/python3 -I /srv/lived.py knows $theirs >/dev/null"
person "/usr/lib/tiphys/bin/python3 -I /srv/lived.py live $imported $ours"
kill -KILL "$(server lab-server)"; sleep 1
person "/usr/lib/tiphys/bin/python3 -I /srv/lived.py write $theirs"
copy before

first=$(windows | head -1) window=$(xdotool getwindowpid "$first") private=$(server $here)
apt-get install -y -qq --no-install-recommends /srv/new.deb >/srv/upgrade.log 2>&1 || { cat /srv/upgrade.log >&2; exit 1; }
grep -q 'Tiphys is running' /srv/upgrade.log || { echo "Nobody was warned." >&2; exit 1; }
if [ "$flat" != yes ]; then  # what runs has its own version still, and parts of it that start now are of it
  [[ "$("$(of "$window")" -I -m core.cli --version)" = *" $old" ]] || { echo "The window lost its version." >&2; exit 1; }
fi
wait_for '[ "$(windows | wc -l)" -gt 1 ]'
for one in $(windows); do [ "$one" = "$first" ] || { xdotool windowfocus "$one"; sleep 1; xdotool key Return; }; done
wait_for 'now=$(windows | head -1); [ -n "$now" ] && [ "$(xdotool getwindowpid "$now")" != "$window" ]'
! kill -0 "$window" 2>/dev/null
wait_for '[ "$(server $here)" != "$private" ]'
for one in "$(xdotool getwindowpid "$(windows | head -1)")" "$(server $here)"; do
  case $(of "$one") in /usr/lib/tiphys-$new/*) ;; *) echo "$(of "$one") runs after the upgrade." >&2; exit 1 ;; esac
done
su - lab -c "exec $lab serve --port 7799" >>/srv/lab-server.log 2>&1 &
wait_for "person /usr/lib/tiphys/bin/python3 -I /srv/lived.py sent $theirs >/dev/null"
counted=/home/lab/$here/sessions/$ours/local/main/workspace/counted
until=$(($(wc -l <"$counted") + 3))
wait_for "[ \$(wc -l <$counted) -ge $until ]"
person "tiphys stop $ours; $lab stop $theirs" >/dev/null
wait_for "person tiphys sessions | grep -Eq '^$ours +(stopped|finished)'"
wait_for "person $lab sessions | grep -Eq '^$theirs +(stopped|finished)'"
seq "$(wc -l <"$counted")" | cmp - "$counted"
person "tiphys verify; $lab verify" >/dev/null
copy after
