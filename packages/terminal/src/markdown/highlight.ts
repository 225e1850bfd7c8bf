import { createRequire } from "node:module";
import type { HLJSApi, LanguageFn } from "highlight.js";
import type { Line, Role, Span } from "../text/line.ts";

/** Code as lines, its words by what they are. Its text stays as it is; of an unknown language, it is all code. */
export const highlighted = (code: string, language: string): readonly Line[] => {
  const written = /^[\w+#-]*/.exec(language.toLowerCase())?.[0] ?? "";
  const name = names.get(written);
  const isShort = code.length <= lengthMax && !longLine.test(code);
  const spans = name !== undefined && isShort ? spansOf(code, name) : null;
  return linesOf(spans ?? [{ text: code, roles: ["code"] }]);
};

/** Languages as the library calls them, and as people do. */
const languages = {
  bash: ["sh", "shell", "zsh", "console"],
  cpp: ["c", "c++", "h", "hpp"],
  csharp: ["cs", "c#"],
  css: ["scss", "less"],
  diff: ["patch"],
  dockerfile: ["docker"],
  go: ["golang"],
  ini: ["toml"],
  java: [],
  javascript: ["js", "jsx", "mjs", "cjs"],
  json: ["jsonc", "json5", "jsonl"],
  kotlin: ["kt"],
  php: [],
  python: ["py", "python3"],
  ruby: ["rb"],
  rust: ["rs"],
  sql: ["postgresql", "sqlite", "mysql"],
  swift: [],
  typescript: ["ts", "tsx", "mts"],
  xml: ["html", "svg", "vue"],
  yaml: ["yml"],
} as const;

const names: ReadonlyMap<string, string> = new Map(
  Object.entries(languages).flatMap(([name, others]) => [name, ...others].map((each) => [each, name] as const)),
);

/** Its expressions may take quadratic time. */
const lengthMax = 8000;
const longLine = /[^\n]{1000}/;

// Loaded when the first code is shown, and at once: what is laid out can't wait.
const require = createRequire(import.meta.url);
let library: HLJSApi | null = null;

const libraryWith = (name: string): HLJSApi => {
  // The package says so in its types.
  library ??= require("highlight.js/lib/core") as HLJSApi;
  if (library.getLanguage(name) === undefined)
    library.registerLanguage(name, require(`highlight.js/lib/languages/${name}`) as LanguageFn);
  return library;
};

/** Null where the library can't read the code, or changed it. */
const spansOf = (code: string, name: string): readonly Span[] | null => {
  const { value } = libraryWith(name).highlight(code, { language: name, ignoreIllegals: true });
  const spans: Span[] = [];
  const open: Role[] = [];
  for (const [tag, classes, text = ""] of value.matchAll(/<span class="([^"]*)">|<\/span>|([^<]+)/g)) {
    if (classes !== undefined) open.push(roleOf(classes));
    else if (tag === "</span>") open.pop();
    else spans.push({ text: unescaped(text), roles: [open.findLast((role) => role !== "plain") ?? "code"] });
  }
  return spans.map(({ text }) => text).join("") === code ? spans : null;
};

const unescaped = (text: string): string =>
  text.replaceAll(/&(?:lt|gt|quot|#x27|amp);/g, (entity) => entities[entity] ?? entity);

const entities: Readonly<Record<string, string>> = {
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#x27;": "'",
  "&amp;": "&",
};

/** `plain`: as what is around it. */
const roleOf = (classes: string): Role => rolesByScope.get(/hljs-([a-z-]+)/.exec(classes)?.[1] ?? "") ?? "plain";

const rolesByScope: ReadonlyMap<string, Role> = new Map(
  Object.entries({
    keyword: ["keyword", "selector-tag", "meta-keyword", "doctag"],
    string: ["string", "regexp", "char", "quote"],
    number: ["number", "literal", "symbol", "bullet"],
    comment: ["comment", "meta"],
    name: [
      "title",
      "name",
      "attr",
      "attribute",
      "type",
      "built",
      "section",
      "selector-class",
      "selector-id",
      "property",
    ],
    code: ["subst"],
    added: ["addition"],
    removed: ["deletion"],
  } satisfies Partial<Record<Role, readonly string[]>>).flatMap(([role, scopes]) =>
    // The keys are roles, by the line above.
    scopes.map((scope) => [scope, role as Role] as const),
  ),
);

const linesOf = (spans: readonly Span[]): readonly Line[] => {
  const lines: Span[][] = [[]];
  for (const span of spans)
    for (const [index, text] of span.text.split("\n").entries()) {
      if (index > 0) lines.push([]);
      if (text !== "") lines.at(-1)?.push({ ...span, text });
    }
  return lines;
};
