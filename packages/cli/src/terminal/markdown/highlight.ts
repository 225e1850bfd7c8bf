import { createRequire } from "node:module";
import type { HLJSApi, LanguageFn } from "highlight.js";
import { type Line, type Role, span, type Span } from "../text/line.ts";

/**
 * Returns code as lines with the roles of its words. The text stays unchanged; code in an unknown language has one
 * role.
 */
export const highlighted = (code: string, language: string): readonly Line[] => {
  const name = /^[\w+#-]*/.exec(language)?.[0] ?? "";
  const isShort = code.length <= lengthMax && !longLine.test(code);
  return linesOf((name !== "" && isShort ? spansOf(code, name) : null) ?? [span(code, "code")]);
};

/** Limits the text, because the library's regular expressions may take quadratic time. */
const lengthMax = 8000;
const longLine = /[^\n]{1000}/;

// Loaded when the first code is shown, and synchronously, because the layout cannot wait.
const require = createRequire(import.meta.url);
let library: HLJSApi | null = null;

const loaded = (): HLJSApi => {
  // Typed by the package's own declarations.
  const common = require("highlight.js/lib/common") as HLJSApi;
  common.registerLanguage("dockerfile", require("highlight.js/lib/languages/dockerfile") as LanguageFn);
  common.registerAliases("jsonl", { languageName: "json" });
  common.registerAliases("python3", { languageName: "python" });
  common.registerAliases(["mysql", "postgresql", "sqlite"], { languageName: "sql" });
  common.registerAliases("vue", { languageName: "xml" });
  return common;
};

/** Returns null if the library does not know the language, or changed the code. */
const spansOf = (code: string, language: string): readonly Span[] | null => {
  library ??= loaded();
  if (library.getLanguage(language) === undefined) return null;
  const { value } = library.highlight(code, { language, ignoreIllegals: true });
  const spans: Span[] = [];
  const open: Role[] = [];
  for (const [tag, classes, text = ""] of value.matchAll(/<span class="([^"]*)">|<\/span>|([^<]+)/g)) {
    if (classes !== undefined) open.push(roleOf(classes));
    else if (tag === "</span>") open.pop();
    else spans.push(span(unescaped(text), open.findLast((role) => role !== "plain") ?? "code"));
  }
  return spans.map(({ text }) => text).join("") === code ? spans : null;
};

const unescaped = (text: string): string =>
  text.replaceAll(/&(?:lt|gt|quot|#x27|amp);/g, (entity) => entities.get(entity) ?? entity);

const entities: ReadonlyMap<string, string> = new Map([
  ["&lt;", "<"],
  ["&gt;", ">"],
  ["&quot;", '"'],
  ["&#x27;", "'"],
  ["&amp;", "&"],
]);

/** Returns the role; `plain` means the role of the surrounding text. */
const roleOf = (classes: string): Role => {
  const scope = /hljs-([a-z-]+)/.exec(classes)?.[1] ?? "";
  return scopes.find(([, names]) => names.split(" ").includes(scope))?.[0] ?? "plain";
};

const scopes: readonly (readonly [Role, string])[] = [
  ["keyword", "keyword selector-tag meta-keyword doctag"],
  ["string", "string regexp char quote"],
  ["number", "number literal symbol bullet"],
  ["comment", "comment meta"],
  ["name", "title name attr attribute type built section selector-class selector-id property"],
  ["code", "subst"],
  ["added", "addition"],
  ["removed", "deletion"],
];

const linesOf = (spans: readonly Span[]): readonly Line[] => {
  const lines: Span[][] = [[]];
  for (const each of spans)
    for (const [index, text] of each.text.split("\n").entries()) {
      if (index > 0) lines.push([]);
      if (text !== "") lines.at(-1)?.push({ ...each, text });
    }
  return lines;
};
