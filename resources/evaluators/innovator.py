"""Runs an InnovatorBench task's evaluation on a submission, as ResearchGym does: all of `validate()`, summed up."""

import importlib
import json
import pathlib
import sys


def score(workspace, evaluations):
    """The sum of the results, from 0 to 100, with what the first one that failed says."""
    here = pathlib.Path.cwd()
    (name,) = (path.parents[1].name for path in evaluations.glob("*/task/evaluation.py"))
    (here / "evaluations").symlink_to(evaluations.resolve())
    sys.path.insert(0, str(here))
    benchmark = importlib.import_module(f"evaluations.{name}.task.evaluation").TaskBenchmark
    config = importlib.import_module(f"evaluations.{name}.task.config").TaskConfig
    made = benchmark(config(eval_workspace=str(here / "evaluations"), workspace=str(workspace.resolve())))
    results = [dict(result.to_dict()["eval_results"]) for result in made.validate()]
    total = min(100.0, max(0.0, sum(float(result["score"]) for result in results)))
    wrong = next((str(result["error"]) for result in results if result.get("error")), "")
    parts = {f"metric_{n}": float(result["score"]) for n, result in enumerate(results)} if len(results) > 1 else {}
    parts |= {key: float(value) for result in results for key, value in result.items()
              if key != "score" and isinstance(value, (int, float)) and not isinstance(value, bool)}
    return {"total": total, "parts": dict(list(parts.items())[:50]), "message": wrong[:2000]}


outcome = score(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
print("\n" + json.dumps(outcome))
