"""Two tasks for a harness of verifiers that runs commands: what it does is looked at in the session's log."""
import verifiers.v1 as vf


class RepairTask(vf.Task[vf.TaskData, vf.State, vf.TaskConfig]):
    pass


class RepairTaskset(vf.Taskset[RepairTask, vf.TasksetConfig]):
    def load(self):
        return [RepairTask(vf.TaskData(prompt=f"TASK-MAIN {n}: repair calc.py."), self.config.task) for n in range(2)]


__all__ = ["RepairTaskset"]
