/** Entry point of the script of the page. */
import type { EditorView } from "@codemirror/view";
import { messageOf } from "../../foundation/system/builtin-types.ts";
import { grouped, plural } from "../../foundation/text/plural.ts";
import { shellQuote } from "../../foundation/text/shell-words.ts";
import { h, on } from "../../pages/client/dom.ts";
import { themeButton } from "../../pages/client/theme.ts";
import {
  conflictsOf,
  editable,
  editsOf,
  withLineEnds,
  withoutEdit,
  withRead,
  withSaved,
  withText,
} from "../model/changed-files.ts";
import type { ChoiceMenu } from "../model/choice-menus.ts";
import { lineWord } from "../model/line-words.ts";
import { commandLine, markedPart, overridesIn, wordAt } from "../model/override-line.ts";
import { fitsLink, linkOf, type PageState, stateIn } from "../model/page-state.ts";
import type { Problem } from "../model/problems.ts";
import type { ConfigView, Difference, Reply, View, ViewRequest } from "../model/requests.ts";
import {
  type ChangedFile,
  FILE_NAME,
  type PageData,
  TREE_NAME,
  type TreeDocument,
  type TreeFile,
} from "../tree-document.ts";
import {
  createConfigView,
  createFileEditor,
  createLineEditor,
  cursorLine,
  type Mark,
  markedWith,
  setMarks,
  setText,
} from "./editors.ts";
import { differenceElement, historyElement, type OpenFile, problemElement } from "./parts.ts";
import { startComposer } from "./remote-composer.ts";
import { treePicture } from "./tree-picture.ts";

const {
  isServed,
  styleNonce: nonce,
  tree: read,
} = JSON.parse(document.getElementById("data")?.textContent ?? "{}") as PageData;

interface Tab {
  readonly id: string;
  readonly title: string;
  /** The part of a wide page that it is in. */
  readonly side: "left" | "right";
}

const TABS: readonly Tab[] = [
  { id: "options", title: "Options", side: "left" },
  { id: "files", title: "Files", side: "left" },
  { id: "config", title: "Config", side: "right" },
  { id: "difference", title: "Difference", side: "right" },
  { id: "defaults", title: "Defaults", side: "right" },
];
/** What is computed only while it is looked at. */
const LAZY: ReadonlySet<string> = new Set(["difference", "defaults"]);
/** In milliseconds. */
const LINK_MS = 400;
const PROBLEM_MS = 400;

/** Of the disk, with changed files that are gone from it. */
let tree: TreeDocument = read;
/** The files of the disk as they were read last. */
let filesRead = read.files;
const names = (): readonly string[] =>
  tree.files.flatMap(({ path }) => /^([^/]+)\.yaml$/.exec(path)?.[1] ?? []);
const fileOf = (path: string): TreeFile | undefined =>
  tree.files.find((file) => file.path === path);

let state: PageState = {
  configName: tree.configName,
  line: "",
  comparedLine: "",
  tab: "config",
  file: null,
  edits: {},
};
state = readable({ ...state, ...stateIn(location.hash) });

/** A link may be of another tree, or of this one as it was. */
function readable(state: PageState): PageState {
  return {
    ...state,
    edits: editsOf(tree.files, state.edits),
    tab: TABS.some(({ id }) => id === state.tab) ? state.tab : "config",
    file: state.file !== null && fileOf(state.file) !== undefined ? state.file : null,
  };
}

// What is computed of the state, by the worker.

const workerScript = URL.createObjectURL(
  new Blob([document.getElementById("worker")?.textContent ?? ""], { type: "text/javascript" }),
);
const composer = startComposer(({ onError, onReply }) => {
  const worker = new Worker(workerScript);
  worker.addEventListener("message", ({ data }: { readonly data: Reply }) => onReply(data));
  worker.addEventListener("error", ({ message }) => onError(message));
  return { send: (message) => worker.postMessage(message), end: () => worker.terminate() };
});
let view: View = {
  isSweep: false,
  problems: [],
  warnings: [],
  config: undefined,
  menus: [],
  difference: undefined,
};
let isResolved = false;
let showsHydra = false;
let serverProblems: readonly Problem[] = [];
/** Of the worker. */
let failures: readonly Problem[] = [];

function sendFiles(): void {
  const texts = tree.files.map(({ path, text }): [string, string] => [
    path,
    state.edits[path]?.text ?? text,
  ]);
  const { files: _, ...about } = tree;
  composer.setFiles(about, new Map(texts));
}

function call(line = state.line) {
  return { configName: state.configName, overrides: overridesIn(line) };
}

const viewRequest = (): ViewRequest => ({
  call: call(),
  resolve: isResolved,
  compared: isVisible("difference") ? overridesIn(state.comparedLine ?? "") : undefined,
  defaults: isVisible("defaults") ? { withHydra: showsHydra } : undefined,
});

/** Changes what is looked at. What follows of it is shown when the worker has composed it. */
function change(patch: Partial<PageState>): void {
  if (patch.edits !== undefined) isStale = true;
  state = { ...state, ...patch };
  drawState();
  keepLink();
  if (Object.keys(patch).some((name) => name !== "file")) void renew();
}
/** Whether the worker has other files. */
let isStale = true;
/** Whether something changed since the worker was asked. */
let isWanted = false;
let isAsking = false;

/** Asks for the view until nothing changes meanwhile: an answer about what was there before is dropped. */
async function renew(): Promise<void> {
  isWanted = true;
  if (isAsking) return;
  isAsking = true;
  while (isWanted) {
    // What changes with it is asked for with it.
    await null;
    isWanted = false;
    if (isStale) sendFiles();
    isStale = false;
    const answer = await answered(composer.ask("view", viewRequest()));
    if (!isWanted && answer !== undefined) {
      view = answer;
      failures = [];
      draw();
    }
  }
  isAsking = false;
}

/** The answer; an error of this program is told, and what is shown stays. */
async function answered<Answer>(answer: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await answer;
  } catch (error) {
    const text = `The page cannot compose this: ${messageOf(error)}`;
    failures = [problem("playground/worker", text)];
    drawProblems();
    return undefined;
  }
}

// The line of overrides.

const completeIn = async (line: string, cursor: number) => {
  const { preceding, start, text } = wordAt(line, cursor);
  const { configName } = state;
  const found = await answered(composer.ask("complete", { configName, word: text, preceding }));
  const options = (found ?? []).map((candidate) => ({
    label: candidate.text,
    apply: lineWord(candidate.text),
    ...(candidate.description !== undefined && { detail: candidate.description }),
  }));
  return { start, options: options.filter(({ label }) => label !== text) };
};

const lineEditor = createLineEditor({
  label: "Overrides",
  nonce,
  text: state.line,
  complete: completeIn,
  onText: (line) => change({ line }),
});
const comparedEditor = createLineEditor({
  label: "Overrides of the compared command line",
  nonce,
  text: state.comparedLine ?? "",
  complete: completeIn,
  onText: (comparedLine) => change({ comparedLine }),
});

const nameMenu = on(h("select"), "change", () => change({ configName: nameMenu.value }));
const program = h("code", { class: "program" });
const said = h("span", { class: "said", role: "status" });
const problemList = h("ul", {
  class: "problems",
  "aria-label": "Problems",
  "aria-live": "polite",
  hidden: true,
});

const isSweep = (): boolean => view.isSweep;

const warningTitle = h("summary");
const warningItems = h("ul", { "aria-label": "Warnings" });
const warningList = h(
  "details",
  { class: "warnings", open: true, hidden: true },
  warningTitle,
  warningItems,
);
const jobTitle = h("summary");
const jobItems = h("ol", { start: 0, "aria-label": "Jobs" });
const jobList = h(
  "details",
  { class: "warnings jobs", open: true, hidden: true },
  jobTitle,
  jobItems,
);

async function copy(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    said.textContent = `${what} copied`;
  } catch {
    said.textContent = `Copy it by hand: ${text}`;
  }
}

const copyButton = on(h("button", { type: "button" }, "Copy command line"), "click", () => {
  void copy(commandLine(tree.program, call(), isSweep()), "Command line");
});
const linkButton = on(h("button", { type: "button" }, "Copy link"), "click", () => {
  location.replace(`#${linkOf(state)}`);
  void copy(location.href, fitsLink(state.edits) ? "Link" : "Link without the changed files");
});

// Files.

const openFile: OpenFile = (path, line) => {
  if (fileOf(path) === undefined) return;
  choose("files");
  change({ file: path });
  showFile(path, line);
};

function showFile(path: string, line?: number): void {
  state = { ...state, file: path };
  fileEditor.show(path, textOf(path), line);
  if (line !== undefined) fileEditor.view.focus();
  drawFiles();
  revealFile();
}

const textOf = (path: string): string =>
  state.edits[path]?.text ?? editable(fileOf(path)?.text ?? "");

const fileEditor = createFileEditor({
  nonce,
  onText(text) {
    const { edits, file } = state;
    if (file !== null) change({ edits: withText({ files: tree.files, edits }, file, text) });
  },
  onSave: tree.canWrite ? () => void save() : undefined,
});

const opened = h("div", { class: "opened" }, fileEditor.view.dom);
const fileList = on(h("ul", { class: "files", "aria-label": "Files" }), "keydown", (event) => {
  const buttons = [...fileButtons.values()];
  const index = buttons.indexOf(document.activeElement as HTMLButtonElement);
  const steps: Readonly<Record<string, number>> = {
    ArrowDown: index + 1,
    ArrowUp: index - 1,
    Home: 0,
    End: buttons.length - 1,
  };
  const next = buttons[steps[event.key] ?? -1];
  if (next === undefined) return;
  event.preventDefault();
  next.focus();
});
const fileName = h("span", { class: "file-name" });
const revertButton = on(h("button", { type: "button" }, "Revert"), "click", () => {
  const { file } = state;
  if (file === null) return;
  serverProblems = [];
  change({ edits: withoutEdit(state.edits, file) });
  fileEditor.show(file, textOf(file));
  // It may be gone from the disk.
  if (isServed) void reload();
});
const saveButton = on(h("button", { type: "button" }, "Save"), "click", () => void save());

/** A second one would tell the version that the first is about to replace. */
let isSaving = false;

async function save(): Promise<void> {
  const { edits, file } = state;
  const edit = file === null ? undefined : edits[file];
  const entry = file === null ? undefined : fileOf(file);
  if (entry === undefined || edit === undefined || isSaving) return;
  isSaving = true;
  const { path } = entry;
  const body: ChangedFile = { path, ...edit, text: withLineEnds(edit.text, entry.text) };
  try {
    const answer = await fetch(FILE_NAME, {
      method: "PUT",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const { error, version } = (await answer.json()) as {
      readonly version?: string;
      readonly error?: { readonly code: string; readonly message: string; readonly hint?: string };
    };
    if (typeof version === "string") {
      const now = withSaved({ files: tree.files, edits: state.edits }, { ...body, version });
      tree = { ...tree, files: now.files };
      change({ edits: now.edits });
      serverProblems = [];
      said.textContent = `${path} saved`;
    } else serverProblems = [problem(error?.code ?? "", error?.message ?? "", error?.hint)];
  } catch {
    serverProblems = [notAnswered()];
  } finally {
    isSaving = false;
  }
  draw();
}

const problem = (code: string, message: string, hint?: string): Problem => ({
  code,
  message: [message],
  hint,
  place: undefined,
  nearest: undefined,
  available: [],
});

const notAnswered = () =>
  problem(
    "playground/server",
    "The server of this page does not answer",
    "is hydraconf open still running?",
  );

/** What changed on the disk is read when the user comes back; changed texts stay. */
async function reload(): Promise<void> {
  const previous = tree;
  try {
    const answer = await fetch(TREE_NAME);
    if (!answer.ok) return;
    const next = (await answer.json()) as TreeDocument;
    // It may have been read before what was saved meanwhile.
    if (isSaving || tree !== previous) return;
    const now = withRead({ files: tree.files, edits: state.edits }, next.files);
    const isSame =
      JSON.stringify([next.files, now.files]) === JSON.stringify([filesRead, tree.files]);
    if (isSame) return;
    filesRead = next.files;
    tree = { ...next, files: now.files };
    isStale = true;
    change(readable({ ...state, edits: now.edits }));
    serverProblems = conflictsOf(now.edits, next.files).map((path) =>
      next.files.some((file) => file.path === path)
        ? problem(
            "playground/changed",
            `'${path}' was changed on the disk, and here`,
            "revert it here to see the other change",
          )
        : problem(
            "playground/changed",
            `'${path}' was removed from the disk, and changed here`,
            "copy its text before you revert it here",
          ),
    );
    if (state.file !== null) fileEditor.show(state.file, textOf(state.file));
  } catch {
    // The page goes on without its server.
  }
}

const fileButtons = new Map<string, HTMLButtonElement>();

/** The files by folder. */
function drawFileList(): void {
  const paths = tree.files.map(({ path }) => path);
  if (paths.join("\n") === [...fileButtons.keys()].join("\n")) return;
  fileButtons.clear();
  let folder = "";
  const items: HTMLElement[] = [];
  for (const path of paths) {
    const index = path.lastIndexOf("/");
    if (path.slice(0, index + 1) !== folder) {
      folder = path.slice(0, index + 1);
      items.push(h("li", { class: "folder" }, folder));
    }
    const button = h("button", { type: "button", class: `file${folder === "" ? "" : " inner"}` });
    on(button, "click", () => {
      change({ file: path });
      showFile(path);
      button.focus();
    });
    fileButtons.set(path, button);
    items.push(h("li", {}, button));
  }
  fileList.replaceChildren(...items);
}

/** Its files; one is marked if it was changed or is open. */
function drawFiles(): void {
  drawFileList();
  const { edits, file } = state;
  const [first] = fileButtons.keys();
  // There may be hundreds: Tab goes to one, and arrow keys to the others.
  const reached = file !== null && fileButtons.has(file) ? file : first;
  for (const [path, button] of fileButtons) {
    button.tabIndex = path === reached ? 0 : -1;
    const mark = edits[path] === undefined ? "" : " \u2022";
    const text = path.slice(path.lastIndexOf("/") + 1) + mark;
    if (button.textContent !== text) {
      button.textContent = text;
      button.setAttribute("aria-label", `${path}${mark === "" ? "" : ", changed"}`);
    }
    if (path === file) button.setAttribute("aria-current", "true");
    else button.removeAttribute("aria-current");
  }
  const isChanged = file !== null && edits[file] !== undefined;
  fileName.textContent = file === null ? "Choose a file" : `${tree.directory}/${file}`;
  opened.hidden = file === null;
  revertButton.disabled = !isChanged;
  saveButton.disabled = !isChanged;
  saveButton.hidden = !tree.canWrite;
}

/** Scrolls the list of files, and nothing around it, to the open one. */
function revealFile(): void {
  const button = state.file === null ? undefined : fileButtons.get(state.file);
  if (button === undefined) return;
  const { clientHeight, scrollTop } = fileList;
  const { offsetHeight, offsetTop } = button;
  const isShown = offsetTop >= scrollTop && offsetTop + offsetHeight <= scrollTop + clientHeight;
  if (!isShown) fileList.scrollTop = offsetTop - clientHeight / 2;
}

// Options of groups.

/** A menu stays the same element, so that it keeps the focus. */
const menus = new Map<string, { readonly row: HTMLElement; readonly select: HTMLSelectElement }>();
const listedMenus = h("div", { class: "menus" });
const otherMenus = h("div", { class: "menus" });
const hydraMenus = h("div", { class: "menus" });
const otherGroups = h(
  "details",
  {},
  h("summary", {}, "Groups that the config does not have"),
  otherMenus,
);
const hydraGroups = h("details", {}, h("summary", {}, "Hydra's own groups"), hydraMenus);
const noOptions = h("p", { class: "hint" }, "The tree has no groups.");

const NOTHING = "";

function menuElement({ chosen, isListed, key, options }: ChoiceMenu): HTMLElement {
  const existing = menus.get(key);
  const select = existing?.select ?? h("select", { "aria-label": key });
  const wanted = [...(chosen === null || !isListed ? [NOTHING] : []), ...options];
  if (chosen !== null && isListed) wanted.push(NOTHING);
  const shown = [...select.options].map(({ value }) => value);
  if (shown.join("\n") !== wanted.join("\n"))
    select.replaceChildren(
      ...wanted.map((value) => h("option", { value }, value === NOTHING ? "(nothing)" : value)),
    );
  select.value = chosen ?? NOTHING;
  if (existing !== undefined) return existing.row;
  on(
    select,
    "change",
    () => void chooseOption(key, select.value === NOTHING ? null : select.value),
  );
  const row = h("label", { class: "menu" }, h("span", {}, key), select);
  menus.set(key, { row, select });
  return row;
}

async function chooseOption(key: string, option: string | null): Promise<void> {
  const { configName, line } = state;
  const chosen = await answered(composer.ask("choose", { configName, line, key, option }));
  if (state.line !== line || state.configName !== configName) await chooseOption(key, option);
  else if (chosen !== undefined) setText(lineEditor, chosen);
}

function replaceRows(parent: HTMLElement, rows: readonly HTMLElement[]): void {
  const isSame =
    parent.children.length === rows.length &&
    rows.every((row, index) => parent.children[index] === row);
  if (!isSame) parent.replaceChildren(...rows);
}

function drawMenus(all: View["menus"]): void {
  const rows = (isShown: (menu: ChoiceMenu) => boolean) => all.filter(isShown).map(menuElement);
  // As long as there is no config, no group is apart.
  const isApart = (menu: ChoiceMenu) => !menu.isListed && view.config !== undefined;
  replaceRows(
    listedMenus,
    rows((menu) => !isApart(menu) && !menu.isHydra),
  );
  replaceRows(
    otherMenus,
    rows((menu) => isApart(menu) && !menu.isHydra),
  );
  replaceRows(
    hydraMenus,
    rows(({ isHydra }) => isHydra),
  );
  otherGroups.hidden = otherMenus.children.length === 0;
  hydraGroups.hidden = hydraMenus.children.length === 0;
  noOptions.hidden = listedMenus.children.length + otherMenus.children.length > 0;
}

// The config.

const historyPanel = h("div", { class: "origin", role: "region", "aria-label": "Origin" });
const noHistory = "Go to a line to see where its value comes from.";

/** The history of the value in a line, or null for none. */
async function historyOf(line: number): Promise<HTMLElement | null> {
  const { config } = view;
  const key = config?.lines[line]?.key;
  if (config === undefined || key === undefined) return null;
  const history = await answered(composer.ask("history", { number: config.number, key }));
  return history === undefined ? null : historyElement(history, openFile);
}

/** The history of the line of the cursor. */
async function drawHistory(): Promise<void> {
  const { config } = view;
  const line = cursorLine(configView);
  const element = await historyOf(line);
  // Of what is shown by now, it is asked again.
  if (view.config !== config || line !== cursorLine(configView)) return;
  historyPanel.replaceChildren(element ?? h("p", { class: "hint" }, noHistory));
}

const configView: EditorView = createConfigView({
  nonce,
  describe: historyOf,
  onLine: () => void drawHistory(),
});
const resolveBox = on(h("input", { type: "checkbox" }), "change", () => {
  isResolved = resolveBox.checked;
  void renew();
});
const configNote = h("p", { class: "hint" });
const differencePanel = h("div");
const picturePanel = h("div");

function drawConfig(lines: ConfigView["lines"]): void {
  const marks: Mark[] = [];
  let offset = 0;
  for (const { isOverride, text } of lines) {
    if (isOverride) marks.push({ from: offset, class: "cm-override" });
    offset += text.length + 1;
  }
  const text = lines.map((line) => line.text).join("\n");
  setText(configView, text, [markedWith(marks)]);
  hasMarks = marks.length > 0;
  void drawHistory();
}
let hasMarks = false;

/** What is wrong, and whether the config is that of what was typed. */
function drawProblems(): void {
  hasProblemsDrawn = true;
  const { config, problems } = view;
  const isOld = config?.source.kind === "earlier";
  const all = [...serverProblems, ...failures, ...problems];
  problemList.replaceChildren(...all.map((problem) => problemElement(problem, openFile)));
  problemList.hidden = all.length === 0;
  for (const shown of [configView.dom, differencePanel, picturePanel])
    shown.classList.toggle("old", isOld);
  configNote.textContent = config === undefined ? "There is no config yet." : noteOf(config);
}

function noteOf({ source }: ConfigView): string {
  switch (source.kind) {
    case "line":
      return hasMarks ? "Marked lines are set by overrides." : "";
    case "sweep":
      return "The config of the first job:";
    case "earlier":
      return "The config before the mistake:";
    case "without":
      return `The config without ${source.overrides.join(" ")}:`;
  }
}

/** Warnings of the composition, and the jobs of a sweep. */
function drawWarnings(): void {
  const { config, warnings } = view;
  warningList.hidden = warnings.length === 0;
  warningTitle.textContent = plural(warnings.length, "warning");
  warningItems.replaceChildren(...warnings.map((warning) => problemElement(warning, openFile)));
  const source = config?.source;
  jobList.hidden = source?.kind !== "sweep";
  if (source?.kind !== "sweep") return;
  const { count, first } = source;
  jobTitle.textContent = `A sweep of ${plural(count, "job")}`;
  jobItems.replaceChildren(
    ...first.map((job) => h("li", {}, h("code", {}, job.map(shellQuote).join(" ")))),
    ...(count > first.length
      ? [h("li", { class: "hint" }, `and ${grouped(String(count - first.length))} more`)]
      : []),
  );
}

let hasProblemsDrawn = false;
let problemTimer: ReturnType<typeof setTimeout> | undefined;

/** What is half typed is not told as wrong at once, except by its mark: the page would jump with every key. */
function announceProblems(): void {
  clearTimeout(problemTimer);
  const isTyped = view.problems.length > 0 && problemList.hidden && hasProblemsDrawn;
  if (isTyped) problemTimer = setTimeout(drawProblems, PROBLEM_MS);
  else drawProblems();
}

// Difference, defaults.

/** @param difference undefined while it is not looked at, and without a config */
function drawDifference(difference: Difference | undefined): void {
  const isFailed = difference?.kind === "failed";
  markLine(comparedEditor, isFailed ? difference.problems : []);
  if (difference === undefined) {
    differencePanel.replaceChildren();
    return;
  }
  const shown = isFailed
    ? h(
        "ul",
        { class: "problems", "aria-label": "Problems of the compared command line" },
        ...difference.problems.map((problem) => problemElement(problem, openFile)),
      )
    : differenceElement(difference.differences, openFile);
  differencePanel.replaceChildren(shown);
}

const hydraBox = on(h("input", { type: "checkbox" }), "change", () => {
  showsHydra = hydraBox.checked;
  void renew();
});

// Tabs.

const tabs = new Map<string, { readonly button: HTMLButtonElement; readonly panel: HTMLElement }>();
const chosen = { left: "options", right: "config" };
const narrow = matchMedia("(max-width: 760px)");

function choose(id: string): void {
  const tab = TABS.find((entry) => entry.id === id);
  if (tab === undefined) return;
  chosen[tab.side] = id;
  state = { ...state, tab: id };
  drawTabs();
}

function drawTabs(): void {
  for (const { id, side } of TABS) {
    const { button, panel } = tabs.get(id) ?? {};
    if (button === undefined || panel === undefined) continue;
    const isShown = narrow.matches ? state.tab === id : chosen[side] === id;
    button.setAttribute("aria-selected", String(isShown));
    button.tabIndex = chosen[side] === id ? 0 : -1;
    if (panel.hidden === isShown) {
      panel.hidden = !isShown;
      if (isShown && LAZY.has(id)) void renew();
      if (isShown && id === "files") revealFile();
    }
  }
}

const isVisible = (id: string): boolean => tabs.get(id)?.panel.hidden === false;

function tabList(side: Tab["side"], label: string): HTMLElement {
  const sideTabs = TABS.filter((tab) => tab.side === side);
  const list = h("div", { class: `tabs ${side}`, role: "tablist", "aria-label": label });
  for (const { id, title } of sideTabs) {
    const { button } = tabs.get(id) ?? {};
    if (button === undefined) continue;
    button.textContent = title;
    on(button, "click", () => {
      choose(id);
      keepLink();
    });
    list.append(button);
  }
  return on(list, "keydown", ({ key }) => {
    const step = key === "ArrowRight" ? 1 : key === "ArrowLeft" ? -1 : 0;
    if (step === 0) return;
    const index = sideTabs.findIndex(({ id }) => id === chosen[side]);
    const next = sideTabs[(index + step + sideTabs.length) % sideTabs.length];
    if (next === undefined) return;
    choose(next.id);
    tabs.get(next.id)?.button.focus();
    keepLink();
  });
}

// The page.

function markLine(editor: EditorView, problems: readonly Problem[]): void {
  const line = editor.state.doc.toString();
  const parts = problems.flatMap(({ place }) => {
    const part = markedPart(line, place);
    return part === undefined ? [] : [{ from: part[0], to: part[1], class: "cm-wrong" }];
  });
  setMarks(editor, parts);
}

/** What needs no composition. */
function drawState(): void {
  const options = names().includes(state.configName) ? names() : [...names(), state.configName];
  if ([...nameMenu.options].map(({ value }) => value).join("\n") !== options.join("\n"))
    nameMenu.replaceChildren(...options.map((value) => h("option", { value }, value)));
  nameMenu.value = state.configName;
  drawProgram();
  drawFiles();
}

function drawProgram(): void {
  const call = { configName: state.configName, overrides: [] };
  program.textContent = commandLine(tree.program, call, isSweep());
  program.title = program.textContent;
}

function draw(): void {
  const { config, difference, menus, problems } = view;
  markLine(lineEditor, problems);
  drawProgram();
  drawMenus(menus);
  drawWarnings();
  drawConfig(config?.lines ?? []);
  picturePanel.replaceChildren(...(config?.rows ? [treePicture(config.rows, openFile)] : []));
  drawDifference(difference);
  announceProblems();
}

let linkTimer: ReturnType<typeof setTimeout> | undefined;

/** Browsers refuse a link that changes with every key. */
function keepLink(): void {
  clearTimeout(linkTimer);
  linkTimer = setTimeout(() => history.replaceState(null, "", `#${linkOf(state)}`), LINK_MS);
}

const field = (label: string, control: HTMLElement): HTMLElement =>
  h("label", { class: "chooser" }, `${label} `, control);

function build(): void {
  for (const { id } of TABS) {
    const button = h("button", {
      type: "button",
      role: "tab",
      id: `tab-${id}`,
      "aria-controls": `panel-${id}`,
    });
    const panel = h("section", {
      role: "tabpanel",
      id: `panel-${id}`,
      "aria-labelledby": `tab-${id}`,
      hidden: true,
    });
    tabs.set(id, { button, panel });
  }
  const panelOf = (id: string) => tabs.get(id)?.panel ?? h("section");
  panelOf("options").append(noOptions, listedMenus, otherGroups, hydraGroups);
  panelOf("files").append(
    fileList,
    h("div", { class: "bar" }, fileName, revertButton, saveButton),
    opened,
  );
  panelOf("config").append(
    h("div", { class: "bar" }, h("label", {}, resolveBox, " Resolve interpolations"), configNote),
    configView.dom,
    historyPanel,
  );
  panelOf("difference").append(
    h("p", { class: "hint" }, "The config of other overrides, compared with the one above:"),
    h("div", { class: "line compared" }, comparedEditor.dom),
    differencePanel,
  );
  panelOf("defaults").append(
    h("div", { class: "bar" }, h("label", {}, hydraBox, " With Hydra's own")),
    picturePanel,
  );
  document.getElementById("controls")?.append(field("Config", nameMenu), linkButton, themeButton());
  document.getElementById("playground")?.append(
    h(
      "div",
      { class: "command" },
      program,
      h("div", { class: "line" }, lineEditor.dom),
      copyButton,
    ),
    said,
    problemList,
    warningList,
    jobList,
    ...tree.notes.map((note) => h("p", { class: "hint" }, note)),
    h(
      "div",
      { class: "panes" },
      tabList("left", "Tree"),
      tabList("right", "Result"),
      ...TABS.map(({ id, side }) => {
        const panel = panelOf(id);
        panel.classList.add("panel", side);
        return panel;
      }),
    ),
  );
}

function follow(): void {
  on(document.documentElement, "keydown", () => {
    said.textContent = "";
  });
  narrow.addEventListener("change", drawTabs);
  addEventListener("hashchange", () => {
    state = readable({ ...state, ...stateIn(location.hash) });
    setText(lineEditor, state.line);
    setText(comparedEditor, state.comparedLine ?? "");
    isStale = true;
    if (state.file !== null) showFile(state.file);
    choose(state.tab);
    change(state);
  });
  if (isServed) addEventListener("focus", () => void reload());
  addEventListener("beforeunload", (event) => {
    if (!fitsLink(state.edits)) event.preventDefault();
  });
}

build();
choose(state.tab);
drawState();
void renew();
if (state.file !== null) showFile(state.file);
follow();
