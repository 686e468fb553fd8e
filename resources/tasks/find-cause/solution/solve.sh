set -e
change=$(zcat logs/*.gz | grep -F "config INFO reload" | head -n 1)
error=$(zcat logs/*.gz | grep -F "db ERROR pool exhausted" | head -n 1)
set -- $change
jq -n --arg host "$2" --arg setting "$6" --arg changed "$1" --arg first "${error%% *}" \
    '{host: $host, setting: $setting, changed_at: $changed, first_error_at: $first}' > cause.json
