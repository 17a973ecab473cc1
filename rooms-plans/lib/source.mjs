// What a module imports, exports and declares, from its text alone.
import { posix } from "node:path";

const { dirname, join } = posix;

export const resolveFrom = (file, spec) => (spec.startsWith(".") ? join(dirname(file), spec) : null);

export function specifier(fromFile, target, original = "") {
  let path = posix.relative(dirname(fromFile), target);
  if (!path.startsWith(".")) path = `./${path}`;
  if (original.endsWith("/") && !path.endsWith("/")) path += "/";
  return path;
}

/** Every binding that a pattern declares. */
export function bindingNames(ts, name) {
  if (ts.isIdentifier(name)) return [name];
  return name.elements.flatMap((e) => (ts.isOmittedExpression(e) ? [] : bindingNames(ts, e.name)));
}

export function declaredBy(ts, statement) {
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations.flatMap((d) => bindingNames(ts, d.name));
  if (
    (ts.isFunctionDeclaration(statement) ||
      ts.isClassDeclaration(statement) ||
      ts.isInterfaceDeclaration(statement) ||
      ts.isTypeAliasDeclaration(statement) ||
      ts.isEnumDeclaration(statement) ||
      ts.isModuleDeclaration(statement)) &&
    statement.name !== undefined &&
    ts.isIdentifier(statement.name)
  )
    return [statement.name];
  return [];
}

export const hasExport = (ts, statement) =>
  ts.canHaveModifiers(statement) &&
  (ts.getModifiers(statement) ?? []).some((m) => m.kind === ts.SyntaxKind.ExportKeyword);

/** The facts of one module. Positions are those of `sf`. */
export function analyse(ts, path, sf) {
  const info = {
    path,
    sf,
    imports: [],
    exportFroms: [],
    localExports: new Map(),
    dynamic: [],
    urls: [],
    declared: new Map(),
    hasImportMeta: false,
  };
  for (const node of sf.statements) {
    if (ts.isImportDeclaration(node)) {
      const spec = node.moduleSpecifier.text;
      const clause = node.importClause;
      const typeOnly = clause?.isTypeOnly ?? clause?.phaseModifier === ts.SyntaxKind.TypeKeyword;
      const bindings = clause?.namedBindings;
      info.imports.push({
        node,
        spec,
        resolved: resolveFrom(path, spec),
        typeOnly: typeOnly === true,
        bare: clause === undefined,
        default: clause?.name,
        ns: bindings && ts.isNamespaceImport(bindings) ? bindings.name : undefined,
        named:
          bindings && ts.isNamedImports(bindings)
            ? bindings.elements.map((e) => ({
                imported: (e.propertyName ?? e.name).text,
                local: e.name.text,
                node: e,
                typeOnly: typeOnly === true || e.isTypeOnly,
              }))
            : [],
        attributes: node.attributes?.getText(sf) ?? "",
      });
    } else if (ts.isExportDeclaration(node)) {
      if (node.moduleSpecifier !== undefined) {
        const spec = node.moduleSpecifier.text;
        const clause = node.exportClause;
        info.exportFroms.push({
          node,
          spec,
          resolved: resolveFrom(path, spec),
          typeOnly: node.isTypeOnly,
          star: clause === undefined,
          ns: clause && ts.isNamespaceExport(clause) ? clause.name.text : undefined,
          named:
            clause && ts.isNamedExports(clause)
              ? clause.elements.map((e) => ({
                  imported: (e.propertyName ?? e.name).text,
                  exported: e.name.text,
                  typeOnly: node.isTypeOnly || e.isTypeOnly,
                }))
              : [],
        });
      } else if (node.exportClause !== undefined)
        for (const e of node.exportClause.elements)
          info.localExports.set(e.name.text, (e.propertyName ?? e.name).text);
    } else
      for (const name of declaredBy(ts, node)) {
        const before = info.declared.get(name.text);
        const exported = hasExport(ts, node);
        if (before) {
          before.statements.push(node);
          before.nodes.push(name);
          before.exported ||= exported;
        } else info.declared.set(name.text, { name: name.text, exported, statements: [node], nodes: [name] });
      }
  }
  const literal = (node) =>
    node && (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node) || ts.isTemplateExpression(node))
      ? node
      : undefined;
  const visit = (node) => {
    if (ts.isCallExpression(node)) {
      const [first] = node.arguments;
      const callee = node.expression;
      const text = callee.getText(sf);
      if (callee.kind === ts.SyntaxKind.ImportKeyword && first && ts.isStringLiteral(first))
        info.dynamic.push({ node: first, spec: first.text, resolved: resolveFrom(path, first.text), kind: "import()" });
      else if (
        first &&
        ts.isStringLiteral(first) &&
        /^(vi\.(mock|doMock|unmock|importActual|importMock)|require|require\.resolve|createRequire\(import\.meta\.url\)(\.resolve)?|import\.meta\.resolve)$/.test(text)
      )
        info.dynamic.push({ node: first, spec: first.text, resolved: resolveFrom(path, first.text), kind: text });
      else if (/^(join|resolve|path\.(join|resolve))$/.test(text) && first?.getText(sf) === "import.meta.dirname")
        if (literal(node.arguments[1])) info.urls.push({ node: literal(node.arguments[1]), dirname: true });
    }
    if (ts.isNewExpression(node) && node.expression.getText(sf) === "URL" && node.arguments?.length === 2)
      if (node.arguments[1].getText(sf) === "import.meta.url" && literal(node.arguments[0]))
        info.urls.push({ node: literal(node.arguments[0]) });
    if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument) && ts.isStringLiteral(node.argument.literal)) {
      const { literal: lit } = node.argument;
      info.dynamic.push({ node: lit, spec: lit.text, resolved: resolveFrom(path, lit.text), kind: "type" });
    }
    if (ts.isMetaProperty(node)) info.hasImportMeta = true;
    ts.forEachChild(node, visit);
  };
  visit(sf);
  return info;
}

export const isValueImport = (one) =>
  !one.typeOnly &&
  (one.bare || one.default !== undefined || one.ns !== undefined || one.named.length === 0 || one.named.some((n) => !n.typeOnly));
export const isValueExport = (one) =>
  !one.typeOnly && (one.star || one.named.length === 0 || one.named.some((n) => !n.typeOnly));

/** Applies edits {start, end, text}; later ones in the list win nothing: overlaps are errors. */
export function applyEdits(text, edits, name = "") {
  const sorted = [...edits].sort((a, b) => a.start - b.start || a.end - b.end);
  let out = "";
  let at = 0;
  let last;
  for (const edit of sorted) {
    if (last && edit.start === last.start && edit.end === last.end && edit.text === last.text) continue;
    if (edit.start < at)
      throw new Error(`${name}: edits overlap at ${edit.start}: '${text.slice(edit.start, edit.end)}' -> '${edit.text}'`);
    out += text.slice(at, edit.start) + edit.text;
    at = edit.end;
    last = edit;
  }
  return out + text.slice(at);
}

/** Nodes of a strongly connected component, for each node; `edges` maps a node to an iterable. */
export function components(nodes, edges) {
  const index = new Map();
  const low = new Map();
  const stack = [];
  const on = new Set();
  const component = new Map();
  let counter = 0;
  for (const root of nodes) {
    if (index.has(root)) continue;
    const work = [[root, null]];
    while (work.length > 0) {
      const frame = work.at(-1);
      const [node] = frame;
      if (frame[1] === null) {
        index.set(node, counter);
        low.set(node, counter++);
        stack.push(node);
        on.add(node);
        frame[1] = [...(edges.get(node) ?? [])];
      }
      const next = frame[1].pop();
      if (next === undefined) {
        work.pop();
        if (work.length > 0) {
          const [parent] = work.at(-1);
          low.set(parent, Math.min(low.get(parent), low.get(node)));
        }
        if (low.get(node) === index.get(node)) {
          const members = [];
          let one;
          do {
            one = stack.pop();
            on.delete(one);
            members.push(one);
          } while (one !== node);
          for (const member of members) component.set(member, members);
        }
      } else if (!index.has(next)) work.push([next, null]);
      else if (on.has(next)) low.set(node, Math.min(low.get(node), index.get(next)));
    }
  }
  return component;
}

export function closure(starts, edges) {
  const seen = new Set();
  const work = [...starts];
  while (work.length > 0) {
    const one = work.pop();
    if (seen.has(one)) continue;
    seen.add(one);
    work.push(...(edges.get(one) ?? []));
  }
  return seen;
}
