import base64, importlib, json, os, pathlib, sys, traceback

asked, answers = os.fdopen(os.dup(0), "r", encoding="utf-8"), os.fdopen(os.dup(1), "w", encoding="utf-8")
os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
os.dup2(2, 1)
sys.path[0:1] = sys.argv[1:]
sys.argv = [os.path.join(sys.path[0] if sys.path else "", "hydraconf")]
sys.dont_write_bytecode = True


def take(encoded):
    if not isinstance(encoded, dict):
        return encoded
    (kind, value), = encoded.items()
    if kind == "l":
        return [take(one) for one in value]
    if kind == "m":
        return {take(key): take(one) for key, one in value}
    return {"i": int, "f": float, "b": base64.b64decode, "p": pathlib.Path}[kind](value)


def encode(value):
    if value is None or isinstance(value, (bool, str)):
        return value
    if type(value).__module__.startswith("omegaconf"):
        from omegaconf import OmegaConf
        value = OmegaConf.to_container(value, resolve=True)
    if isinstance(value, int):
        return {"i": str(int(value))}
    if isinstance(value, float):
        return {"f": repr(float(value))}
    if isinstance(value, bytes):
        return {"b": base64.b64encode(value).decode()}
    if isinstance(value, pathlib.PurePath):
        return {"p": str(value)}
    if isinstance(value, (list, tuple)):
        return {"l": [encode(one) for one in value]}
    if isinstance(value, dict):
        return {"m": [[encode(key), encode(one)] for key, one in value.items()]}
    raise TypeError("it returned %s.%s, which no config can hold" % (type(value).__module__, type(value).__qualname__))


def named(path):
    """What a dotted path names: a part of the longest module that it begins with."""
    parts = path.split(".")
    for count in range(max(1, len(parts) - 1), 0, -1):
        module = ".".join(parts[:count])
        try:
            found = importlib.import_module(module)
            break
        except ModuleNotFoundError as error:
            if count == 1 or error.name is None or not (module + ".").startswith(error.name + "."):
                raise
    for part in parts[count:]:
        found = getattr(found, part)
    return found


def failure(raised):
    frames = [one for one in traceback.extract_tb(raised.__traceback__) if one.filename != "<string>" and "importlib" not in one.filename]
    own = [one for one in frames if "/site-packages/" not in one.filename] or frames
    text = traceback.format_exception_only(type(raised), raised)[-1].strip().split("\n")[0]
    return {"error": text, "file": own[-1].filename if own else None, "line": own[-1].lineno if own else None}


def serve(answer):
    for line in asked:
        try:
            reply = {"value": answer(json.loads(line))}
        except BaseException as raised:
            reply = failure(raised)
        answers.write(json.dumps(reply) + "\n")
        answers.flush()
