/** The editors of the page: a line of overrides, a file, and a config that is read. */
import {
  acceptCompletion,
  autocompletion,
  type Completion,
  type CompletionContext,
  type CompletionResult,
  completionKeymap,
} from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { syntaxHighlighting } from "@codemirror/language";
import { EditorState, type Extension, StateEffect, StateField } from "@codemirror/state";
import {
  Decoration,
  type DecorationSet,
  drawSelection,
  EditorView,
  hoverTooltip,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { classHighlighter } from "@lezer/highlight";

/** A marked part of a text, or a whole line of it where `to` is absent. */
export interface Mark {
  readonly from: number;
  readonly to?: number;
  readonly class: string;
}

const setMarksEffect = StateEffect.define<readonly Mark[]>();

const marks = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(shown, transaction) {
    let next = shown.map(transaction.changes);
    const { length } = transaction.newDoc;
    for (const effect of transaction.effects)
      if (effect.is(setMarksEffect))
        next = Decoration.set(
          effect.value
            .filter(
              ({ from, to }) => from <= length && (to === undefined || (to <= length && from < to)),
            )
            .map(({ class: name, from, to }) =>
              to === undefined
                ? Decoration.line({ class: name }).range(from)
                : Decoration.mark({ class: name }).range(from, to),
            ),
          true,
        );
    return next;
  },
  provide: (field) => EditorView.decorations.from(field),
});

/** The effect that shows these marks and no others. */
export const markedWith = (all: readonly Mark[]): StateEffect<readonly Mark[]> =>
  setMarksEffect.of(all);

export const setMarks = (view: EditorView, all: readonly Mark[]): void =>
  view.dispatch({ effects: markedWith(all) });

/** Replaces the text where it differs, so that the cursor and the scroll position stay. */
export function setText(
  view: EditorView,
  text: string,
  effects: readonly StateEffect<readonly Mark[]>[] = [],
): void {
  const old = view.state.doc.toString();
  if (old === text) {
    view.dispatch({ effects });
    return;
  }
  const shorter = Math.min(old.length, text.length);
  let start = 0;
  while (start < shorter && old[start] === text[start]) start += 1;
  let end = 0;
  while (end < shorter - start && old[old.length - 1 - end] === text[text.length - 1 - end])
    end += 1;
  const insert = text.slice(start, text.length - end);
  view.dispatch({ changes: { from: start, to: old.length - end, insert }, effects });
}

const highlighted: Extension = [yaml(), syntaxHighlighting(classHighlighter)];

const onChange = (listener: (text: string) => void): Extension =>
  EditorView.updateListener.of(({ docChanged, state }) => {
    if (docChanged) listener(state.doc.toString());
  });

/** Of all editors: styles need the nonce of the page. */
const common = (nonce: string): Extension => [
  EditorView.cspNonce.of(nonce),
  drawSelection(),
  marks,
];

/** What continues the word at a cursor. */
export interface LineCompletions {
  /** Where the word begins in the line. */
  readonly start: number;
  readonly options: readonly Completion[];
}

export interface LineEditorOptions {
  readonly label: string;
  readonly nonce: string;
  readonly text: string;
  readonly complete: (line: string, cursor: number) => Promise<LineCompletions>;
  readonly onText: (text: string) => void;
}

/** An editor of one line, which completes. */
export function createLineEditor(options: LineEditorOptions): EditorView {
  const { complete, label, nonce, onText, text } = options;
  const source = async (context: CompletionContext): Promise<CompletionResult | null> => {
    const { explicit, pos, state } = context;
    const { options: found, start } = await complete(state.doc.toString(), pos);
    if (found.length === 0 || (pos === start && !explicit)) return null;
    return { from: start, options: found, filter: false };
  };
  // What is pasted may have several lines.
  const oneLine = EditorState.transactionFilter.of((transaction) => {
    if (transaction.newDoc.lines === 1) return transaction;
    const line = transaction.newDoc.toString().replaceAll("\n", " ");
    const { head } = transaction.newSelection.main;
    return {
      changes: { from: 0, to: transaction.startState.doc.length, insert: line },
      selection: { anchor: Math.min(head, line.length) },
    };
  });
  return new EditorView({
    doc: text,
    extensions: [
      common(nonce),
      history(),
      oneLine,
      autocompletion({
        // As in a shell, Tab takes what is shown at once: else it would leave the line.
        interactionDelay: 0,
        override: [source],
        icons: false,
        aboveCursor: false,
      }),
      keymap.of([
        { key: "Tab", run: acceptCompletion },
        ...completionKeymap,
        ...historyKeymap,
        ...defaultKeymap,
      ]),
      EditorView.lineWrapping,
      EditorView.contentAttributes.of({ "aria-label": label, spellcheck: "false" }),
      onChange(onText),
    ],
  });
}

export interface FileEditorOptions {
  readonly nonce: string;
  readonly onText: (text: string) => void;
  /** Undefined where nothing can be saved. */
  readonly onSave: (() => void) | undefined;
}

/** An editor of files: one at a time, each with its own history. */
export interface FileEditor {
  readonly view: EditorView;
  /** Shows a file, at a line if there is one. */
  readonly show: (path: string, text: string, line?: number) => void;
}

export function createFileEditor({ nonce, onSave, onText }: FileEditorOptions): FileEditor {
  const states = new Map<
    string,
    { readonly state: EditorState; readonly scroll: StateEffect<unknown> }
  >();
  let shown: string | undefined;
  const create = (path: string, doc: string) =>
    EditorState.create({
      doc,
      extensions: [
        common(nonce),
        highlighted,
        history(),
        lineNumbers(),
        keymap.of([
          ...(onSave === undefined
            ? []
            : [
                {
                  key: "Mod-s",
                  preventDefault: true,
                  run: () => {
                    onSave();
                    return true;
                  },
                },
              ]),
          ...historyKeymap,
          ...defaultKeymap,
        ]),
        EditorView.contentAttributes.of({ "aria-label": `File ${path}`, spellcheck: "false" }),
        onChange(onText),
      ],
    });
  const view = new EditorView({ extensions: [common(nonce)] });
  return {
    view,
    show(path, text, line) {
      if (shown !== path) {
        if (shown !== undefined)
          states.set(shown, { state: view.state, scroll: view.scrollSnapshot() });
        shown = path;
        const saved = states.get(path);
        // The place of the file before would be measured in this one.
        view.scrollDOM.scrollTop = 0;
        view.setState(saved?.state ?? create(path, text));
        if (saved !== undefined) view.dispatch({ effects: saved.scroll });
      }
      if (view.state.doc.toString() !== text) setText(view, text);
      if (line === undefined) return;
      const { from } = view.state.doc.line(Math.min(line, view.state.doc.lines));
      view.dispatch({
        selection: { anchor: from },
        effects: [
          EditorView.scrollIntoView(from, { y: "center" }),
          markedWith([{ from, class: "cm-shown" }]),
        ],
      });
    },
  };
}

export interface ConfigViewOptions {
  readonly nonce: string;
  /** Called when the cursor is in another place. */
  readonly onLine: () => void;
  /** What is shown on hover of a line, from 0; null for nothing. */
  readonly describe: (line: number) => Promise<HTMLElement | null>;
}

/** The line of the cursor, from 0. */
export const cursorLine = ({ state }: EditorView): number =>
  state.doc.lineAt(state.selection.main.head).number - 1;

/** A config that is read: the cursor goes through it, and nothing is typed. */
export function createConfigView({ describe, nonce, onLine }: ConfigViewOptions): EditorView {
  const hover = hoverTooltip(
    async (view, position) => {
      const { from, number, to } = view.state.doc.lineAt(position);
      const dom = await describe(number - 1);
      return dom === null ? null : { pos: from, end: to, create: () => ({ dom }) };
    },
    { hideOnChange: true },
  );
  return new EditorView({
    extensions: [
      common(nonce),
      highlighted,
      EditorState.readOnly.of(true),
      hover,
      keymap.of(defaultKeymap),
      // A telephone shows no keyboard for what is only read.
      EditorView.contentAttributes.of({ "aria-label": "Composed config", inputmode: "none" }),
      EditorView.updateListener.of(({ selectionSet }) => {
        if (selectionSet) onLine();
      }),
    ],
  });
}
