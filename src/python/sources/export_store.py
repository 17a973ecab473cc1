"""Writes what a project's ConfigStore holds as JSON (hydraconf python sync)."""
import ast
import base64
import enum
import hashlib
import importlib
import importlib.util
import json
import os
import pathlib
import re
import sys
import traceback
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
PROBLEMS = []
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
        except Exception as error:
            # Hydra, too, fails only where something is put there.
            PROBLEMS.append(problem(cls, error))
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


def problem(cls, error):
    """An error in the declaration of a class, with the place of the field."""
    key = str(getattr(error, "full_key", None) or "")
    field = re.split(r"[.\[]", key)[0] or unknown_name(cls)
    told = {"class": cls.__qualname__, "field": field, "message": one_line(error)}
    return dict(declaration(source_of(cls), cls.__name__, field), **told)


def source_of(cls):
    """None for a class without a source. A module that failed is no longer among those that are loaded."""
    file = getattr(sys.modules.get(cls.__module__), "__file__", None)
    try:
        return file or importlib.util.find_spec(cls.__module__).origin
    except (AttributeError, ImportError, ValueError):
        return None


def declaration(file, name, field, at=None):
    """The place of a field, or of the class, in a source; `at` is a line of the class' head, if its name is not unique."""
    try:
        with open(file, encoding="utf-8") as source:
            tree = ast.parse(source.read())
    except (OSError, SyntaxError, TypeError, ValueError):
        return {}
    for node in ast.walk(tree):
        if not isinstance(node, ast.ClassDef) or name not in (None, node.name):
            continue
        head = min([node.lineno, *(one.lineno for one in node.decorator_list)])
        if at is not None and not head <= at <= node.lineno:
            continue
        fields = {getattr(getattr(one, "target", None), "id", None): one.lineno for one in node.body}
        return {"class": node.name, "file": os.path.abspath(file), "line": fields.get(field, node.lineno)}
    return {}


def one_line(error):
    return "%s: %s" % (type(error).__name__, str(error).split("\n")[0])


def unknown_name(cls):
    """The first field whose annotation is a text that names nothing."""
    for one in cls.__mro__:
        module = sys.modules.get(one.__module__)
        for field, hint in vars(one).get("__annotations__", {}).items():
            try:
                if isinstance(hint, str):
                    eval(hint, vars(module), dict(vars(one)))
            except Exception:
                return field
    return None


def classes_in(hint, found):
    """The structured configs in a type, those in their fields first."""
    for one in typing.get_args(hint):
        classes_in(one, found)
    if not isinstance(hint, type) or not is_structured_config(hint) or hint in found:
        return
    found[hint] = None
    try:
        hints = typing.get_type_hints(hint)
    except Exception:
        hints = {}
    for one in hints.values():
        classes_in(one, found)
    found[hint] = found.pop(hint)


def invalid(error):
    """The class that makes a module's error; None for an error of another kind."""
    if hasattr(error, STORED):
        node = getattr(error, STORED)
        found = {}
        classes_in(node if isinstance(node, type) else type(node), found)
        for cls in [*found, node]:
            try:
                OmegaConf.structured(cls)
            except Exception as own:
                return problem(cls if isinstance(cls, type) else type(cls), own)
    cls = getattr(error, "object_type", None)
    if isinstance(cls, type) and is_structured_config(cls):
        return problem(cls, error)
    return undefined_class(error)


def undefined_class(error):
    """The class that `@dataclass` refuses: it does not exist, so its source is searched."""
    frames = traceback.extract_tb(error.__traceback__)
    if not frames or os.path.basename(frames[-1].filename) != "dataclasses.py":
        return None
    frame = next((one for one in reversed(frames) if one.filename != frames[-1].filename), None)
    named = re.search(r"field '?(\w+)|argument '?(\w+)", str(error))
    if frame is None or named is None:
        return None
    field = named.group(1) or named.group(2)
    place = declaration(frame.filename, None, field, frame.lineno)
    return dict(place, field=field, message=one_line(error)) if place else None


STORED = "_hydraconf_node"


def watch(store):
    """Notes in an error what was being registered."""
    before = store.store

    def noting(self, name, node, *args, **kwargs):
        try:
            return before(self, name, node, *args, **kwargs)
        except Exception as error:
            setattr(error, STORED, node)
            raise

    store.store = noting


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
    watch(ConfigStore)
    store = ConfigStore.instance()
    before = set(path for path, _ in paths(store.repo))
    known = dict(paths(store.repo))
    registered = {}
    for number, name in enumerate(MODULES):
        try:
            load(name, number)
        except Exception as error:
            told = invalid(error)
            if told is None:
                raise
            write({"invalid": told})
            sys.exit(1)
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
    if PROBLEMS:
        told["problems"] = PROBLEMS
    write(told)


def write(told):
    with open(OUTPUT, "w", encoding="utf-8") as file:
        json.dump(told, file, indent=1, sort_keys=False)


main()
