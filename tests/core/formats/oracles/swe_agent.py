"""SWE-agent by its docs/usage/trajectories.md: `trajectory` and `history`, or `history` alone."""

from support.oracle import Out, Step, arguments, lines

TITLE = "SWE-agent trajectory"
OWN = {"open", "goto", "scroll_up", "scroll_down", "create", "edit", "insert", "find_file", "search_dir", "search_file",
       "str_replace_editor", "filemap", "view", "submit"}


def words(content):
    return content if isinstance(content, str) else "\n".join(p.get("text", "") for p in content or [])


def message(m):
    role = {"assistant": "assistant", "system": "system", "tool": "tool"}.get(m["role"], "user")
    return role, words(m.get("content")), tuple(c["function"]["name"] for c in m.get("tool_calls") or [])


def certain(told, done):
    """{place in done: place in told}: the pairs that all ways have in which `told` lies in `done`, by counting ways;
    as far as both begin alike where there is no way."""
    def ways(a, b):
        rows = [[1] * (len(b) + 1)]
        for one in a:
            row = [0]
            for n, other in enumerate(b):
                row.append(row[n] + (rows[-1][n] if one == other else 0))
            rows.append(row)
        return rows

    ahead, back = ways(told, done), ways(told[::-1], done[::-1])
    total = ahead[-1][-1]
    if not total:
        alike = next((n for n, pair in enumerate(zip(told, done, strict=False)) if pair[0] != pair[1]), len(done))
        return {n: n for n in range(alike)}
    return {m: n for n in range(len(told)) for m in range(len(done)) if told[n] == done[m]
            and ahead[n][m] * back[len(told) - n - 1][len(done) - m - 1] == total}


def sessions(path):
    (run,) = lines(path)
    history = [m for m in run.get("history") or [] if not m.get("is_demo")]
    spoken = [n for n, m in enumerate(history) if m["role"] == "assistant"]
    steps = run.get("trajectory") or [
        {"thought": history[n].get("thought", ""), "action": history[n].get("action", ""),
         "response": words(history[n].get("content")),
         "observation": words(history[n + 1].get("content")) if n + 1 < len(history) and history[n + 1]["role"] in (
             "user", "tool") else None} for n in spoken]
    told, done = [history[n].get("action", "") for n in spoken], [step.get("action") for step in steps]
    sure = certain(told, done) if told != done[:len(told)] else {n: n for n in range(len(told))}
    places = [spoken[sure[n]] if n in sure else None for n in range(len(steps))]
    matched = [p for p in places if p is not None]
    if len(matched) == len(spoken) == len(steps) - 1 and history[-1]["role"] != "assistant":
        places[-1] = len(history)
    found = []
    for step, place in zip(steps, places, strict=True):
        own = history[place] if place is not None and place < len(history) else {}
        native = [(c["function"]["name"], arguments(c["function"]["arguments"])) for c in own.get("tool_calls") or []]
        command = step.get("action") or ""
        name = command.split()[0] if command.strip() else ""
        calls = native or ([(name if name in OWN else "command", {"command": command})] if name else [])
        thought = step.get("thought") or ("" if calls else step.get("response") or "")
        context = [message(m) for m in step["query"]] if step.get("query") else (
            [] if place is None else [message(m) for m in history[:place]])
        seen = step.get("observation")
        found.append(Step(text=thought, calls=calls, outs=[Out(text=seen)] if isinstance(seen, str) else [],
                          context=context))
    return [found] if found else []
