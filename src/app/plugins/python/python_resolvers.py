import importlib.util, inspect

FUNCTIONS, REGISTERED, WATCHED = {}, {}, []


def argument(encoded):
    value = take(encoded)
    if isinstance(value, (list, dict)):
        try:
            from omegaconf import OmegaConf
        except ImportError:
            return value
        return OmegaConf.create(value)
    return value


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
    return named(path)


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


serve(lambda question: call(*question))
