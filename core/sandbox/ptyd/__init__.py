"""The terminal daemon that runs inside a sandbox: many shells, their output, commands, files; one unix socket.

It uses the standard library only (Python 3.9 and newer), because this folder is copied into sandbox images.
The host's side is `core.sandbox.daemon_link`. One frame is two lengths (JSON, data; 32 bits each, big-endian), a
JSON object and raw bytes.
"""
