"""InnoGym's performance gain G: how far a solution is beyond the best known one (arXiv 2512.01822, equation 2).

G = V(s) - V*, with V* the best known value, or the baseline where no solution is known; in the evaluator's own unit,
with the sign turned where less is better, so that a positive gain is always an improvement.
"""

import msgspec

from core.domain.events.score import ScoreGiven
from core.domain.task import Task


class Gain(msgspec.Struct, frozen=True):
    """`gain` in the unit of the task's metric, and `ratio`, the gain relative to the best known value (0: none)."""

    gain: float
    ratio: float

    @property
    def words(self) -> str:
        """How far it is from the best known, and how much of that this is, as 0.12 (3.1 %) beyond the best known."""
        if not self.gain:
            return "as good as the best known"
        share = f" ({abs(self.ratio):.1%})".replace("%", " %") if self.ratio else ""
        return f"{abs(self.gain):.4g}{share} {'beyond' if self.gain > 0 else 'short of'} the best known"


def gain_of(task: Task | None, score: ScoreGiven) -> Gain | None:
    """The gain of a score; None where there is no score, or the task knows no solution to compare with."""
    value = score.metric if score.metric is not None else score.total
    if task is None or score.failed or value is None or (best := known_best(task)) is None:
        return None
    gain = (value - best) * (-1.0 if less_is_better(task) else 1.0)
    return Gain(gain=gain, ratio=gain / abs(best) if best else 0.0)


def scaled(task: Task, metric: float) -> float | None:
    """The total of a metric: 0 at the baseline, 100 at the best known value, straight between, clipped at both ends.

    None where the task does not name two different values.
    """
    if task.baseline is None or task.best_known is None or task.baseline == task.best_known:
        return None
    return min(100.0, max(0.0, (metric - task.baseline) / (task.best_known - task.baseline) * 100.0))


def known_best(task: Task) -> float | None:
    """The best known value, or what a plain solution reaches."""
    return task.best_known if task.best_known is not None else task.baseline


def less_is_better(task: Task) -> bool:
    """Whether a smaller value is the better one."""
    return task.baseline is not None and task.best_known is not None and task.best_known < task.baseline
