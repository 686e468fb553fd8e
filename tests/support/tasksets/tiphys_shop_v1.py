"""A taskset with a tool server, as verifiers' scaffold writes one (--add-tool)."""
import verifiers.v1 as vf


class ShopToolset(vf.Toolset[vf.ToolsetConfig]):
    TOOL_PREFIX = "shop"
    @vf.tool
    def price(self, thing: str) -> str:
        """The price of a thing."""
        return {"pen": "3"}.get(thing, "There is none.")

class ShopData(vf.TaskData):
    answer: str

class ShopTaskConfig(vf.TaskConfig):
    tools: vf.ToolsetConfig = vf.ToolsetConfig()

class ShopTask(vf.Task[ShopData, vf.State, ShopTaskConfig]):
    @classmethod
    def toolsets(cls, config):
        return [ShopToolset(config.tools)]
    @vf.reward(weight=0.5)
    async def right(self, task, trace) -> float:
        return float(task.answer == (trace.last_reply or ""))
    @vf.reward(weight=0.5)
    async def looked(self, trace) -> float:
        return float(any(m.role == "tool" for m in trace.messages))

class ShopConfig(vf.TasksetConfig):
    task: ShopTaskConfig = ShopTaskConfig()

class ShopTaskset(vf.Taskset[ShopTask, ShopConfig]):
    def load(self):
        return [ShopTask(ShopData(prompt="What does a pen cost?", answer="3"), self.config.task)]
__all__ = ["ShopTaskset"]
if __name__ == "__main__":
    ShopToolset.run()
