// node engine-finish.mjs REPO: wording and local names, after engine.plan was applied. Says what it did not find.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
const repo = process.argv[2];
const edits = {
  "src/compose/defaults/tree.ts": [[/\bledger\b/g, "tracker"]],
  "src/values/edit/merge.ts": [
    ["const outlook = staticKind(", "const kind = staticKind("],
    ['if (outlook === "any container")', 'if (kind === "any container")'],
    ['return outlook === "untyped container"', 'return kind === "untyped container"'],
  ],
  "src/values/edit/draft.ts": [["what becomes of it is seen by nobody", "no later change of it is seen"]],
  "src/values/yaml/reader.ts": [
    ["null keys and interpolations are for whoever puts the value into a config to check", "null keys and interpolations are not checked: putting the value into a config does that"],
    ["but whoever walks it meets every occurrence", "but a walk meets every occurrence"],
  ],
  "src/values/yaml/check-tree.ts": [["becomes a key, which nobody interpolates.", "becomes a key, which is not interpolated."]],
  "src/values/place.ts": [
    ["whoever refers to the place from now on", "every later reference to the place"],
    ["What it has resolved answers whoever asks for such a child", "What it has resolved is the answer to every request for such a child"],
    ["or one that nobody else will get", "or one that is not shared"],
  ],
  "src/values/check-options.ts": [["Whoever copies options loses what is none of their own:", "A copy of options lacks what is not their own property:"]],
  "src/values/interpolation/lexer.ts": [["until whoever knows where it stands says so", "until the caller that knows its place sets it"]],
  "src/values/node.ts": [["The marker of a mandatory value that nobody has given yet.", "The marker of a mandatory value that is not given yet."]],
  "src/values/errors.ts": [
    ["so that it also helps where nobody catches it or a program logs it", "so that it also helps where it is not caught or a program logs it"],
    ["none of the details, since nobody is shown it", "none of the details, since it is not shown"],
    ["asks for that item, whoever refers to the resolver", "asks for that item, whichever key refers to the resolver"],
    ["from the bottom of a composition to whoever asked for it", "from the bottom of a composition to its caller"],
    ["The frames of whoever called us, since ours help nobody with a config that is wrong;", "The caller's frames, since the engine's do not help with a config that is wrong;"],
  ],
  "src/compose/sources/file-source.ts": [["False as well where nobody may look.", "False as well where the directory may not be read."]],
  "src/compose/sources/repository.ts": [["for a scheme nobody handles", "for a scheme that no source handles"]],
  "src/compose/defaults/placement.ts": [["The package when nobody says otherwise,", "The package by default,"]],
  "src/compose/defaults/choice-tracker.ts": [
    ["the command line and whoever came before win over it", "the command line and earlier overrides win over it"],
    ["by the command line, then by whoever says `override` first", "by the command line, then by the first `override`"],
    ["// What was meant by an `override` of a config file that met no group of the list.\n\n", ""],
  ],
  "src/schema/index.ts": [["nobody gave (`???`)", "are not given (`???`)"]],
  "CONTRIBUTING.md": [
    [
      "Copy `src/values/resolution/builtin-resolvers.ts`, which exports one `Resolver`, add it to the list in `builtin-resolvers.ts`\nbeside it, and test it",
      "Copy `ocEnv` in `src/values/resolution/builtin-resolvers.ts`, a `Resolver`, add it to the list `builtinResolvers` of\nthat file, and test it",
    ],
    ["(copy `standard-plugins.ts`)", "(copy `joblib.ts`)"],
  ],
  "src/instantiate/targets.ts": [["What a getter would do is nobody's wish here.", "Getters are not called."]],
  "src/compose/hydra/schema.ts": [
    ["`schema.ts` reads like the declaration it stands for.", "The schema reads like the declaration it stands for."],
  ],
};
for (const [file, list] of Object.entries(edits)) {
  let text;
  try { text = readFileSync(join(repo, file), "utf8"); } catch { console.error(`no ${file}`); continue; }
  for (const [from, to] of list) {
    const after = text.replace(from, typeof to === "string" ? () => to : to);
    if (after === text) console.error(`${file}: not found: ${from}`);
    text = after;
  }
  writeFileSync(join(repo, file), text);
}
