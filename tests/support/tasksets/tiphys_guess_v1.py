"""A conversation: the environment is the user, and steps between the turns."""
import verifiers.v1 as vf


class GuessData(vf.TaskData):
    number: int

class GuessTask(vf.Task[GuessData, vf.State, vf.TaskConfig]):
    pass

class GuessTaskset(vf.Taskset[GuessTask, vf.TasksetConfig]):
    INFINITE = True
    def load(self):
        n = 0
        while True:
            yield GuessTask(GuessData(prompt="Guess a number.", number=n % 10), self.config.task)
            n += 1

class GuessEnvConfig(vf.EnvConfig):
    player: vf.AgentConfig = vf.AgentConfig()

class GuessEnv(vf.Env[GuessEnvConfig]):
    async def run(self, task, agents):
        won = 0.0
        async with agents.player.interaction(task) as interaction:
            segment = await interaction.turn()
            while not segment.terminated:
                if segment.last_reply == "hang":
                    while True:
                        pass
                if int(segment.last_reply) == task.data.number:
                    won = 1.0
                    break
                segment = await interaction.turn("Higher." if int(segment.last_reply) < task.data.number else "Lower.")
        interaction.trace.record_reward("won", won, 1.0)
__all__ = ["GuessEnv", "GuessTaskset"]
