/** A tree for each rule of a migration: what is found in it, and what `--fix` makes of it. */

export interface MigrateCase {
  /** The rule that it shows. */
  readonly rule: string;
  readonly from: string;
  readonly to: string;
  readonly files: Readonly<Record<string, string>>;
  /** All that is found, in order: `file:line level rule`. */
  readonly found: readonly string[];
  /** The files that the fixes change, or remove (null). */
  readonly fixed?: Readonly<Record<string, string | null>>;
  /** What is found after the fixes, if they do not mend all. */
  readonly left?: readonly string[];
  /** The overrides of lines that compose after the fix what they composed before; the default line always does. */
  readonly lines?: readonly (readonly [before: string, after: string])[];
  /** Its config directory and primary config. Default: `conf`, `config`. */
  readonly tree?: readonly [configDir: string, configName: string];
  /** Only what texts tell: a dialect of the older version does not compose as that version did. */
  readonly isText?: true;
}

/** A tree without a program. */
const tree = <Text extends string | null>(
  files: Readonly<Record<string, Text>>,
): Readonly<Record<string, Text>> =>
  Object.fromEntries(Object.entries(files).map(([name, text]) => [`conf/${name}`, text]));

const MAIN = (args: string): string =>
  `import hydra\n\n@hydra.main(${args})\ndef main(cfg):\n    pass\n`;

const PROGRAM = MAIN('version_base="1.3", config_path="conf", config_name="config"');

export const CASES: readonly MigrateCase[] = [
  {
    rule: "config-path",
    from: "1.1",
    to: "1.3",
    files: {
      "train.py": MAIN('config_name="config", version_base="1.1"'),
      "config.yaml": "x: 1\nhydra:\n  job:\n    chdir: false\n",
    },
    tree: [".", "config"],
    found: ["train.py:3 change version-base", "train.py:3 error config-path"],
    fixed: { "train.py": MAIN('config_path=".", config_name="config", version_base="1.3"') },
  },
  {
    rule: "job-chdir",
    from: "1.2",
    to: "1.4",
    files: {
      "train.py": MAIN('config_path="conf", config_name="config"'),
      ...tree({ "config.yaml": "# mine\nx: 1\n\nhydra:\n  # where\n  run:\n    dir: out\n" }),
    },
    found: ["conf/config.yaml:5 change job-chdir"],
    fixed: tree({
      "config.yaml":
        "# mine\nx: 1\n\nhydra:\n  job:\n    chdir: true\n  # where\n  run:\n    dir: out\n",
    }),
  },
  {
    rule: "package-keywords",
    from: "1.1",
    to: "1.3",
    files: tree({
      "config.yaml":
        "# @package _group_\ndefaults:\n  - db: mysql # one\n  - srv@_name_: a\n  - _self_\nhydra: {job: {chdir: false}}\n",
      "db/mysql.yaml": "# @package _group_\n# the port\nport: 1\n",
      "db/pg.yaml": "# @package _group_._name_\nport: 2\n",
      "srv/a.yaml": "host: h\n",
    }),
    found: [
      "conf/config.yaml:1 error package-keywords",
      "conf/config.yaml:4 error package-keywords",
      "conf/db/mysql.yaml:1 change package-keywords",
      "conf/db/pg.yaml:1 error package-keywords",
    ],
    fixed: tree({
      "config.yaml":
        "defaults:\n  - db: mysql # one\n  - srv@a: a\n  - _self_\nhydra: {job: {chdir: false}}\n",
      "db/mysql.yaml": "# the port\nport: 1\n",
      "db/pg.yaml": "# @package db.pg\nport: 2\n",
    }),
    lines: [["db=pg", "db=pg"]],
  },
  {
    rule: "yml-files",
    from: "1.1",
    to: "1.3",
    files: tree({
      "config.yaml":
        "defaults:\n  - db: mysql.yml  # old\n  - _self_\nhydra: {job: {chdir: false}}\n",
      "db/mysql.yml": "# kept\nport: 1\n",
    }),
    found: ["conf/db/mysql.yml:1 error yml-files"],
    fixed: tree({
      "config.yaml": "defaults:\n  - db: mysql  # old\n  - _self_\nhydra: {job: {chdir: false}}\n",
      "db/mysql.yml": null,
      "db/mysql.yaml": "# kept\nport: 1\n",
    }),
  },
  {
    rule: "optional-entry",
    from: "1.1",
    to: "1.3",
    files: tree({
      "config.yaml":
        "defaults:\n  - {db: mysql, optional: true} # a\n  - srv: none\n    optional: true\n  - _self_\nhydra: {job: {chdir: false}}\n",
      "db/mysql.yaml": "port: 1\n",
    }),
    found: ["conf/config.yaml:2 error optional-entry", "conf/config.yaml:3 error optional-entry"],
    fixed: tree({
      "config.yaml":
        "defaults:\n  - {optional db: mysql} # a\n  - optional srv: none\n  - _self_\nhydra: {job: {chdir: false}}\n",
    }),
  },
  {
    rule: "hydra-override",
    from: "1.1",
    to: "1.3",
    files: tree({
      "config.yaml":
        "defaults:\n  - hydra/job_logging: disabled # quiet\n  - db: mysql\n  - _self_\nhydra: {job: {chdir: false}}\n",
      "db/mysql.yaml": "port: 1\n",
    }),
    found: ["conf/config.yaml:2 error hydra-override"],
    fixed: tree({
      "config.yaml":
        "defaults:\n  - db: mysql\n  - _self_\n  - override hydra/job_logging: disabled # quiet\nhydra: {job: {chdir: false}}\n",
    }),
  },
  {
    rule: "positional-interpolation",
    from: "1.1",
    to: "1.3",
    files: tree({
      "config.yaml":
        "defaults:\n  - db: mysql\n  - srv: ${defaults.0.db} # both\n  - _self_\nhydra: {job: {chdir: false}}\n",
      "db/mysql.yaml": "port: 1\n",
      "srv/mysql.yaml": "a: 1\n",
    }),
    found: ["conf/config.yaml:3 error positional-interpolation"],
    fixed: tree({
      "config.yaml":
        "defaults:\n  - db: mysql\n  - srv: ${db} # both\n  - _self_\nhydra: {job: {chdir: false}}\n",
    }),
  },
  {
    rule: "default-slash",
    from: "1.3",
    to: "1.4",
    files: tree({
      "config.yaml": "defaults:\n  # nested\n  - db: a/b   # mine\n  - _self_\nx: 1\n",
      "db/a/b.yaml": "defaults:\n  - engine: fast\n  - base\nport: 1\n",
      "db/engine/fast.yaml": "n: 1\n",
      "db/base.yaml": "m: 1\n",
    }),
    found: ["conf/config.yaml:3 error default-slash"],
    fixed: tree({
      "config.yaml": "defaults:\n  # nested\n  - db/a@db: b   # mine\n  - _self_\nx: 1\n",
      "db/a/b.yaml": "defaults:\n  - /db/engine@engine: fast\n  - /db/base@_here_\nport: 1\n",
    }),
  },
  {
    rule: "default-path",
    from: "1.3",
    to: "1.4",
    files: tree({
      "config.yaml": "defaults:\n  - a/b: x\n  - _self_\n",
      "a/b/x.yaml": "defaults:\n  - ../../db@db: m # up\nport: 1\n",
      "db/m.yaml": "n: 1\n",
    }),
    found: ["conf/a/b/x.yaml:2 error default-path"],
    fixed: tree({ "a/b/x.yaml": "defaults:\n  - /db@db: m # up\nport: 1\n" }),
  },
  {
    rule: "default-keyword",
    from: "1.3",
    to: "1.4",
    files: tree({
      "config.yaml": "defaults:\n  - optional db: mysql\n  - experiment: e\n  - _self_\n",
      "db/mysql.yaml": "port: 1\n",
      "db/pg.yaml": "port: 2\n",
      "experiment/e.yaml": "# @package _global_\ndefaults:\n  - optional override /db: pg # e\n",
    }),
    found: ["conf/experiment/e.yaml:3 error default-keyword"],
    fixed: tree({
      "experiment/e.yaml": "# @package _global_\ndefaults:\n  - override /db: pg # e\n",
    }),
  },
  {
    rule: "last-override",
    from: "1.3",
    to: "1.4",
    files: tree({
      "config.yaml": "defaults:\n  - db: lite\n  - experiment: e\n  - _self_\n",
      "db/mysql.yaml": "port: 1\n",
      "db/pg.yaml": "port: 2\n",
      "db/lite.yaml": "port: 3\n",
      "experiment/e.yaml":
        "# @package _global_\ndefaults:\n  - override /db: mysql\n  - override /db: pg\n",
    }),
    found: [
      "conf/experiment/e.yaml:3 change last-override",
      "conf/experiment/e.yaml:4 change last-override",
    ],
  },
  {
    rule: "default-interpolation",
    from: "1.3",
    to: "1.4",
    files: tree({
      "config.yaml": "defaults:\n  - db: ${oc.env:NOPE,mysql}\n  - _self_\n",
      "db/mysql.yaml": "port: 1\n",
    }),
    found: ["conf/config.yaml:2 error default-interpolation"],
  },
  {
    rule: "nested-append",
    from: "1.3",
    to: "1.4",
    files: {
      "train.py": MAIN('version_base="1.3", config_path="conf", config_name="server/main"'),
      "run.sh": "python train.py +db=mysql\n",
      ...tree({
        "server/main.yaml": "x: 1\n",
        "server/db/mysql.yaml": "port: 1\n",
        "db/mysql.yaml": "port: 2\n",
      }),
    },
    tree: ["conf", "server/main"],
    lines: [["+db=mysql", "+server/db@server.db=mysql"]],
    found: ["run.sh:1 change nested-append"],
    fixed: { "run.sh": "python train.py +server/db@server.db=mysql\n" },
  },
  {
    rule: "deletion",
    from: "1.3",
    to: "1.4",
    files: {
      "train.py": PROGRAM,
      "run.sh": "python train.py ~x=null\n",
      ...tree({ "config.yaml": "x: 1\ny: 2\n" }),
    },
    found: ["run.sh:1 error deletion"],
  },
  {
    rule: "integer-keys",
    from: "1.3",
    to: "1.4",
    files: tree({ "config.yaml": "1: a\n'1': b\n" }),
    found: ["conf/config.yaml:1 error integer-keys"],
  },
  {
    rule: "negative-index",
    from: "1.3",
    to: "1.4",
    files: tree({ "config.yaml": "l: [1, 2]\nx: ${oc.select:l.-1,7}\n" }),
    found: ["conf/config.yaml:2 change negative-index"],
  },
  {
    rule: "referred-update",
    from: "1.3",
    to: "1.4",
    files: {
      "train.py": PROGRAM,
      "run.sh": "python train.py ++b.port=2\n",
      ...tree({ "config.yaml": "a: {port: 1}\nb: ${a}\n" }),
    },
    found: ["run.sh:1 change referred-update"],
  },
  {
    rule: "missing-literal",
    from: "1.3",
    to: "1.4",
    files: tree({ "config.yaml": "x: '\\???' # as is\ny: \\???\nz: \"\\\\???\"\n" }),
    found: [
      "conf/config.yaml:1 change missing-literal",
      "conf/config.yaml:2 change missing-literal",
      "conf/config.yaml:3 change missing-literal",
    ],
  },
  {
    rule: "tuples",
    from: "1.3",
    to: "1.4",
    files: tree({ "config.yaml": "x: !!omap\n  - a: ???\n" }),
    found: ["conf/config.yaml:2 error tuples"],
  },
  {
    rule: "yaml-reader",
    from: "1.3",
    to: "1.4",
    files: tree({ "config.yaml": "y: 1\nx: |\n  \ta\n" }),
    found: ["conf/config.yaml:3 error yaml-reader"],
  },
  {
    rule: "alias-limit",
    from: "1.3",
    to: "1.4",
    files: tree({
      "config.yaml": `a0: &a0 [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]\n${Array.from({ length: 4 }, (_, n) => `a${n + 1}: &a${n + 1} [${Array.from({ length: 10 }, () => `*a${n}`).join(", ")}]\n`).join("")}`,
    }),
    found: ["conf/config.yaml:1 error alias-limit"],
  },
  {
    rule: "cast-range",
    from: "1.3",
    to: "1.4",
    files: {
      "train.py": PROGRAM,
      "README.md": "Run it:\n\n```sh\npython train.py -m \\\n  'lr=int(range(0,5,1.5))' x=2\n```\n",
      ...tree({
        "config.yaml":
          "lr: 1\nx: 1\ny: 1\nhydra:\n  mode: MULTIRUN\n  sweeper:\n    params:\n      y: int(range(0,3,1.5)) # two\n",
      }),
    },
    found: ["README.md:5 change cast-range", "conf/config.yaml:8 change cast-range"],
    fixed: {
      "README.md": "Run it:\n\n```sh\npython train.py -m \\\n  lr=0,1,2,3,4 x=2\n```\n",
      "conf/config.yaml":
        "lr: 1\nx: 1\ny: 1\nhydra:\n  mode: MULTIRUN\n  sweeper:\n    params:\n      y: '0,1,2' # two\n",
    },
  },
  {
    rule: "sort-sweep",
    from: "1.3",
    to: "1.4",
    files: {
      "train.py": PROGRAM,
      Makefile: "sweep:\n\tpython train.py -m 'lr=sort(range(0,5,2),reverse=true)'\n",
      ...tree({ "config.yaml": "lr: 1\n" }),
    },
    found: ["Makefile:2 change sort-sweep"],
    fixed: { Makefile: "sweep:\n\tpython train.py -m lr=3,1,-1\n" },
  },
  {
    rule: "range-decimals",
    from: "1.3",
    to: "1.4",
    files: {
      "train.py": PROGRAM,
      "run.sh": "python train.py -m 'lr=range(0,0.4,0.1)'\n",
      ...tree({ "config.yaml": "lr: 1\n" }),
    },
    found: ["run.sh:1 change range-decimals"],
    fixed: { "run.sh": "python train.py -m lr=0.0,0.1,0.2,0.3,0.4\n" },
  },
  {
    rule: "glob-search-path",
    from: "1.3",
    to: "1.4",
    files: {
      "train.py": PROGRAM,
      "run.sh": "python train.py -m 'db=glob(*)'\n",
      ...tree({
        "config.yaml": "defaults:\n  - db: a\n  - _self_\nhydra:\n  searchpath: [more]\n",
        "db/a.yaml": "n: 1\n",
      }),
      "more/db/b.yaml": "n: 2\n",
    },
    found: ["run.sh:1 change glob-search-path"],
    fixed: { "run.sh": "python train.py -m db=a\n" },
  },
  {
    rule: "swept-launcher",
    from: "1.3",
    to: "1.4",
    files: {
      "train.py": PROGRAM,
      "run.sh": "python train.py -m +experiment=a,b\n",
      ...tree({
        "config.yaml": "x: 1\n",
        "experiment/a.yaml": "# @package _global_\nx: 2\n",
        "experiment/b.yaml":
          "# @package _global_\ndefaults:\n  - override /hydra/launcher: joblib\nx: 3\n",
      }),
    },
    found: ["conf/experiment/b.yaml:3 warning plugin-configs", "run.sh:1 error swept-launcher"],
  },
  {
    rule: "run-mode",
    from: "1.3",
    to: "1.4",
    files: tree({
      "config.yaml": "defaults:\n  - search: s\n  - _self_\nx: 1\n",
      "search/s.yaml": "# @package _global_\nhydra:\n  mode: MULTIRUN\n",
    }),
    found: ["conf/search/s.yaml:3 error run-mode"],
  },
  {
    rule: "plugin-configs",
    from: "1.3",
    to: "1.4",
    files: tree({
      "config.yaml": "defaults:\n  - _self_\n  - override hydra/launcher: joblib\nx: 1\n",
    }),
    found: ["conf/config.yaml:3 warning plugin-configs"],
  },
  {
    rule: "override-dirname",
    from: "1.3",
    to: "1.4",
    files: tree({
      "config.yaml": "x: 1\nhydra:\n  sweep:\n    subdir: ${hydra.job.override_dirname}\n",
    }),
    found: ["conf/config.yaml:4 warning override-dirname"],
  },
  {
    rule: "environment",
    from: "1.3",
    to: "1.4",
    files: tree({
      "config.yaml": "x: 1\nhydra:\n  job:\n    env_set:\n      A: a\n      B: ${oc.env:A}/b\n",
    }),
    found: ["conf/config.yaml:6 change environment"],
  },
  {
    rule: "version-base",
    from: "1.3",
    to: "1.4",
    files: {
      "train.py": MAIN(
        '\n    config_path="conf",  # here\n    version_base="1.2",\n    config_name="config",\n',
      ),
      ...tree({ "config.yaml": "x: 1\n" }),
    },
    found: ["train.py:3 error version-base"],
    fixed: {
      "train.py": MAIN(
        '\n    config_path="conf",  # here\n    version_base="1.3",\n    config_name="config",\n',
      ),
    },
  },
  {
    rule: "experimental-api",
    from: "1.3",
    to: "1.4",
    files: {
      "train.py": PROGRAM,
      "tool.py":
        "import hydra\nfrom hydra.experimental import compose, initialize  # both\n\nwith initialize(config_path='conf'):\n    pass\n",
      "callback.py": "from hydra.experimental.callback import Callback\n",
      ...tree({ "config.yaml": "x: 1\n" }),
    },
    found: ["tool.py:2 error experimental-api"],
    fixed: {
      "tool.py":
        "import hydra\nfrom hydra import compose, initialize  # both\n\nwith initialize(config_path='conf'):\n    pass\n",
    },
  },
  {
    rule: "compose-strict",
    from: "1.3",
    to: "1.4",
    files: {
      "train.py": PROGRAM,
      "tool.py": 'from hydra import compose\n\ncfg = compose("config", strict=True)\n',
      ...tree({ "config.yaml": "x: 1\n" }),
    },
    found: ["tool.py:3 error compose-strict"],
  },
  {
    rule: "target-conf",
    from: "1.3",
    to: "1.4",
    files: {
      "train.py": PROGRAM,
      "types_of.py": "from hydra.types import TargetConf\n",
      ...tree({ "config.yaml": "x: 1\n" }),
    },
    found: ["types_of.py:1 error target-conf"],
  },
  {
    rule: "pickle-callback",
    from: "1.3",
    to: "1.4",
    files: tree({
      "config.yaml":
        "x: 1\nhydra:\n  callbacks:\n    save:\n      _target_: hydra.experimental.callbacks.PickleJobInfoCallback\n",
    }),
    found: ["conf/config.yaml:5 error pickle-callback"],
  },
  {
    rule: "schema-match",
    from: "1.3",
    to: "1.4",
    files: tree({
      "config.yaml": "defaults:\n  - _self_\n  - override hydra/launcher: joblib\nx: 1\n",
      "hydra/launcher/joblib.yaml":
        "_target_: hydra_plugins.hydra_joblib_launcher.joblib_launcher.JoblibLauncher\nn_jobs: 2\n",
    }),
    found: [
      "conf/config.yaml:3 warning plugin-configs",
      "conf/hydra/launcher/joblib.yaml:1 error schema-match",
    ],
  },
  {
    rule: "missing-self",
    from: "1.1",
    to: "1.3",
    files: tree({
      "config.yaml":
        "defaults:\n  - db: mysql # one\n  - override hydra/job_logging: disabled\nx: 1\nhydra: {job: {chdir: false}}\n",
      "db/mysql.yaml": "port: 1\n",
    }),
    found: ["conf/config.yaml:2 warning missing-self"],
    fixed: tree({
      "config.yaml":
        "defaults:\n  - db: mysql # one\n  - _self_\n  - override hydra/job_logging: disabled\nx: 1\nhydra: {job: {chdir: false}}\n",
    }),
  },
  {
    rule: "main-arguments",
    from: "1.0",
    to: "1.3",
    isText: true,
    files: {
      "train.py": MAIN('config_path="conf/config.yaml", strict=True'),
      ...tree({ "config.yaml": "x: 1\nhydra: {job: {chdir: false}}\n" }),
    },
    found: ["train.py:3 change version-base", "train.py:3 error main-arguments"],
    fixed: {
      "train.py": MAIN('version_base="1.3", config_path="conf", config_name="config"'),
    },
  },
  {
    rule: "composition-order",
    from: "1.0",
    to: "1.3",
    isText: true,
    files: tree({
      "config.yaml": "defaults:\n  - db: mysql\nx: 1\nhydra: {job: {chdir: false}}\n",
      "db/mysql.yaml": "# @package _global_\nport: 1\n",
    }),
    found: ["conf/config.yaml:2 change composition-order"],
    fixed: tree({
      "config.yaml": "defaults:\n  - _self_\n  - db: mysql\nx: 1\nhydra: {job: {chdir: false}}\n",
    }),
  },
  {
    rule: "package-header",
    from: "1.0",
    to: "1.3",
    isText: true,
    files: tree({
      "config.yaml": "defaults:\n  - db: mysql\nhydra: {job: {chdir: false}}\n",
      "db/mysql.yaml": "port: 1\n",
    }),
    found: [
      "conf/config.yaml:2 change composition-order",
      "conf/db/mysql.yaml:1 change package-header",
    ],
    fixed: tree({
      "config.yaml": "defaults:\n  - _self_\n  - db: mysql\nhydra: {job: {chdir: false}}\n",
      "db/mysql.yaml": "# @package _global_\nport: 1\n",
    }),
  },
];
