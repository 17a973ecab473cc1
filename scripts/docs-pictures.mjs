// Makes the documentation's pictures from real runs: npm run docs:pictures
// Profiles the built-in network on the CPU, compares two runs, sweeps, and takes pictures of the pages in
// the system's Chromium, light and dark. `--list` prints the names of the pictures and makes nothing.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir, hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { shrinkPng } from "./png.mjs";
import { scriptArguments } from "./script-arguments.mjs";
import { root } from "./setup.mjs";
import { terminalSvg } from "./terminal-svg.mjs";

const directory = join(root, "docs", "pictures");
const WIDTH = 1240;
/** Sharp on screens of high density, and still small. */
const SCALE = 1.25;
const MAX_BYTES = 150_000;
const COLUMNS = 76;

/**
 * A region is stable where the 95 % interval of its mean is within ±5 %: long runs even out what else
 * the machine does for a moment, and many of them make the interval narrow.
 */
const STEADY = ["repeats=15", "warmup_runs=2", "infer.iterations=100"];

/** The runs, in a directory of their own: the pictures show their names and nothing of this machine. */
const RUNS = {
  terminal: ["workload=nvtx_regions", "infer.batch_size=16", "hydra.run.dir=terminal"],
  // Repeated: the answer would else advise it, with the path of the program.
  report: ["repeats=3", "infer.iterations=100", "hydra.run.dir=report"],
  sweep: [
    "-m",
    "infer.batch_size=1,2,4,8",
    "model.num_blocks=1,2",
    "infer.iterations=40",
    "hydra.sweep.dir=sweep",
  ],
};

/** Only a comparison judges times, and needs a machine that is steady: it comes last, and the other pictures stand without it. */
const COMPARED = {
  before: [...STEADY, "hydra.run.dir=before"],
  after: [...STEADY, "model.num_blocks=4", "hydra.run.dir=after"],
};

/** Pages with what is done to them before the picture, and the last thing that it shows. */
const PAGES = [
  { name: "report", page: "report/recorder/regions/report.html", until: "#regions-heading" },
  {
    name: "region",
    page: "report/recorder/regions/report.html",
    prepare: (page) => page.getByRole("treeitem", { name: /^residual/ }).click(),
    from: "#regions",
    themes: ["light"],
    until: "#notes-heading",
  },
  {
    name: "sweep",
    page: "sweep/sweep-report.html",
    prepare: (page) => page.getByRole("button", { name: "residual", exact: true }).click(),
    until: 'h2:text-is("Calls")',
  },
];
const COMPARISON = [{ name: "compare", page: "compare.html", until: "#regions-heading" }];
const THEMES = ["light", "dark"];
const TERMINAL = "first-run.svg";
const PICTURES = [
  TERMINAL,
  ...[...PAGES, ...COMPARISON].flatMap(({ name, themes = THEMES }) =>
    themes.map((theme) => `${name}-${theme}.png`),
  ),
];

const { values } = scriptArguments(import.meta.url, { options: { list: { type: "boolean" } } });
if (values.list === true) console.log(PICTURES.join("\n"));
else await makePictures();

async function makePictures() {
  const cwd = mkdtempSync(join(tmpdir(), "hydraconf-pictures-"));
  try {
    for (const args of Object.values(RUNS)) profile(cwd, args);
    profile(cwd, ["report", "sweep"]);
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, TERMINAL), await terminalPicture(cwd));
    await photograph(cwd, PAGES);
    for (const [name, args] of Object.entries(COMPARED)) profileSteadily(cwd, name, args);
    profile(cwd, ["compare", "before", "after", "--html", "compare.html"]);
    await photograph(cwd, COMPARISON);
  } finally {
    rmSync(cwd, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Again where regions were not stable: a picture of them would speak of this machine's load. */
function profileSteadily(cwd, name, args) {
  for (let left = 3; left > 0; left--) {
    profile(cwd, args);
    const file = join(cwd, name, "recorder/regions/report.json");
    const { notes } = JSON.parse(readFileSync(file, "utf8")).reports[0];
    const unstable = notes.find((note) => note.includes("are not stable over the runs"));
    if (unstable === undefined) return;
    console.log(`${name}: ${unstable}`);
    if (left === 1)
      throw new Error(
        "this machine is too busy for the picture of a comparison: try again later; the others are made",
      );
    rmSync(join(cwd, name), { recursive: true });
  }
}

function profile(cwd, args) {
  console.log(`deep-profile ${args.join(" ")}`);
  const program = join(root, "dist", "bin", "deep-profile.js");
  if (!existsSync(program)) throw new Error("nothing is built yet: npm run build");
  execFileSync(process.execPath, [program, ...args], {
    cwd,
    stdio: ["ignore", "ignore", "inherit"],
  });
}

async function terminalPicture(cwd) {
  const { renderRegionTable } = await import(
    pathToFileURL(join(root, "dist/report/index.js")).href
  );
  const report = JSON.parse(
    readFileSync(join(cwd, "terminal/recorder/regions/report.json"), "utf8"),
  );
  const table = renderRegionTable(report.reports[0], { width: COLUMNS, color: true });
  const command = RUNS.terminal.slice(0, -1).join(" ");
  return terminalSvg([`$ npm start -- ${command}`, "", ...table.trimEnd().split("\n")], {
    columns: COLUMNS,
    label: "Region table of a run",
  });
}

async function photograph(cwd, pages) {
  const { chromium } = await import("playwright-core");
  const executablePath = process.env.HYDRACONF_CHROMIUM ?? "/usr/bin/chromium";
  if (!existsSync(executablePath))
    throw new Error(
      "Chromium is needed: apt-get install chromium, or name it in HYDRACONF_CHROMIUM",
    );
  // Its settings, caches and reports of crashes are not the user's.
  const home = join(cwd, "home");
  mkdirSync(home, { recursive: true });
  const browser = await chromium.launch({
    executablePath,
    args: ["--no-sandbox", "--disable-gpu"],
    env: {
      ...process.env,
      HOME: home,
      XDG_CONFIG_HOME: join(home, "config"),
      XDG_CACHE_HOME: join(home, "cache"),
      XDG_DATA_HOME: join(home, "data"),
    },
  });
  try {
    for (const picture of pages)
      for (const theme of picture.themes ?? THEMES)
        await photographPage(browser, cwd, picture, theme);
  } finally {
    await browser.close();
  }
}

async function photographPage(browser, cwd, { name, page: file, prepare, from, until }, theme) {
  const page = await browser.newPage({
    viewport: { width: WIDTH, height: 800 },
    deviceScaleFactor: SCALE,
    colorScheme: theme,
    reducedMotion: "reduce",
  });
  await page.goto(pathToFileURL(join(cwd, file)).href);
  await prepare?.(page);
  await page.mouse.move(0, 0);
  await page.evaluate(() => {
    document.activeElement?.blur();
    scrollTo(0, 0);
  });
  const place = async (selector) => (await page.locator(selector).first().boundingBox()).y;
  const top = from === undefined ? 0 : (await place(from)) - 8;
  const bottom = (await place(until)) - 24;
  refuseTraces(await textAbove(page, bottom), name);
  const shot = await page.screenshot({
    fullPage: true,
    clip: { x: 0, y: top, width: WIDTH, height: bottom - top },
  });
  const bytes = shrinkPng(shot);
  if (bytes.length > MAX_BYTES)
    throw new Error(`${name}-${theme}.png has ${bytes.length} bytes, more than ${MAX_BYTES}`);
  const target = join(directory, `${name}-${theme}.png`);
  writeFileSync(target, bytes);
  console.log(`${target}: ${bytes.length} bytes`);
  await page.close();
}

/** Text of everything that begins above a line of the page. */
function textAbove(page, bottom) {
  return page.evaluate(
    (end) =>
      [...document.querySelectorAll("body *")]
        .filter((element) => {
          const [box] = element.getClientRects();
          return box !== undefined && box.top + scrollY < end;
        })
        .flatMap((element) => [...element.childNodes])
        .flatMap((node) => (node.nodeType === 3 ? [node.textContent] : []))
        .join("\n"),
    bottom,
  );
}

/** A picture in the documentation must not tell on whose machine it was made. */
function refuseTraces(text, name) {
  for (const trace of [hostname(), homedir(), tmpdir(), root])
    if (trace.length > 1 && text.includes(trace))
      throw new Error(`the picture ${name} would show '${trace}'`);
}
