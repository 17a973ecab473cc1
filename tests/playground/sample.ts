import type { TreeDocument } from "../../src/playground/tree-document.ts";

/** A tree as the page gets it. */
export const treeOf = (
  texts: Readonly<Record<string, string>>,
  more: Partial<TreeDocument> = {},
): TreeDocument => ({
  title: "conf",
  directory: "conf",
  configName: "config",
  program: { words: ["python", "train.py"], configName: "config", jobName: "train" },
  dialect: "1.3",
  canWrite: false,
  notes: [],
  files: Object.entries(texts).map(([path, text]) => ({ path, text, version: path })),
  ...more,
});

export const SAMPLE: Readonly<Record<string, string>> = {
  "config.yaml":
    "defaults:\n  - db: mysql\n  - optional cache: null\n  - _self_\n\nname: ${db.driver}-x\nroot: ${oc.env:HOME}\ndebug: false\n",
  "db/mysql.yaml": "driver: mysql\nport: 3306\nmodel:\n  _target_: my.Class\n",
  "db/pg.yaml": "driver: pg\nport: 5432\n",
  "cache/redis.yaml": "host: localhost\n",
  "extra/more.yaml": "level: 1\n",
};
