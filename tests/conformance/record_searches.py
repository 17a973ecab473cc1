"""Records searches of Hydra's optuna sweeper with the Hydra, the plugin and the Optuna of this interpreter.

    python record_searches.py SEARCHES OUT

SEARCHES and OUT have a search in each line, as JSON: its `id` and `args`, OUT also its `jobs`, `results` and `exit_code`. The tests of
`searches.slow.ts` replay OUT if HYDRACONF_SEARCHES names it, with the Optuna that PYTHONPATH names.
"""
import json
import math
import os
import sys
import tempfile

import hydra
import optuna
import yaml
from hydra.core.hydra_config import HydraConfig


def number(value):
    return float(sum(map(ord, value)) % 7) if isinstance(value, str) else float(value)


def returned(config):
    x, y, k = (number(config.get(name, 0)) for name in ("x", "y", "k"))
    value = (x - 0.7) ** 2 + 0.5 * (y - 0.3) ** 2 + 0.1 * k + math.sin(3 * x)
    return [value, (x + 1) ** 2 - y] if config.get("two") else value


def search(args):
    """Runs a search in the working directory."""
    jobs = []

    @hydra.main(version_base="1.3", config_path=None)
    def main(config):
        value = returned(config)
        jobs.append({"overrides": list(HydraConfig.get().overrides.task), "returned": value})
        return value

    sys.argv = ["my_app.py", "-m", *args, "hydra.sweep.dir=s"]
    code = 0
    try:
        main()
    except SystemExit as error:
        code = error.code
    except BaseException:
        code = 1
    recorded = {"jobs": jobs}
    if code:
        recorded["exit_code"] = code
    if os.path.exists("s/optimization_results.yaml"):
        with open("s/optimization_results.yaml") as file:
            recorded["results"] = yaml.safe_load(file)
    return recorded


def search_apart(args):
    """Runs a search in a process and a directory of its own. What it prints is dropped."""
    with tempfile.TemporaryDirectory() as directory:
        pid = os.fork()
        if pid == 0:
            os.chdir(directory)
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, 1)
            os.dup2(null, 2)
            with open("recorded.json", "w") as file:
                json.dump(search(args), file)
            os._exit(0)
        os.waitpid(pid, 0)
        with open(os.path.join(directory, "recorded.json")) as file:
            return json.load(file)


source, target = sys.argv[1:]
with open(source) as searches, open(target, "w") as out:
    for line in searches:
        one = json.loads(line)
        recorded = {"id": one["id"], "args": one["args"], **search_apart(one["args"])}
        out.write(json.dumps({**recorded, "optuna": optuna.__version__}) + "\n")
        out.flush()
