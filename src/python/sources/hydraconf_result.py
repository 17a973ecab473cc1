"""Tells the process that started this program what its task returned (hydraconf run)."""
import json
import os
import traceback


def _plain(value):
    for name in ("item", "tolist"):
        method = getattr(value, name, None)
        if callable(method):
            try:
                return method()
            except Exception:
                pass
    if isinstance(value, (set, frozenset, tuple)):
        return list(value)
    try:
        from omegaconf import OmegaConf

        if OmegaConf.is_config(value):
            return OmegaConf.to_container(value, resolve=True)
    except Exception:
        pass
    try:
        return float(value)
    except Exception:
        return str(value)


def _error(raised):
    frames = traceback.extract_tb(raised.__traceback__)
    own = [frame for frame in frames if "/site-packages/" not in frame.filename and "/hydra/" not in frame.filename]
    last = own[-1] if own else (frames[-1] if frames else None)
    report = traceback.format_exception_only(type(raised), raised)[-1].strip().split("\n")[0]
    return {
        "message": report,
        "file": last.filename if last else None,
        "line": last.lineno if last else None,
    }


def _keys(value):
    if isinstance(value, dict):
        return {key if isinstance(key, str) else str(key): _keys(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_keys(one) for one in value]
    return value


def _nothing(*args, **kwargs):
    pass


class ResultCallback:
    def __init__(self):
        # A job of a sweep is no run of its own to the callbacks of the program.
        if os.environ.get("HYDRACONF_JOB_NUMBER"):
            try:
                from hydra._internal.callbacks import Callbacks

                Callbacks.on_run_start = Callbacks.on_run_end = _nothing
            except Exception:
                pass

    def __getattr__(self, name):
        if name.startswith("on_"):
            return _nothing
        raise AttributeError(name)

    def on_job_end(self, config=None, job_return=None, **kwargs):
        path = os.environ.get("HYDRACONF_JOB_REPORT")
        if not path or os.environ.get("RANK", "0") != "0" or os.environ.get("SLURM_PROCID", "0") != "0":
            return
        try:
            returned = getattr(job_return, "_return_value", None)
            if isinstance(returned, BaseException) and getattr(job_return.status, "name", "") == "FAILED":
                report = {"error": _error(returned)}
            else:
                report = {"result": _keys(returned)}
            with open(path + ".new", "w", encoding="utf-8") as file:
                json.dump(report, file, default=_plain)
            os.replace(path + ".new", path)
        except Exception as problem:
            print("hydraconf: the job's result could not be reported: %s" % problem)
