import { getOrCreate } from "../../../system/get-or-create.ts";
import type { LabelOf } from "../../labels/label-rules.ts";
import { escapeRegex } from "./filters.ts";

/**
 * How a program writes the labels that label rules unify, as regular expressions for ncu. Any number may
 * stand where one stood: the next run has others there, and thousands of labels would not fit into a
 * command line. A label keeps its own numbers where they decide what it becomes.
 *
 * @param names all labels of the program, as it writes them
 * @returns null for a label that the program writes as reports show it, and in no other way
 */
export function writtenForms(
  names: ReadonlySet<string>,
  labelOf: LabelOf,
): (label: string) => readonly string[] | null {
  const labelsByForm = new Map<string, Set<string>>();
  const namesByLabel = new Map<string, string[]>();
  for (const name of names) {
    const label = labelOf(name);
    getOrCreate(namesByLabel, label, () => []).push(name);
    getOrCreate(labelsByForm, formOf(name), () => new Set<string>()).add(label);
  }
  return (label) => {
    const own = namesByLabel.get(label) ?? [];
    if (own.every((name) => name === label)) return null;
    const forms = own.map((name) => {
      const form = formOf(name);
      return labelsByForm.get(form)?.size === 1 ? form : escapeRegex(name);
    });
    return [...new Set(forms)];
  };
}

const formOf = (name: string): string =>
  escapeRegex(name.replaceAll(/\d+/g, NUMBER)).replaceAll(NUMBER, "\\d+");

/** Stands in no label: ncu prints them, and a text ends there. */
const NUMBER = "\0";
