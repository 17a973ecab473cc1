"""Shares between the compositions of a process what Hydra makes of the same choices (hydraconf run).

Hydra composes a job in three steps: a defaults list, a config of what that names, and the overrides of values, which it applies to
that config. The first two are the same for jobs that choose the same options of groups.
"""
import copy
import importlib
import importlib.util
import os

# More files than these take longer to look at than a composition.
MOST_FILES = 500
MOST_KEPT = 16
ASKED = {"repo", "config_name", "overrides_list", "prepend_hydra", "skip_missing"}


class Composition:
    def __init__(self, listed, store):
        self.listed = listed
        # Known by its identity, which is its own as long as it lives.
        self.store = store
        self.config = None


class Compositions:
    def __init__(self, is_at_once):
        """`is_at_once`: all compositions are of one moment, so no file can have changed between them."""
        self.is_at_once = is_at_once
        self.known = {}
        # Whether the next ones are kept.
        self.is_open = True
        # Then the next one is the last: what a task composes itself, perhaps of a ConfigStore that it has changed, is its own.
        self.is_of_job = False

    def install(self):
        """Does nothing in a version of Hydra that composes otherwise."""
        try:
            loader = importlib.import_module("hydra._internal.config_loader_impl")
            lists = importlib.import_module("hydra._internal.defaults_list")
        except ImportError:
            return
        cls = loader.ConfigLoaderImpl
        create = getattr(loader, "create_defaults_list", None)
        compose = getattr(cls, "_compose_config_from_defaults_list", None)
        parts = getattr(lists, "Overrides", None), getattr(lists, "DefaultsList", None)
        if None in (create, compose, *parts):
            return
        overrides_of, list_of = parts

        def create_defaults_list(*args, **asked):
            overrides, key = None, None
            if not args and set(asked) == ASKED:
                try:
                    overrides = overrides_of(repo=asked["repo"], overrides_list=asked["overrides_list"])
                    key = self.key(asked, overrides)
                except Exception:
                    # Hydra says so itself.
                    pass
            if key in self.known:
                listed = self.known[key].listed
                return list_of(
                    defaults=listed.defaults,
                    config_overrides=overrides.config_overrides,
                    defaults_tree=listed.defaults_tree,
                    overrides=listed.overrides,
                )
            listed = create(*args, **asked)
            if key is not None and self.is_open and len(self.known) < MOST_KEPT:
                self.known[key] = Composition(listed, store())
            return listed

        def compose_config(self_, defaults, repo):
            if self.is_of_job:
                loader.create_defaults_list = create
                cls._compose_config_from_defaults_list = compose
            one = next((one for one in self.known.values() if one.listed.defaults is defaults), None)
            if one is not None and one.config is not None:
                return copy.deepcopy(one.config)
            config = compose(self_, defaults=defaults, repo=repo)
            if one is not None:
                one.config = copy.deepcopy(config)
            return config

        loader.create_defaults_list = create_defaults_list
        cls._compose_config_from_defaults_list = compose_config

    def forget(self, count):
        """All but the first `count`."""
        self.known = dict(list(self.known.items())[:count])

    def key(self, asked, overrides):
        """What the first two steps depend on; None if that is not known."""
        sources = sources_of(asked["repo"])
        files = () if self.is_at_once else files_of(sources)
        if files is None:
            return None
        values = {id(one) for one in overrides.config_overrides}
        choices = [one.input_line for one in asked["overrides_list"] if id(one) not in values]
        own = asked["config_name"], asked["prepend_hydra"], asked["skip_missing"]
        return (os.getcwd(), id(store()), *own, tuple(sources), tuple(choices), files)


def store():
    return importlib.import_module("hydra.core.config_store").ConfigStore.instance().repo


def sources_of(repository):
    return [(one.provider, one.scheme(), one.path) for one in repository.get_sources()]


def files_of(sources):
    """The files in the folders of sources, as they are now; None where there are too many, or not all are known."""
    found = []
    for _, scheme, path in sources:
        if scheme == "structured" or (scheme, path) == ("pkg", "hydra.conf"):
            continue
        if scheme == "file":
            folders = [path]
        elif scheme == "pkg":
            spec = importlib.util.find_spec(path.replace("/", "."))
            folders = list(spec.submodule_search_locations or []) if spec is not None else []
        else:
            return None
        for folder in folders:
            for place, inner, names in os.walk(folder):
                if len(found) + len(names) > MOST_FILES or any(os.path.islink(os.path.join(place, one)) for one in inner):
                    return None
                for name in names:
                    status = os.stat(os.path.join(place, name))
                    found.append((place, name, status.st_mtime_ns, status.st_size, status.st_ino))
    return tuple(sorted(found))
