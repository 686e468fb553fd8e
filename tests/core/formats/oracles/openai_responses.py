"""OpenAI's Responses by its SDK's types: `Response.output`, and the items of a request's `input`."""


from support.oracle import Out, Talk, arguments, lines

TITLE = "OpenAI Responses"


def words(item):
    content = item.get("content")
    return content if isinstance(content, str) else "\n".join(
        p.get("text") or f"[{p.get('type') or 'part'}]" for p in content or [])


def out(item):
    raw = item.get("output")
    return Out(text=raw if isinstance(raw, str) else words({"content": raw}))


def step(talk, items, outs, response):
    called = [i for i in items if (i.get("type") or "").endswith("_call")]
    calls = [(i.get("name") or i["type"].removesuffix("_call"), arguments(i.get("arguments", i.get("action", {}))))
             for i in called]
    thought = "\n".join(p.get("text") or "" for i in items if i.get("type") == "reasoning"
                        for p in [*(i.get("summary") or []), *(i.get("content") or [])])
    text = "\n".join(words(i) for i in items if i.get("type", "message") == "message")
    used = response.get("usage") or {}
    talk.step(f"{thought}\n{text}", calls, [out(o) for o in outs], answer=text,
              tokens=(used.get("input_tokens"), used.get("output_tokens")))


def sessions(path):
    talk, found = Talk(), lines(path)
    if isinstance(found[0].get("data"), list):
        rounds = [(found[0]["data"], None)]
    else:
        rounds = [((r.get("request") or {}).get("input") or [], r["response"]) for r in found]
        talk.say("system", rounds[0][1]["instructions"])
    items, outs, response = [], [], {}
    for given, answer in rounds:
        given = [{"role": "user", "content": given}] if isinstance(given, str) else given
        for item in given:
            if (item.get("type") or "").endswith("_output"):
                outs.append(item)
            elif item.get("role") == "user":
                if items:
                    step(talk, items, outs, response)
                items, outs = [], []
                talk.say("user", words(item))
            else:
                if outs:
                    step(talk, items, outs, response)
                    items, outs = [], []
                items.append(item)
        if answer is not None:
            if items:
                step(talk, items, outs, response)
            items, outs, response = list(answer["output"]), [], answer
    step(talk, items, outs, response)
    return [talk.steps]
