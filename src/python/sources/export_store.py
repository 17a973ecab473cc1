"""Writes what a project's ConfigStore holds as JSON (hydraconf python sync)."""
import base64
import enum
import hashlib
import importlib
import importlib.util
import json
import os
import pathlib
import sys
import typing

OUTPUT, ROOT, *MODULES = sys.argv[1:]
sys.path[0] = ROOT
sys.argv = [os.path.join(ROOT, "hydraconf-sync")]

import hydra
from hydra.core.config_store import ConfigStore
from omegaconf import DictConfig, ListConfig, OmegaConf
from omegaconf._utils import is_structured_config, get_structured_config_data


def idle(*args, **kwargs):
    """In the place of hydra.main: a module that calls its program when it is imported runs nothing."""
    return lambda task: lambda *more, **others: None


sys.modules["hydra.main"].main = idle
hydra.main = idle


def paths(repo, prefix=""):
    for name, node in sorted(repo.items()):
        if isinstance(node, dict):
            yield from paths(node, prefix + name + "/")
        else:
            yield prefix + name[: -len(".yaml")], node


def scalar(value):
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, enum.Enum):
        return value.name
    if isinstance(value, str):
        return str(value)
    if isinstance(value, int):
        return {"int": str(value)}
    if isinstance(value, float):
        known = {"inf": "Infinity", "-inf": "-Infinity", "nan": "NaN"}
        return {"float": known.get(repr(value), repr(value))}
    if isinstance(value, bytes):
        return {"bytes": base64.b64encode(value).decode()}
    if isinstance(value, pathlib.Path):
        return {"path": str(value)}
    return str(value)


CLASSES = {}
SIMPLE = {int: "int", float: "float", bool: "bool", str: "str", bytes: "bytes"}


def type_of(hint, optional=False):
    origin = typing.get_origin(hint)
    args = typing.get_args(hint)
    if origin is typing.Union or type(hint).__name__ == "UnionType":
        members = [one for one in args if one is not type(None)]
        optional = optional or len(members) < len(args)
        if len(members) == 1:
            return type_of(members[0], optional)
        return mark({"kind": "union", "members": [type_of(one) for one in members]}, optional)
    if hint in SIMPLE:
        return mark({"kind": SIMPLE[hint]}, optional)
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        members = list(hint)
        return mark(
            {
                "kind": "enum",
                "name": hint.__name__,
                "members": [one.name for one in members],
                "values": [scalar(one.value) for one in members],
            },
            optional,
        )
    if isinstance(hint, type) and issubclass(hint, pathlib.PurePath):
        return mark({"kind": "path"}, optional)
    if origin in (list, tuple) or hint in (list, tuple):
        element = args[0] if args and args[0] is not Ellipsis else typing.Any
        if origin is tuple and len(set(one for one in args if one is not Ellipsis)) > 1:
            element = typing.Any
        return mark({"kind": "list", "element": element_of(element)}, optional)
    if origin is dict or hint is dict:
        key, element = args if len(args) == 2 else (typing.Any, typing.Any)
        return mark({"kind": "map", "key": type_of(key), "element": element_of(element)}, optional)
    if isinstance(hint, type) and is_structured_config(hint):
        return mark({"kind": "object", "class": class_of(hint)}, optional)
    return {"kind": "any"}


def element_of(hint):
    return {"kind": "any"} if isinstance(hint, typing.TypeVar) else type_of(hint)


def mark(described, optional):
    return dict(described, optional=True) if optional else described


def class_of(cls):
    name = "%s.%s" % (cls.__module__, cls.__qualname__)
    if name not in CLASSES:
        described = CLASSES[name] = {
            "name": cls.__name__,
            "bases": [one.__name__ for one in cls.__mro__[1:] if one is not object and is_structured_config(one)],
            "fields": {},
            "defaults": {},
        }
        try:
            nodes = get_structured_config_data(cls, allow_objects=True)
        except Exception:
            nodes = {}
        for field, node in nodes.items():
            described["fields"][field] = node_type(node)
            described["defaults"][field] = tree(node)
    return name


def node_type(node):
    meta = node._metadata
    if isinstance(node, (DictConfig, ListConfig)):
        ref = meta.ref_type
        if isinstance(ref, type) and is_structured_config(ref):
            return mark({"kind": "object", "class": class_of(ref)}, meta.optional)
        if isinstance(node, DictConfig):
            if ref is typing.Any and meta.object_type is dict:
                return {"kind": "any"}
            described = {"kind": "map", "key": type_of(meta.key_type), "element": element_of(meta.element_type)}
        else:
            if ref is typing.Any:
                return {"kind": "any"}
            described = {"kind": "list", "element": element_of(meta.element_type)}
        return mark(described, meta.optional)
    return type_of(meta.ref_type, meta.optional)


def tree(node):
    described = node_type(node)
    value = node._value()
    if isinstance(node, DictConfig) and isinstance(value, dict):
        cls = node._metadata.object_type
        if isinstance(cls, type) and is_structured_config(cls):
            described = mark({"kind": "object", "class": class_of(cls)}, node._metadata.optional)
        entries = [[scalar(key), tree(one)] for key, one in value.items()]
        return {"t": described, "m": entries}
    if isinstance(node, ListConfig) and isinstance(value, list):
        return {"t": described, "l": [tree(one) for one in value]}
    while hasattr(value, "_value"):
        value = value._value()
    return {"t": described, "v": scalar(value)}


def load(name, number):
    if name.endswith(".py"):
        sys.path.insert(0, os.path.dirname(os.path.abspath(name)))
        spec = importlib.util.spec_from_file_location("__hydraconf_%d__" % number, name)
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
    else:
        importlib.import_module(name)


def entry(node):
    return {"package": node.package, "provider": node.provider, "node": tree(node.node)}


def main():
    store = ConfigStore.instance()
    before = set(path for path, _ in paths(store.repo))
    known = dict(paths(store.repo))
    registered = {}
    for number, name in enumerate(MODULES):
        load(name, number)
        for path, node in paths(store.repo):
            if path not in before and known.get(path) is not node:
                registered.setdefault(path, []).append((os.path.abspath(name), node))
        known = dict(paths(store.repo))
    entries = {}
    programs = {}
    for path, versions in registered.items():
        entries[path] = entry(versions[-1][1])
        if len(versions) > 1:
            for file, node in versions:
                programs.setdefault(file, {})[path] = entry(node)
    sources = {}
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if file and os.path.abspath(file).startswith(ROOT + os.sep) and "site-packages" not in file:
            status = os.stat(file)
            with open(file, "rb") as source:
                known = hashlib.sha256(source.read()).hexdigest()
            sources[os.path.relpath(file, ROOT)] = [status.st_mtime * 1000, status.st_size, known]
    told = {
        "version": 1,
        "hydra": hydra.__version__,
        "python": sys.executable,
        "modules": MODULES,
        "sources": sources,
        "classes": CLASSES,
        "entries": entries,
        "programs": programs,
    }
    with open(OUTPUT, "w", encoding="utf-8") as file:
        json.dump(told, file, indent=1, sort_keys=False)


main()
