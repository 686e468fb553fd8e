"""Environments of verifiers' older interface: one answer, a tool, a conversation."""
import verifiers as vf
from datasets import Dataset


async def price(thing: str) -> str:
    """What a thing costs.

    Args:
        thing: its name
    """
    return {"pen": "3"}[thing]


class Guess(vf.MultiTurnEnv):
    async def env_response(self, messages, state, **kwargs):
        said = int(messages[-1]["content"])
        if said == int(state["answer"]):
            state["won"] = True
        return [{"role": "user", "content": "Higher." if said < int(state["answer"]) else "Lower."}]

    @vf.stop
    async def is_won(self, state, **kwargs):
        return bool(state["trajectory"]) and state["trajectory"][-1]["completion"][-1]["content"] == state["answer"]


def load_environment(kind: str = "single"):
    rows = Dataset.from_list([{"question": f"What does a pen cost, {n}?", "answer": "3"} for n in range(2)])

    async def exact(completion, answer, **kwargs):
        return float(completion[-1]["content"] == answer)

    rubric = vf.Rubric(funcs=[exact])
    if kind == "tool":
        return vf.ToolEnv(dataset=rows, rubric=rubric, tools=[price], max_turns=4)
    if kind == "turns":
        return Guess(dataset=rows, rubric=rubric, max_turns=4)
    if kind == "eval":
        return vf.SingleTurnEnv(eval_dataset=rows, rubric=rubric, system_prompt="Be brief.")
    if kind == "broken":
        def broken(**kwargs):
            raise KeyError("no such file")
        return vf.SingleTurnEnv(dataset=rows, rubric=vf.Rubric(funcs=[broken]))
    return vf.SingleTurnEnv(dataset=rows, rubric=rubric)
