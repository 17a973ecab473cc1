import base64, importlib, importlib.util, inspect, json, os, pathlib, sys, traceback

asked, answers = os.fdopen(os.dup(0), "r", encoding="utf-8"), os.fdopen(os.dup(1), "w", encoding="utf-8")
os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
os.dup2(2, 1)
sys.path[0:1] = sys.argv[1:]
sys.argv = [os.path.join(sys.path[0], "hydraconf-resolvers")]
sys.dont_write_bytecode = True
FUNCTIONS, REGISTERED, WATCHED = {}, {}, []


def take(encoded):
    if not isinstance(encoded, dict):
        return encoded
    (kind, value), = encoded.items()
    if kind == "l":
        return [take(one) for one in value]
    if kind == "m":
        return {take(key): take(one) for key, one in value}
    return {"i": int, "f": float, "b": base64.b64decode, "p": pathlib.Path}[kind](value)


def argument(encoded):
    value = take(encoded)
    if isinstance(value, (list, dict)):
        try:
            from omegaconf import OmegaConf
        except ImportError:
            return value
        return OmegaConf.create(value)
    return value


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


def watch():
    """Keeps what modules register while they are imported; their programs do not run."""
    try:
        import hydra
        import hydra.main
        sys.modules["hydra.main"].main = hydra.main = lambda *args, **kwargs: lambda task: lambda *more, **others: None
    except ImportError:
        pass
    try:
        from omegaconf import OmegaConf
    except ImportError:
        return
    register = OmegaConf.register_new_resolver

    def kept(name, resolver, *args, **kwargs):
        REGISTERED.setdefault(name, resolver)
        return register(name, resolver, *args, **kwargs)

    OmegaConf.register_new_resolver = staticmethod(kept)


def is_module(path):
    try:
        return importlib.util.find_spec(path) is not None
    except (ImportError, ValueError):
        return False


def find(name, path):
    if not WATCHED:
        WATCHED.append(watch())
    if is_module(path):
        importlib.import_module(path)
        if name not in REGISTERED:
            raise LookupError("the module %s registers no resolver '%s'; write python:MODULE.FUNCTION" % (path, name))
        return REGISTERED[name]
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


def call(name, path, args):
    if (name, path) not in FUNCTIONS:
        FUNCTIONS[name, path] = find(name, path)
    function = FUNCTIONS[name, path]
    try:
        special = [one for one in inspect.signature(function).parameters if one in ("_parent_", "_root_", "_node_")]
    except (TypeError, ValueError):
        special = []
    if special:
        raise TypeError("it asks for %s, which only the program itself has" % special[0])
    return encode(function(*[argument(one) for one in args]))


def failure(raised):
    frames = [one for one in traceback.extract_tb(raised.__traceback__) if one.filename != "<string>" and "importlib" not in one.filename]
    own = [one for one in frames if "/site-packages/" not in one.filename] or frames
    text = traceback.format_exception_only(type(raised), raised)[-1].strip().split("\n")[0]
    return {"error": text, "file": own[-1].filename if own else None, "line": own[-1].lineno if own else None}


for line in asked:
    try:
        answer = {"value": call(*json.loads(line))}
    except BaseException as raised:
        answer = failure(raised)
    answers.write(json.dumps(answer) + "\n")
    answers.flush()
