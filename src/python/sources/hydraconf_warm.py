"""Imports a program of Hydra once, and forks a process for each of its jobs where it calls its task (hydraconf run).

    python hydraconf_warm.py SOCKET FORCED SCRIPT
    python hydraconf_warm.py SOCKET FORCED -m MODULE

The program runs as it would by itself, with the arguments and variables of its first job, up to the call of the function
that @hydra.main made. There this process tells whether a fork is safe, and waits for jobs, each a line of JSON. A forked
process goes on in the program with the arguments and variables of its job; what comes before is done once. Where a fork
is not safe, this process goes on as that of the first job: for that job nothing was done that a process of its own would not do.
Where that is not sure, it starts that process in its place.

FORCED: 1 for a fork whatever the import did. Then the import has no arguments and no variables of a job, which all would have.
"""
import atexit
import collections
import contextlib
import functools
import gc
import importlib
import importlib.machinery
import io
import json
import os
import random
import signal
import socket
import sys
import threading
import types
import warnings
import weakref

# Those that end a process and can be caught, and that of children.
SIGNALS = [signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2]
# The variables of a job, which no import may depend on.
OF_JOBS = ("HYDRACONF_JOB_", "HYDRACONF_OUTPUT_DIR", "HYDRACONF_RESULT", "HYDRACONF_METRICS", "HYDRACONF_CHECKPOINT")
# What an open GPU looks like.
DEVICES = ("/dev/nvidia", "/dev/kfd", "/dev/dri")
# How a library of OpenBLAS tells the size of its pool.
POOL_SIZES = ("openblas_get_num_threads", "openblas_get_num_threads64_", "scipy_openblas_get_num_threads64_")
# With what is common in overrides: the parsers of ANTLR learn letter by letter.
NAME = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
LETTERS = NAME + "0123456789"
OVERRIDES = [
    "hydra.job.name=%s-%s" % (LETTERS, LETTERS),
    "hydra.job.id='/%s=,.-:'" % LETTERS,
    "++x.%s=[1.5e-3,-1,true,null,%s,{a:1}]" % (NAME, NAME),
    "hydra.job.num=9876543210",
]


class Variables(type(os.environ)):
    """The environment, which notes what an import asks for that only a job has. A copy of the whole asks for nothing, and has nothing of it."""

    asked = []
    of_job = {}
    is_copied = False

    def __iter__(self):
        Variables.is_copied = True
        return super().__iter__()

    def __getitem__(self, name):
        if isinstance(name, str) and name.startswith(OF_JOBS):
            self.asked.append("reads $" + name)
            if name in self.of_job:
                return self.of_job[name]
        return super().__getitem__(name)


class Arguments(list):
    """`sys.argv`, which notes whether an import reads more than the program's name, or changes it."""

    asked = []

    def __bool__(self):
        return True

    def __radd__(self, words):
        # A list has none: without it a list before this one would not ask.
        return words + self[:]


def noting(name):
    """The method of a list that notes its use."""
    method = getattr(list, name)
    verb = "changes" if name in CHANGES else "reads"

    @functools.wraps(method)
    def note(self, *args, **kwargs):
        # The first word is the program's name, which runpy sets.
        if not (name in ("__getitem__", "__setitem__") and args and args[0] == 0):
            self.asked.append(verb + " the command line")
        return method(self, *args, **kwargs)

    return note


READS = ("__add__", "__contains__", "__eq__", "__ge__", "__getitem__", "__gt__", "__iter__", "__le__", "__len__")
READS += ("__lt__", "__mul__", "__ne__", "__reduce_ex__", "__repr__", "__reversed__", "__rmul__", "copy", "count", "index")
CHANGES = ("__delitem__", "__iadd__", "__imul__", "__setitem__", "append", "clear", "extend", "insert", "pop")
CHANGES += ("remove", "reverse", "sort")
for method_name in READS + CHANGES:
    setattr(Arguments, method_name, noting(method_name))


class Exits:
    """Notes what an import registers for the end of its process: the end of the first job would do it."""

    def __init__(self):
        self.noted = []
        self.register, self.unregister = atexit.register, atexit.unregister

    def open(self):
        def register(function, *args, **kwargs):
            self.noted.append((sys._getframe(1).f_globals.get("__name__"), function))
            return self.register(function, *args, **kwargs)

        def unregister(function):
            self.noted = [(by, one) for by, one in self.noted if one != function]
            return self.unregister(function)

        atexit.register, atexit.unregister = register, unregister

    def close(self):
        atexit.register, atexit.unregister = self.register, self.unregister

    def unsafe(self):
        """Why the end of a job would not be its own; None if it would. Libraries may tidy up what is theirs."""
        functions = [
            function
            for by, function in self.noted
            if owner(by) == "program" or (owner(by) == "library" and owner(module_of(function)) != "library")
        ]
        # Those of tempfile.TemporaryDirectory.
        for one in list(weakref.finalize._registry):
            entry = one.peek() if one.atexit else None
            if entry is not None and owner(module_of(entry[1])) != "library":
                functions.append(entry[1])
        if functions:
            name = getattr(functions[0], "__qualname__", type(functions[0]).__name__)
            return "the program registers %s() for its end while it is imported, which each job would call" % name
        closer = getattr(sys.modules.get("tempfile"), "_TemporaryFileCloser", None)
        for one in gc.get_objects() if closer is not None else []:
            if type(one) is closer and one.delete and not one.close_called:
                return "the program opens a temporary file while it is imported, which its first job would remove"
        return None


def module_of(function):
    """The name of the module of a function, method, partial or other callable; None if it is not known."""
    while isinstance(function, functools.partial):
        function = function.func
    name = getattr(function, "__module__", None)
    # A method of a type that is written in C.
    return name or getattr(type(getattr(function, "__self__", None)), "__module__", None)


def owner(name):
    """Whose module it is: that of `python`, of a `library` that is installed, or of the `program`."""
    main = getattr(sys.modules["__main__"], "__spec__", None)
    if name is None or name.split(".")[0] in ("__main__", main and main.name.split(".")[0]):
        return "program"
    module = sys.modules.get(name)
    if getattr(getattr(module, "__spec__", None), "origin", None) in ("built-in", "frozen"):
        return "python"
    path = getattr(module, "__file__", None) or ""
    if "site-packages" in path or "dist-packages" in path:
        return "library"
    return "python" if path.startswith(os.path.dirname(os.__file__) + os.sep) else "program"


class Watched:
    """Finds the module of Hydra in which its command line is read, and has that begin with `then`."""

    name = "hydra._internal.utils"

    def __init__(self, then, refuse):
        self.then = then
        self.refuse = refuse

    def find_spec(self, name, path=None, target=None):
        if name != self.name:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def exec_module(module):
                execute(module)
                self.wrap(module)

            spec.loader.exec_module = exec_module
        return spec

    def wrap(self, module):
        parser, runs = getattr(module, "get_args_parser", None), getattr(module, "_run_hydra", None)
        if parser is None or runs is None:
            self.refuse("this version of Hydra is not known")
            return

        def get_args_parser():
            self.then()
            return parser()

        @functools.wraps(runs)
        def run_hydra(*args, **kwargs):
            # Whatever that was, it is not the one of another job.
            self.refuse("the program reads its command line itself")
            return runs(*args, **kwargs)

        get_args_parser.parser = parser
        module.get_args_parser = get_args_parser
        module._run_hydra = run_hydra


class Server:
    def __init__(self, path, is_forced):
        self.path = path
        self.is_forced = is_forced
        # Whether this process is that of a job.
        self.is_job = False
        self.exits = Exits()
        self.cwd = os.getcwd()
        self.environment = dict(os.environ)
        self.rehearsal = None
        self.random = random.getstate()
        self.line = socket.socket(socket.AF_UNIX)
        self.line.connect(path)
        self.tell("line", 0)
        self.requests = self.line.makefile("r", encoding="utf-8")
        self.first = json.loads(self.requests.readline())

    def tell(self, *words):
        self.line.sendall((json.dumps(words) + "\n").encode())

    def serve(self):
        """Returns in the process of each job. This process ends here, unless it is one of these."""
        if self.is_job:
            return
        self.exits.close()
        problem = None if self.is_forced else unsafe() or self.exits.unsafe()
        if problem is None:
            self.rehearsal = rehearsal = prepare(self.first["args"])
            # Plugins of Hydra are modules, too.
            problem = None if self.is_forced else unsafe()
        if problem is not None:
            self.refuse(problem)
            return
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
        self.tell("ready", None)
        before = {one: signal.getsignal(one) for one in SIGNALS + [signal.SIGCHLD]}
        # Those that C has set are not known, and stay.
        before = {one: handler for one, handler in before.items() if handler is not None}
        for one in before:
            signal.signal(one, signal.SIG_DFL if one == signal.SIGCHLD else signal.SIG_IGN)
        gc.freeze()
        numbers = random.getstate()
        while True:
            text = self.requests.readline()
            if not text:
                break
            job = json.loads(text)
            if rehearsal is not None:
                rehearsal.expect(job["args"])
            # Until the job has its own handlers, signals wait.
            mask = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
            pid = fork()
            if pid == 0:
                try:
                    self.begin(job, before)
                    renew_random(None if numbers == self.random else numbers)
                except BaseException:
                    os._exit(1)
                signal.pthread_sigmask(signal.SIG_SETMASK, mask)
                return
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
            self.tell("begun", pid)
            # The process stays known until the next job: a late signal cannot reach another one.
            end = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
            self.tell("ended", end.si_status if end.si_code == os.CLD_EXITED else name_of(end.si_status))
            if not self.requests.readline():
                break
            os.waitpid(pid, 0)
        os._exit(0)

    def begin(self, job, before):
        """Makes this process, which was forked, that of a job."""
        streams = {}
        for target in job["streams"]:
            streams[target] = socket.socket(socket.AF_UNIX)
            streams[target].connect(self.path)
            streams[target].sendall((json.dumps(["stream", target]) + "\n").encode())
        self.become(job)
        for target, stream in streams.items():
            os.dup2(stream.fileno(), target)
            stream.close()
        sys.argv = [list.__getitem__(sys.argv, 0)] + job["args"]
        try:
            answer_mode(job["mode"])
        except Exception:
            # This version of Hydra asks otherwise.
            pass
        for one, handler in before.items():
            signal.signal(one, handler)

    def become(self, job):
        self.is_job = True
        self.exits.close()
        self.requests.close()
        self.line.close()
        os.environ.__class__ = Variables.__mro__[1]
        os.environ.update(job["env"])
        sys.orig_argv = job["argv"]
        if self.rehearsal is not None:
            self.rehearsal.compositions.is_of_job = True

    def doubt(self):
        """An import that failed for want of what a job has does not fail in the process of a job."""
        if self.is_forced and asked():
            self.refuse(asked())

    def refuse(self, reason):
        """This process, which is not to be forked, goes on as that of the first job, unless it is that of a job."""
        if self.is_job:
            return
        self.tell("ready", reason)
        if self.is_forced or Variables.is_copied:
            # Output that is not written yet is that of the new process, too.
            os.chdir(self.cwd)
            argv = self.first["argv"]
            os.execvpe(argv[0], argv, {**self.environment, **self.first["env"]})
        self.become(self.first)
        if type(sys.argv) is Arguments:
            sys.argv = list(sys.argv)


def name_of(number):
    return signal.Signals(number).name if number in set(signal.Signals) else "SIGKILL"


def renew_random(numbers):
    """Random numbers that no import has asked for differ from job to job, as they do from process to process.

    `numbers`: the state of Python's own generator, if an import has seeded or used it; Python has just renewed it.
    """
    if numbers is not None:
        random.setstate(numbers)
    numpy = sys.modules.get("numpy.random")
    if numpy is not None and is_pristine(numpy):
        numpy.seed()


def is_pristine(numpy):
    """Whether numpy's own generator is as numpy starts it (since 1.17): not seeded with numbers, and not used."""
    _, key, at = numpy.get_state()[:3]
    return at == 623 and int(key[0]) == 0x80000000


def prepare(args):
    """What Hydra does first in every job, and is the same in all of them. If it fails, it does so in the jobs.

    `args`: those of the first job
    """
    try:
        read_plugins()
        rehearsal = Rehearsal(args)
    except Exception:
        rehearsal = None
    try:
        if rehearsal is None or not rehearsal.compose(args):
            compose()
    except Exception:
        pass
    return rehearsal


def read_plugins():
    importlib.import_module("hydra._internal.hydra")
    importlib.import_module("hydra.core.plugins").Plugins.instance()


def compose():
    """Composes what every program has, to no other end than what Hydra, OmegaConf and ANTLR keep of it."""
    path = importlib.import_module("hydra._internal.config_search_path_impl").ConfigSearchPathImpl()
    path.append("hydra", "pkg://hydra.conf")
    path.append("schema", "structured://")
    load(loader(path), None, OVERRIDES)


def loader(path):
    return importlib.import_module("hydra._internal.config_loader_impl").ConfigLoaderImpl(path)


def load(of, name, overrides):
    of.load_configuration(name, overrides, importlib.import_module("hydra.types").RunMode.RUN)


class Rehearsal:
    """Compositions of this process as the jobs will make them, which share with them what is the same."""

    def __init__(self, args):
        """Raises an exception where the program's call of Hydra is not known."""
        call = sys._getframe()
        while call.f_code.co_name != "decorated_main":
            call = call.f_back
        utils = importlib.import_module("hydra._internal.utils")
        task, path, name = (call.f_locals[one] for one in ("task_function", "config_path", "config_name"))
        self.parser = utils.get_args_parser.parser()
        read = self.read(args)
        self.name = read.config_name or name
        place = utils.detect_calling_file_or_module_from_task_function(task)
        self.loader = loader(utils.create_automatic_config_search_path(*place, read.config_path or path))
        self.module = importlib.import_module("hydraconf_compositions")
        self.compositions = self.module.Compositions(False)
        self.compositions.install()
        self.seen = collections.Counter({self.choices(args): 2})

    def read(self, args):
        with contextlib.redirect_stderr(io.StringIO()):
            try:
                return self.parser.parse_args(args)
            except SystemExit as error:
                raise ValueError from error

    def files(self):
        return self.module.files_of(self.module.sources_of(self.loader.repository))

    def choices(self, args):
        keys = [(one, one.split("=")[0].lstrip("+~").split("@")[0]) for one in self.read(args).overrides]
        return tuple(one for one, key in keys if self.loader.repository.group_exists(key))

    def expect(self, args):
        """Composes a job of which another one with the same choices was before."""
        try:
            choices = self.choices(args)
            self.seen[choices] += 1
            if self.seen[choices] == 2:
                self.compose(args)
                gc.freeze()
        except Exception:
            pass

    def compose(self, args):
        """Whether the jobs will share it. What it says they say themselves."""
        count = len(self.compositions.known)
        files = self.files()
        before = len(Variables.asked), len(Arguments.asked)
        said = io.StringIO()
        self.compositions.is_open = True
        with warnings.catch_warnings(record=True) as warned, contextlib.redirect_stdout(said):
            with contextlib.redirect_stderr(said):
                try:
                    load(self.loader, self.name, self.read(args).overrides + OVERRIDES)
                except Exception:
                    # What it was after comes first.
                    pass
        self.compositions.is_open = False
        uses = len(Variables.asked), len(Arguments.asked)
        del Variables.asked[before[0] :], Arguments.asked[before[1] :]
        if warned or said.getvalue() or uses != before or self.files() != files:
            self.compositions.forget(count)
        return len(self.compositions.known) > count


def answer_mode(mode):
    """Hydra composes the config of a job a first time for `hydra.mode` alone, which hydraconf knows.

    `mode`: its name, None for a config without one: Hydra then adds `hydra.mode=RUN` to the overrides, which it saves.
    """
    answer = None if mode is None else importlib.import_module("hydra.types").RunMode[mode]
    importlib.import_module("hydra._internal.hydra").Hydra.get_mode = lambda self, config_name, overrides: answer


def fork():
    with warnings.catch_warnings():
        # Of threads, which have been looked at.
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def asked():
    """What an import has read or changed that only a job has; None if nothing."""
    uses = Variables.asked + Arguments.asked
    if type(sys.argv) is not Arguments:
        uses.append("changes the command line")
    return "the program %s while it is imported" % uses[0] if uses else None


def unsafe():
    """Why a fork would not be what a new process is; None if it would."""
    if asked():
        return asked()
    if threading.current_thread() is not threading.main_thread():
        return "the program calls its task in a thread"
    others = [one.name for one in threading.enumerate() if one is not threading.main_thread()]
    if others:
        return "the program has started the thread '%s' while it is imported" % others[0]
    count = len(os.listdir("/proc/self/task")) - 1
    if count > pool_threads(count):
        return "the program has started threads while it is imported, which a fork would lose"
    if has_children():
        return "the program has started processes while it is imported"
    device = next((name for name in open_files() if name.startswith(DEVICES)), None)
    if device is not None:
        return "the program has opened %s while it is imported" % device
    return None


def pool_threads(count):
    """How many threads are those of pools that OpenBLAS starts anew after a fork. Those of OpenMP would hang."""
    if count == 0:
        return 0
    import ctypes

    sizes = {}
    with open("/proc/self/maps") as maps:
        paths = {line.rstrip("\n").split(" ")[-1] for line in maps}
    for path in paths:
        if "blas" not in os.path.basename(path).lower():
            continue
        try:
            library = ctypes.CDLL(path)
        except OSError:
            continue
        for name in POOL_SIZES:
            size = getattr(library, name, None)
            if size is not None:
                # Several names and files may lead to one function.
                sizes[ctypes.cast(size, ctypes.c_void_p).value] = size() - 1
    return sum(sizes.values())


def has_children():
    for task in os.listdir("/proc/self/task"):
        try:
            with open("/proc/self/task/%s/children" % task) as children:
                if children.read().strip():
                    return True
        except OSError:
            pass
    return False


def open_files():
    for name in os.listdir("/proc/self/fd"):
        try:
            yield os.readlink("/proc/self/fd/" + name)
        except OSError:
            pass


def run(words, args):
    """The program, as the interpreter would run it."""
    module = types.ModuleType("__main__")
    sys.modules["__main__"] = module
    is_safe = sys.flags.isolated or getattr(sys.flags, "safe_path", False)
    if words[0] == "-m":
        import runpy

        if not is_safe:
            sys.path[0] = os.getcwd()
        sys.argv = Arguments(["-m"] + args)
        runpy._run_module_as_main(words[1])
        return
    script = words[0]
    if not is_safe:
        sys.path[0] = os.path.dirname(os.path.realpath(script))
    name = os.path.abspath(script) if sys.version_info >= (3, 9) else script
    sys.argv = Arguments([script] + args)
    module.__file__ = name
    module.__builtins__ = __builtins__
    module.__cached__ = None
    module.__loader__ = importlib.machinery.SourceFileLoader("__main__", name)
    with open(script, "rb") as file:
        code = compile(file.read(), name, "exec", dont_inherit=True)
    exec(code, module.__dict__)


def report(error):
    """Shows an exception without the frames of this file."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    sys.excepthook(type(error), error.with_traceback(trace), trace)


if __name__ == "__main__":
    sys.modules["hydraconf_warm"] = sys.modules["__main__"]
    path, forced, *words = sys.argv[1:]
    SERVER = Server(path, forced == "1")
    sys.meta_path.insert(0, Watched(SERVER.serve, SERVER.refuse))
    Variables.of_job = {} if SERVER.is_forced else SERVER.first["env"]
    os.environ.__class__ = Variables
    SERVER.exits.open()
    try:
        run(words, [] if SERVER.is_forced else SERVER.first["args"])
    except (SystemExit, KeyboardInterrupt):
        SERVER.doubt()
        raise
    except BaseException as error:
        SERVER.doubt()
        report(error)
        sys.exit(1)
