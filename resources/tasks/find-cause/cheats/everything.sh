# Names everything at once, as lists and as long texts.
printf '{"host": "web-1 web-2 web-3 web-4 web-5 web-6", "setting": "%s", "changed_at": ["x"], "first_error_at": "*"}' \
    "$(zcat logs/*.gz | grep -o 'db[.a-z_]*' | sort -u | tr '\n' ' ')" > cause.json
