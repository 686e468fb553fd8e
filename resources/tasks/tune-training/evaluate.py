"""Scores config.json: the loss on hidden rows of a model that is trained by it, here, on the evaluator's own copy."""

import json
import math
import pathlib
import sys

submission, references = map(pathlib.Path, sys.argv[1:3])
space = {"__name__": "train"}
exec(compile((references / "train.py").read_text(encoding="utf-8"), "train.py", "exec"), space)
try:
    config = json.loads((submission / "config.json").read_text(encoding="utf-8"))
    space["check"](config)
except (OSError, ValueError, RecursionError) as error:
    print(json.dumps({"valid": False, "message": f"config.json cannot be used: {error}"}))
    sys.exit()
model = space["fit"](*space["read"](references / "train.csv"), config)
loss = space["loss"](*space["read"](references / "hidden.csv"), *model, config)
loss = loss if math.isfinite(loss) else 1e6
print(json.dumps({"metric": round(loss, 4), "message": f"The loss on the hidden rows is {loss:.4f}."}))
