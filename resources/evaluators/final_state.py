"""The evaluator of generated tasks: 100 where every function test_… of references/final_state.py passes, else 0.

The tests see what was handed in as their working folder, and no module of it.
"""

import json
import os
import pathlib
import runpy
import sys


def main(submission, references):
    tests = pathlib.Path(references, "final_state.py").resolve()
    os.chdir(submission)
    found = {name: test for name, test in runpy.run_path(str(tests)).items() if name.startswith("test_")}
    failed = {}
    for name, test in sorted(found.items()):
        try:
            test()
        except Exception as error:  # noqa: BLE001 - whatever a test raises, it has not passed
            failed[name] = f"{type(error).__name__}: {error}"[:200]
    message = "; ".join(f"{name}: {why}" for name, why in failed.items()) or f"All {len(found)} tests passed."
    total = 100 if found and not failed else 0
    parts = {"passed": len(found) - len(failed), "failed": len(failed)}
    print("\n" + json.dumps({"total": total, "parts": parts, "message": message[:2000]}), flush=True)


main(*sys.argv[1:])
