"""The launchers, sweepers and keys of hydraconf in programs of Python's Hydra: hydra_plugins.hydraconf.

`hydraconf run` runs sweeps with them. A program that is started without it composes configs that name them, and says
at a sweep which command runs it. Nothing is changed for a composition that Hydra accepts: only one that it refuses for
lack of such an option or key is done again with that, so dumps and saved configs of all others are Hydra's own.
"""
import contextlib
import dataclasses
import functools
import gc
import importlib
import importlib.util
import json
import os
import shlex
import sys
import typing

from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra.core.config_store import ConfigStore
from hydra.core.plugins import Plugins
from hydra.errors import CompactHydraException
from hydra.types import RunMode
from omegaconf import OmegaConf

SCALARS = {"int": int, "float": float, "bool": bool, "str": str}


class Options:
    """The options in the file beside this one, by path: `hydra/launcher/local`."""

    def __init__(self, told):
        self.classes = told["classes"]
        self.entries = told["entries"]
        self.made = {}

    def node(self, path):
        node = self.entries[path]["node"]
        return OmegaConf.create(node) if isinstance(node, str) else self.value(node)

    def own(self, path):
        """The values of the option itself, by key."""
        node = self.entries[path]["node"]
        return dict(node.get("m", [])) if isinstance(node, dict) else {}

    def target(self, path):
        return self.own(path).get("_target_", {}).get("v")

    def class_told(self, path):
        node = self.entries[path]["node"]
        id_ = node["t"].get("class") if isinstance(node, dict) else None
        return self.classes.get(id_, {"name": None, "fields": {}})

    def keys(self, path):
        """The types of the keys that the option may have only with hydraconf, which are absent where none is set."""
        fields = self.class_told(path)["fields"]
        return {key: type_ for key, type_ in fields.items() if key not in self.own(path)}

    def hint(self, type_):
        kind = type_["kind"]
        if kind == "object":
            known = self.dataclass(type_["class"])
        elif kind == "list":
            known = typing.List[self.hint(type_["element"])]
        elif kind == "map":
            known = typing.Dict[self.hint(type_["key"]), self.hint(type_["element"])]
        else:
            known = SCALARS.get(kind, typing.Any)
        return typing.Optional[known] if type_.get("optional") else known

    def dataclass(self, id_):
        if id_ not in self.made:
            told = self.classes[id_]
            known = [one for one in told["bases"] if one in self.classes]
            bases = tuple(self.dataclass(one) for one in known)
            self.made[id_] = self.with_fields(told, told["defaults"], bases)
        return self.made[id_]

    def with_fields(self, told, defaults, bases):
        fields = [(key, self.hint(told["fields"][key]), self.field(node)) for key, node in defaults.items()]
        return dataclasses.make_dataclass(told["name"], fields, bases=bases)

    def field(self, node):
        return dataclasses.field(default_factory=lambda: self.value(node))

    def value(self, node):
        if node["t"]["kind"] == "object" and "m" in node:
            id_ = node["t"]["class"]
            told, values = self.classes[id_], dict(node["m"])
            more = {key: values[key] for key in values if key not in told["defaults"]}
            return (self.with_fields(told, more, (self.dataclass(id_),)) if more else self.dataclass(id_))()
        if "m" in node:
            return {scalar(key): self.value(one) for key, one in node["m"]}
        if "l" in node:
            return [self.value(one) for one in node["l"]]
        return scalar(node["v"])

    def extended(self, path, cls, keys):
        """A class of Hydra's with further keys."""
        fields = [(key, typing.Optional[self.hint(self.keys(path)[key])], None) for key in keys]
        return dataclasses.make_dataclass(cls.__name__, fields, bases=(cls,))


def scalar(value):
    if not isinstance(value, dict):
        return value
    (kind, text), = value.items()
    return {"int": int, "float": float}.get(kind, str)(text)


def read_options():
    with open(os.path.join(os.path.dirname(__file__), "options.json"), encoding="utf-8") as file:
        return Options(json.load(file))


def chain(error):
    seen = []
    while error is not None and error not in seen:
        seen.append(error)
        error = error.__cause__ or error.__context__
    return seen


class Additions:
    """What one composition needs in the store of configs beside Hydra's own: options, and keys of options."""

    def __init__(self, options):
        self.options = options
        self.paths = []
        self.keys = {}

    def take(self, error):
        """Whether the error says that something lacks which hydraconf has."""
        return any(self.take_option(one) or self.take_key(one) for one in chain(error))

    def take_option(self, error):
        path = getattr(error, "missing_cfg_file", None)
        if path in self.paths or not self.options.entries.get(path, {}).get("provided"):
            return False
        self.paths.append(path)
        return True

    def take_key(self, error):
        key, cls = getattr(error, "key", None), getattr(error, "object_type", None)
        for path in self.options.entries:
            taken = self.keys.setdefault(path, [])
            is_of_option = getattr(cls, "__name__", None) == self.options.class_told(path)["name"]
            if is_of_option and key in self.options.keys(path) and key not in taken:
                taken.append(key)
                return True
        return False

    @contextlib.contextmanager
    def stored(self):
        store = ConfigStore.instance()
        before = store.repo
        store.repo = folders(before)
        try:
            for path in self.paths:
                put(store, path, self.options.node(path), self.options.entries[path]["package"], "hydraconf")
            for path, keys in self.keys.items():
                known = find(store.repo, path)
                if keys and known is not None:
                    cls = self.options.extended(path, OmegaConf.get_type(known.node), keys)
                    put(store, path, cls, known.package, known.provider)
            yield
        finally:
            store.repo = before


def folders(repo):
    return {name: folders(one) if isinstance(one, dict) else one for name, one in repo.items()}


def find(repo, path):
    *groups, name = path.split("/")
    for group in groups:
        repo = repo.get(group, {})
    return repo.get(name + ".yaml")


def put(store, path, node, package, provider):
    group, _, name = path.rpartition("/")
    store.store(group=group or None, name=name, node=node, package=package, provider=provider)


def composing(method):
    """The method, repeated with what a composition turns out to need."""

    def compose(self, *args, **kwargs):
        additions = None
        while True:
            try:
                if additions is None:
                    return method(self, *args, **kwargs)
                with additions.stored():
                    return method(self, *args, **kwargs)
            except Exception as error:
                additions = additions or Additions(read_options())
                if not additions.take(error):
                    raise

    return compose


def launching(method):
    """The method, which makes launchers and sweepers, with a refusal of those that only hydraconf has."""

    def instantiate(self, config, *args, **kwargs):
        refuse(config)
        return method(self, config, *args, **kwargs)

    return instantiate


def refuse(config):
    target = config.get("_target_")
    options = read_options()
    for path in options.entries:
        keys = [key for key in options.keys(path) if key in config]
        if options.target(path) != target or (Plugins.is_in_toplevel_plugins_module(str(target)) and not keys):
            continue
        group, name = path.rsplit("/", 1)
        what = " and ".join("%s.%s" % (group.replace("/", "."), key) for key in keys) or "%s=%s" % (group, name)
        raise CompactHydraException(
            "%s is of hydraconf, which runs this sweep:\n\n  hydraconf run -- %s\n" % (what, typed())
        )


def typed():
    words = getattr(sys, "orig_argv", None) or [sys.executable] + sys.argv
    return " ".join(shlex.quote(word) for word in [os.path.basename(words[0])] + words[1:])


def checking(method):
    """Composes, instead of what was asked, the jobs of a sweep that has not begun, and tells how that ended."""

    def compose(self, config_name, overrides, run_mode, *args, **kwargs):
        with open(os.environ["HYDRACONF_CHECK"], encoding="utf-8") as file:
            asked = json.load(file)
        problems = []
        # Compositions make many objects that stay: the collector looks at them less often, and not at those of the imports.
        gc.freeze()
        gc.set_threshold(20_000)
        importlib.import_module("hydraconf_compositions").Compositions(True).install()
        for job in asked["jobs"]:
            try:
                config = method(self, config_name, list(job["overrides"]), RunMode.RUN, *args, **kwargs)
            except Exception as error:
                missing = [getattr(one, "missing_cfg_file", None) for one in chain(error)]
                problems.append(
                    {
                        "number": job["number"],
                        "message": shown(error),
                        "option": next((one for one in missing if one), None),
                    }
                )
                continue
            problems.extend({"number": job["number"], "module": module, "key": key} for module, key in lacking(config))
        with open(asked["report"] + ".new", "w", encoding="utf-8") as file:
            json.dump({"python": sys.executable, "problems": problems}, file)
        os.replace(asked["report"] + ".new", asked["report"])
        raise SystemExit(0)

    return compose


def shown(error):
    """The error without what follows in paragraphs of their own, and its cause, as Hydra prints it."""
    text = str(error).strip().split("\n\n")[0]
    cause = str(error.__cause__ or "").strip().split("\n")[0]
    return ": ".join([text] * bool(text) + [cause] * (cause not in text)) or type(error).__name__


def lacking(config):
    """Modules that the logs and callbacks of a job name, and that are not there."""
    for part in ("job_logging", "callbacks"):
        node = OmegaConf.select(config, "hydra." + part)
        if not OmegaConf.is_dict(node):
            continue
        for key, name in classes(OmegaConf.to_container(node, resolve=False), "hydra." + part):
            module = name.split("://")[-1].split(".")[0]
            if module.isidentifier() and not is_there(module):
                yield module, key


def classes(node, key):
    if isinstance(node, dict):
        for name, value in node.items():
            if name in ("()", "class", "_target_") and isinstance(value, str):
                yield "%s.%s" % (key, name), value
            else:
                yield from classes(value, "%s.%s" % (key, name))


def is_there(module):
    if module in sys.modules:
        return True
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False


def install():
    """Hydra imports the module twice."""
    load = (lambda method: checking(composing(method))) if os.environ.get("HYDRACONF_CHECK") else composing
    # Hydra 1.4 composes a job with the second.
    for name in ("load_configuration", "_load_configuration_with_active_repository"):
        wrap(ConfigLoaderImpl, name, load)
    wrap(ConfigLoaderImpl, "compute_defaults_list", composing)
    wrap(Plugins, "_instantiate", launching)


def wrap(cls, name, wrapper):
    method = getattr(cls, name, None)
    if method is None or hasattr(method, "of_hydraconf"):
        return
    wrapped = functools.wraps(method)(wrapper(method))
    wrapped.of_hydraconf = True
    setattr(cls, name, wrapped)


install()
