// Writes docs/events.md and docs/effects.md from the types of events and effects, with their comments; `--check` fails
// when one of them is stale.
import { globSync, readFileSync } from "node:fs";

import { type Node, parseSync } from "oxc-parser";
import { format } from "oxfmt";

import { childrenOf } from "../test/rules/source.ts";
import { writeOrCheck } from "./generated.ts";

const root = new URL("../", import.meta.url).pathname;
const sources = "packages/machine/src/{thread,prompt,conversation/protocol}/*.ts";

/** An exported type of the machine. */
interface Declared {
  readonly name: string;
  readonly says: string;
  /** The type after the equals sign, or the whole interface. */
  readonly node: Node;
  readonly file: SourceFile;
}

interface SourceFile {
  readonly text: string;
  readonly comments: readonly { readonly value: string; readonly end: number }[];
}

/** A page: the types with a section each, in this order, and those whose sections are at its end. */
interface Page {
  readonly path: string;
  readonly head: readonly string[];
  readonly shown: readonly Declared[];
  readonly named: readonly Declared[];
}

const main = async (): Promise<void> => {
  const declared = new Map(globSync(sources, { cwd: root }).toSorted().flatMap(declaredIn));
  const pages = pagesOf(declared);
  const texts: Record<string, string> = {};
  for (const page of pages) {
    const linked = new Map(pages.flatMap((each) => each.named.map(({ name }) => [name, hrefOf(page, each, name)])));
    texts[page.path] = (await format(page.path, written(page, linked), { printWidth: 120 })).code;
  }
  writeOrCheck(root, texts, "pnpm fields");
};

const pagesOf = (declared: ReadonlyMap<string, Declared>): readonly Page[] => {
  const named = (names: readonly string[]) => names.flatMap((name) => declared.get(name) ?? []);
  const membersOf = (name: string) => named(namesIn(declared.get(name)?.node));
  const events = [...named(["ThreadStarted"]), ...membersOf("Event")];
  const effects = [...membersOf("AnswerableEffect"), ...membersOf("OneShotEffect")];
  const ofEvents = reached(events, declared);
  return [
    { path: "docs/events.md", head: headOfEvents, shown: events, named: ofEvents },
    {
      path: "docs/effects.md",
      head: headOfEffects,
      shown: effects,
      named: reached(effects, declared).filter((each) => !ofEvents.includes(each)),
    },
  ];
};

const generated = "Generated from the types by `pnpm fields`; the gate fails when it is stale.";

const headOfEvents = [
  "# Events, field by field",
  `A summary, with refusals, is in [the conversation](conversation.md#events). ${generated}`,
  "Every event has its `type` and `at`, the time by the host's clock in milliseconds since the epoch; the lists leave these two out. A field with `?` may be absent. Everything is plain JSON.",
];

const headOfEffects = [
  "# Effects, field by field",
  `A summary is in [the conversation](conversation.md#effects). ${generated}`,
  "Every effect has its `type`, which the lists leave out. A field with `?` may be absent. Everything is plain JSON.",
];

/** Returns the exported types of a file by name. */
const declaredIn = (path: string): readonly (readonly [string, Declared])[] => {
  const text = readFileSync(root + path, "utf8");
  const { program, comments } = parseSync(path, text, { preserveParens: false });
  const file = { text, comments };
  return program.body.flatMap((statement) => {
    if (statement.type !== "ExportNamedDeclaration") return [];
    const declaration = statement.declaration;
    if (declaration?.type !== "TSInterfaceDeclaration" && declaration?.type !== "TSTypeAliasDeclaration") return [];
    const { name } = declaration.id;
    const node = declaration.type === "TSTypeAliasDeclaration" ? declaration.typeAnnotation : declaration;
    return [[name, { name, says: commentBefore(statement, file), node, file }] as const];
  });
};

/** Returns the comment right before a node in one line; empty without one. */
const commentBefore = ({ start }: { readonly start: number }, { text, comments }: SourceFile): string => {
  const comment = comments.find(
    ({ value, end }) => value.startsWith("*") && end <= start && /^[\s|(]*$/.test(text.slice(end, start)),
  );
  return (comment?.value ?? "")
    .replaceAll(/^\*|\n\s*\*/g, " ")
    .replaceAll(/\s+/g, " ")
    .trim();
};

/** Returns all types that these name, directly or indirectly, sorted by name. */
const reached = (from: readonly Declared[], declared: ReadonlyMap<string, Declared>): readonly Declared[] => {
  const found = new Set<Declared>();
  const visit = (each: Declared): void => {
    for (const name of namesIn(each.node)) {
      const next = declared.get(name);
      if (next === undefined || found.has(next) || from.includes(next)) continue;
      found.add(next);
      visit(next);
    }
  };
  from.forEach(visit);
  return [...found].toSorted((left, right) => (left.name < right.name ? -1 : 1));
};

/** Returns the types that a node names, in order. */
const namesIn = (node: Node | undefined): readonly string[] => {
  if (node === undefined) return [];
  const own =
    (node.type === "TSTypeReference" && node.typeName.type === "Identifier" && [node.typeName.name]) ||
    (node.type === "TSInterfaceHeritage" && node.expression.type === "Identifier" && [node.expression.name]) ||
    [];
  return [...own, ...childrenOf(node).flatMap(namesIn)];
};

const hrefOf = (from: Page, to: Page, name: string): string =>
  `${from === to ? "" : to.path.replace("docs/", "")}#${name.toLowerCase()}`;

type Links = ReadonlyMap<string, string>;

const written = ({ head, shown, named }: Page, links: Links): string =>
  [
    ...head,
    ...shown.flatMap((each) => [`## \`${typeIn(each.node, each.file) ?? each.name}\``, ...sectionOf(each, links)]),
    "## Types that they name",
    ...named.flatMap((each) => [`### ${each.name}`, ...sectionOf(each, links)]),
  ].join("\n\n");

/** Returns a type's own comment, and its fields, or the members of its union. */
const sectionOf = ({ says, node, file }: Declared, links: Links): readonly string[] => {
  if (node.type === "TSInterfaceDeclaration") {
    const heritage = node.extends.map((each) => typeText(each, file, links));
    const inherited = heritage.length === 0 ? [] : [`It has the fields of ${heritage.join(" and ")}, and:`];
    return [says, ...inherited, listOf(node, file, links)];
  }
  const members = node.type === "TSUnionType" ? node.types : [];
  if (!members.some((member) => typeIn(member, file) !== undefined)) return [says, typeText(node, file, links)];
  const items = members.map((member) => {
    const fields = fieldsOf(member).map((field) => fieldText(field, file, links));
    const parts = heritageOf(member).map((each) => `the fields of ${typeText(each, file, links)}`);
    const name = typeIn(member, file);
    const title = name === undefined ? typeText(member, file, links) : `\`${name}\``;
    const comment = commentBefore(member, file);
    const given = [...parts, ...fields].join("; ");
    return `- ${title}${given === "" ? "" : `: ${given}`}${comment === "" ? "" : `. ${comment}`}`;
  });
  return [says, items.join("\n")];
};

/** Returns a list of a type's fields. Consecutive fields without comments share an item. */
const listOf = (node: Node, file: SourceFile, links: Links): string => {
  const items: { readonly text: string; readonly hasComment: boolean }[] = [];
  for (const field of fieldsOf(node)) {
    const comment = commentBefore(field, file);
    const text = fieldText(field, file, links);
    const last = items.at(-1);
    if (comment === "" && last?.hasComment === false)
      items[items.length - 1] = { text: `${last.text}; ${text}`, hasComment: false };
    else items.push(comment === "" ? { text, hasComment: false } : { text: `${text}. ${comment}`, hasComment: true });
  }
  return items.length === 0 ? "No other fields." : items.map(({ text }) => `- ${text}`).join("\n");
};

const fieldText = (
  { name, type }: { readonly name: string; readonly type: Node },
  file: SourceFile,
  links: Links,
): string => `\`${name}\`: ${typeText(type, file, links)}`;

/** Returns the fields of an interface or type literal, without `type` and `at`. */
const fieldsOf = (node: Node) => membersOf(node).filter(({ name }) => name !== "type" && name !== "at");

const membersOf = (node: Node): readonly { readonly name: string; readonly type: Node; readonly start: number }[] => {
  if (node.type === "TSIntersectionType") return node.types.flatMap(membersOf);
  const members =
    node.type === "TSInterfaceDeclaration" ? node.body.body : node.type === "TSTypeLiteral" ? node.members : [];
  return members.flatMap((member) => {
    if (member.type !== "TSPropertySignature" || member.key.type !== "Identifier") return [];
    const { key, optional, typeAnnotation, start } = member;
    return typeAnnotation === null
      ? []
      : [{ name: key.name + (optional ? "?" : ""), type: typeAnnotation.typeAnnotation, start }];
  });
};

/** Returns the named types in an intersection. */
const heritageOf = (node: Node): readonly Node[] =>
  node.type === "TSIntersectionType" ? node.types.filter(({ type }) => type === "TSTypeReference") : [];

/** Returns the text of the field `type`. */
const typeIn = (node: Node, { text }: SourceFile): string | undefined => {
  const type = membersOf(node).find(({ name }) => name === "type")?.type;
  return type === undefined ? undefined : text.slice(type.start, type.end).replaceAll('"', "");
};

/** Returns a type as code, in which each type with a section is a link. */
const typeText = (node: { readonly start: number; readonly end: number }, file: SourceFile, links: Links): string => {
  const code = file.text
    .slice(node.start, node.end)
    .replaceAll(/\/\*\*[\s\S]*?\*\//g, "")
    .replaceAll(/\breadonly /g, "")
    .replaceAll(/\s+/g, " ")
    .replace(/^\| /, "");
  const pieces = code.split(new RegExp(String.raw`\b(${[...links.keys()].join("|")})\b`));
  // Every second piece is a name; blanks at the ends of the others are outside the code.
  return pieces
    .map((piece, index) =>
      index % 2 === 1 ? `[\`${piece}\`](${links.get(piece)})` : piece.replace(/\S(?:.*\S)?/, "`$&`"),
    )
    .join("");
};

await main();
