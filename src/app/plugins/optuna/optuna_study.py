import functools, inspect, math, signal

# The sweep decides when it ends; its end closes the questions.
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
    signal.signal(number, signal.SIG_IGN)

MARK = "hydraconf.sweep"
NOTED = []


def note(level, text):
    NOTED.append([level, text])


class Node(dict):
    """A config for a function, where the project has no OmegaConf."""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name)


def config_of(value):
    try:
        from omegaconf import OmegaConf
        return OmegaConf.create(value)
    except ImportError:
        return attributes(value)


def attributes(value):
    if isinstance(value, dict):
        return Node((key, attributes(one)) for key, one in value.items())
    return [attributes(one) for one in value] if isinstance(value, list) else value


def instantiate(value, seed):
    """What a config with `_target_` stands for. A sampler without a seed gets one, so that a sweep can go on."""
    if isinstance(value, list):
        return [instantiate(one, seed) for one in value]
    if not isinstance(value, dict):
        return value
    if "_target_" not in value:
        return {key: instantiate(one, seed) for key, one in value.items()}
    import optuna
    target = named(value["_target_"])
    args = [instantiate(one, seed) for one in value.get("_args_", [])]
    given = {key: instantiate(one, seed) for key, one in value.items() if key not in ("_target_", "_args_", "_partial_", "_convert_", "_recursive_")}
    if inspect.isclass(target) and issubclass(target, optuna.samplers.BaseSampler):
        known = inspect.signature(target).parameters
        # Null stands for the default of this version.
        given = {key: one for key, one in given.items() if one is not None or key not in known or known[key].default is known[key].empty}
        if "seed" in known:
            given.setdefault("seed", seed)
    if value.get("_partial_"):
        return functools.partial(target, *args, **given)
    return target(*args, **given)


def distribution_of(kind, low=None, high=None, step=None, log=False, choices=None):
    from optuna import distributions as d
    if kind == "categorical":
        return d.CategoricalDistribution([take(one) for one in choices])
    low, high, step = take(low), take(high), take(step)
    if kind == "int":
        if hasattr(d, "IntDistribution"):
            return d.IntDistribution(low, high, log=log, step=1 if step is None else step)
        return d.IntLogUniformDistribution(low, high) if log else d.IntUniformDistribution(low, high, step=1 if step is None else step)
    if hasattr(d, "FloatDistribution"):
        return d.FloatDistribution(low, high, log=log, step=step)
    if log:
        return d.LogUniformDistribution(low, high)
    return d.UniformDistribution(low, high) if step is None else d.DiscreteUniformDistribution(low, high, step)


def grid_of(distribution, spec, includes_last):
    """The values of a parameter for a grid. The plugin leaves out a last value that the steps meet."""
    if spec["kind"] == "categorical":
        return list(distribution.choices)
    is_log = spec.get("log", False)
    step = take(spec.get("step"))
    if spec["kind"] == "int" and (includes_last or not is_log):
        step = 1 if step is None else step
        count = (distribution.high - distribution.low) // step
    elif spec["kind"] == "float" and step is not None:
        count = int(round((distribution.high - distribution.low) / step, 8)) if includes_last else int((distribution.high - distribution.low) // step)
    else:
        raise ValueError("GridSampler only supports discrete distributions.")
    return [distribution.low + index * step for index in range(count + 1 if includes_last else count)]


class Unusable(ValueError):
    """Values that Optuna refuses."""


class Study:
    def __init__(self, sampler, storage, study_name, directions, space, fixed, added, custom, config, seed, trials, folders, sweep, is_plan, excludes_stop, pruner=None):
        try:
            import optuna
        except ImportError as error:
            raise LookupError("no optuna: %s" % error)
        self.optuna = optuna
        if is_plan:
            optuna.logging.set_verbosity(optuna.logging.WARNING)
        self.directions, self.sweep = directions, sweep
        self.fixed, self.added = dict(fixed), added
        self.extend = None
        if custom is not None:
            sys.path[0:0] = folders
            self.extend, self.config = named(custom), config_of(take(config))
        space = dict(space)
        distributions = {name: distribution_of(**spec) for name, spec in space.items()}
        storage = instantiate(take(storage), seed)
        if is_plan:
            storage = self.copied(storage, study_name)
        earlier = self.marked(storage, study_name)
        self.trials = trials
        # Drawing the first random numbers again would repeat the trials that the storage has.
        seed, sampler = seed + len(earlier), take(sampler)
        if earlier and isinstance(sampler, dict) and isinstance(sampler.get("seed"), int):
            sampler = dict(sampler, seed=(sampler["seed"] + len(earlier)) % 2**32)
        sampler = instantiate(sampler, seed)
        self.is_grid = isinstance(sampler, functools.partial) and sampler.func is optuna.samplers.GridSampler
        if self.is_grid:
            grid = {name: grid_of(distributions[name], spec, excludes_stop) for name, spec in space.items()}
            sampler = sampler(grid)
            self.trials = min(trials, functools.reduce(lambda product, values: product * len(values), grid.values(), 1))
            note("info", "Updating num of trials to %d due to using GridSampler." % self.trials)
        self.distributions = {name: one for name, one in distributions.items() if name not in self.fixed}
        used = sampler
        if used is None:
            used = optuna.samplers.TPESampler(seed=seed) if len(directions) == 1 else optuna.samplers.NSGAIISampler(seed=seed)
        self.study = optuna.create_study(study_name=study_name, storage=storage, sampler=used, pruner=instantiate(take(pruner), seed), directions=directions, load_if_exists=True)
        self.is_stored = storage is not None
        self.earlier = self.marked(storage, study_name) if self.is_stored else {}
        note("info", "Study name: %s" % self.study.study_name)
        note("info", "Storage: %s" % (storage,))
        note("info", "Sampler: %s" % type(sampler).__name__)
        note("info", "Directions: %s" % directions)
        self.count, self.pending, self.reporting = 0, [], {}
        self.steps, self.told_of_steps = {}, False

    def copied(self, storage, study_name):
        """The study in memory, so that what only shows jobs changes nothing."""
        if storage is None or study_name is None:
            return None
        path = storage[len("sqlite:///"):] if isinstance(storage, str) and storage.startswith("sqlite:///") else None
        if path is not None and not os.path.exists(path):
            return None
        memory = self.optuna.storages.InMemoryStorage()
        try:
            self.optuna.copy_study(from_study_name=study_name, from_storage=storage, to_storage=memory)
        except KeyError:
            return None
        return memory

    def marked(self, storage, study_name):
        """The trials of this sweep that the storage has, by their place in the sweep."""
        if storage is None or study_name is None:
            return {}
        path = storage[len("sqlite:///"):] if isinstance(storage, str) and storage.startswith("sqlite:///") else None
        if path is not None and not os.path.exists(path):
            return {}
        try:
            trials = self.optuna.load_study(study_name=study_name, storage=storage).get_trials(deepcopy=False)
        except KeyError:
            return {}
        marks = [(one.user_attrs.get(MARK), one) for one in trials]
        return {mark[1]: one for mark, one in marks if isinstance(mark, list) and mark[0] == self.sweep}

    def ask(self, count):
        """Asks for all trials of a batch before the first of them is given its parameters."""
        asked = []
        for _ in range(count):
            place, self.count = self.count, self.count + 1
            earlier = self.earlier.get(place)
            trial = earlier if earlier is not None else self.study.ask()
            if earlier is None and self.is_stored:
                trial.set_user_attr(MARK, [self.sweep, place])
            asked.append((trial, earlier is not None))
        return [self.configured(trial, is_earlier) for trial, is_earlier in asked]

    def configured(self, trial, is_earlier):
        if not is_earlier:
            for name, distribution in self.distributions.items():
                trial._suggest(name, distribution)
            for name, text in self.fixed.items():
                trial.set_user_attr(name, text)
            if self.extend is not None:
                self.extend(self.config, trial)
        overlap = [name for name in trial.params if name in trial.user_attrs]
        if overlap:
            raise ValueError("Overlapping fixed parameters and search space parameters found! Overlapping parameters: %s" % overlap)
        self.pending.append(trial)
        if not is_earlier:
            self.reporting[trial.number] = trial
        elif not trial.state.is_finished():
            self.reporting[trial.number] = self.optuna.trial.Trial(self.study, trial._trial_id)
        params = dict(trial.params)
        chosen = len(params)
        params.update(self.fixed)
        overrides = ["%s=%s" % one for one in params.items()]
        return {"number": trial.number, "params": overrides[:chosen], "overrides": overrides + self.added}

    def discard(self, numbers):
        """Trials that the sweep leaves out."""
        for trial in [one for one in self.pending if one.number in numbers]:
            self.pending.remove(trial)
            self.finish(trial, None)

    def report(self, value):
        """Takes a number that a job reports. Returns whether the job is to end."""
        trial = self.reporting.get(value["number"])
        step = math.floor(value["step"])
        if trial is None or step < 0:
            return False
        steps = self.steps.setdefault(trial.number, set())
        if step not in steps:
            trial.report(take(value["value"]), step)
        elif step != value["step"] and not self.told_of_steps:
            self.told_of_steps = True
            note("warning", "A job reports at the step %s, after the step %d: Optuna has whole steps, and takes one number for each, the first. Let jobs report whole steps, such as the number of the evaluation." % (value["step"], step))
        steps.add(step)
        return bool(trial.should_prune())

    def tell(self, outcomes):
        problems = [self.told(trial, outcome) for trial, outcome in zip(self.pending, outcomes)]
        self.pending, self.reporting, self.steps = [], {}, {}
        return problems

    def told(self, trial, outcome):
        """Tells the values of a trial, or that it was pruned or failed. Returns why it counts as failed."""
        if outcome.get("is_pruned"):
            self.finish(trial, None, self.optuna.trial.TrialState.PRUNED)
            return None
        if "problem" in outcome:
            problem, values = {"text": outcome["problem"], "ends": False}, None
        else:
            problem, values = self.judged(take(outcome["returned"]))
        self.finish(trial, values)
        if problem is not None:
            note("warning", "Failed experiment: %s" % problem["text"])
        return problem

    def problem_of(self, returned):
        return self.judged(take(returned))[0]

    def judged(self, returned):
        try:
            return None, self.values_of(returned)
        except Unusable as error:
            return {"text": str(error), "ends": True}, None
        except ValueError as error:
            return {"text": str(error), "ends": False}, None

    def values_of(self, returned):
        if len(self.directions) == 1:
            try:
                values = [float(returned)]
            except (ValueError, TypeError):
                raise ValueError("Return value must be float-castable. Got '%s'." % (returned,))
        else:
            try:
                values = [float(one) for one in returned]
            except (ValueError, TypeError):
                raise ValueError("Return value must be a list or tuple of float-castable values. Got '%s'." % (returned,))
            if len(values) != len(self.directions):
                raise Unusable("The number of the values and the number of the objectives are mismatched. Expect %d, but actually %d." % (len(self.directions), len(values)))
        if any(math.isnan(one) for one in values):
            raise Unusable("The value nan is not acceptable.")
        return values

    def finish(self, trial, values, state=None):
        states = self.optuna.trial.TrialState
        if state is None:
            state = states.FAIL if values is None else states.COMPLETE
        number = trial.number
        before = next(one for one in self.study.get_trials(deepcopy=False) if one.number == number) if self.earlier else None
        if before is not None and before.state.is_finished():
            # A job that failed, and ran again.
            if before.state is not states.COMPLETE and values is not None:
                self.study.add_trial(self.optuna.trial.create_trial(params=before.params, distributions=before.distributions, values=values))
            return
        try:
            self.study.tell(number, state=state, values=values)
        except RuntimeError as error:
            # A grid that is used up stops the study.
            if not self.is_grid or "Study.stop" not in str(error):
                raise

    def results(self):
        states = [one.state for one in self.study.get_trials(deepcopy=False)]
        if len(self.directions) == 1:
            if self.optuna.trial.TrialState.COMPLETE not in states:
                return None
            best = self.study.best_trial
            note("info", "Best parameters: %s" % best.params)
            note("info", "Best value: %s" % best.value)
            return encode({"best_params": best.params, "best_value": best.value})
        front = self.study.best_trials
        note("info", "Number of Pareto solutions: %d" % len(front))
        for one in front:
            note("info", "    Values: %s, Params: %s" % (one.values, one.params))
        return encode({"solutions": [{"params": one.params, "values": one.values} for one in front]})


STUDIES = []


def answer(question):
    """A question is a map with one key, the name of what is asked."""
    (name, value), = question.items()
    NOTED.clear()
    if name == "open":
        STUDIES[:] = [Study(**value)]
        result = STUDIES[0].trials
    else:
        result = getattr(STUDIES[0], name)(*([] if value is None else [value]))
    return {"result": result, "notes": list(NOTED)}


serve(answer)
