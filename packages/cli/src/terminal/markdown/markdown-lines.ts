import { Marked, type MarkedToken, type Token, type Tokens } from "marked";
import { type Line, line, textLines, textOfLine, type Role, type Span } from "../text/line.ts";
import { wrapped, lineWidth, widthOf } from "../text/wrap.ts";
import { highlighted } from "./highlight.ts";
import { type MarkdownBlock, markdownBlocks } from "./markdown-stream.ts";
import { linkTarget } from "../text/theme.ts";

/** Lays out a whole text. */
export const markdownLines = (markdown: string, look: MarkdownLook): readonly Line[] =>
  markdownBlocks(markdown).flatMap((block) => markdownBlockLines(block, look));

/**
 * Lays out a Markdown block as lines. All of its letters are shown: if the lexer drops any, the source is shown
 * unchanged.
 */
export const markdownBlockLines = (block: MarkdownBlock, look: MarkdownLook): readonly Line[] => {
  const place = { ...look, indent: 0 };
  const lines = block.code === null ? proseLines(block, place) : codeLines(block.source, block.code.language, place);
  const label: readonly Line[] =
    block.code?.isFirst === true && block.code.language !== "" ? laid(line(block.code.language, "dim"), place) : [];
  return [...(block.gap ? [[]] : []), ...label, ...lines];
};

/** A separate instance without options, so that other users of the library cannot affect it. */
const markdown = new Marked();

const proseLines = ({ source, number }: MarkdownBlock, place: Place): readonly Line[] => {
  const asItIs = (): readonly Line[] => textLines(source).flatMap((text) => laid(text, place));
  if (isTooMuch(source)) return asItIs();
  try {
    const lines = tokensLines(numbered(markdown.lexer(source), number), place);
    return showsAll(source, lines) ? lines : asItIs();
  } catch {
    // The lexer fails only on deep nesting.
    return asItIs();
  }
};

/**
 * Returns whether a source is too expensive for the lexer. It takes quadratic time for some texts of only marks, and
 * more for deep nesting.
 */
const isTooMuch = (source: string): boolean =>
  deep.test(source) || source.length > lengthMax || (source.match(/[[\]*_~<>`!]/g)?.length ?? 0) > marksMax;

const deep = /(?:^|\n)(?:[ \t]*(?:[-*+>]|\d{1,9}[.)])){50}/;
const lengthMax = 20_000;
const marksMax = 1000;

/** Sets the number of a list item that continues a numbered list. */
const numbered = ([first, ...rest]: readonly Token[], number: number | null): readonly Token[] =>
  first === undefined ? [] : [number !== null && first.type === "list" ? { ...first, start: number } : first, ...rest];

/** Returns whether the lines show every letter of a source, at least as often. */
const showsAll = (source: string, lines: readonly Line[]): boolean => {
  const counts = new Map<string, number>();
  for (const [letter] of shownIn(lines).matchAll(/\p{L}/gu)) counts.set(letter, (counts.get(letter) ?? 0) + 1);
  for (const [letter] of source.replaceAll(/<br\s*\/?>/gi, "").matchAll(/\p{L}/gu)) {
    const left = (counts.get(letter) ?? 0) - 1;
    if (left < 0) return false;
    counts.set(letter, left);
  }
  return true;
};

/**
 * Returns the text of lines, with the hidden addresses of their links. Each address occurs once, and not if the link's
 * text shows it.
 */
const shownIn = (lines: readonly Line[]): string => {
  const parts: { text: string; readonly link: string }[] = [];
  for (const { text, link = "" } of lines.flat()) {
    const last = parts.at(-1);
    if (last?.link === link) last.text += text;
    else if (text.trim() !== "") parts.push({ text, link });
  }
  return parts
    .map(({ text, link }) => (text.includes(link) || isAddress(text, link) ? text : `${text}${link}`))
    .join("");
};

/** Lays out tokens, with an empty line between them if the source has one. */
const tokensLines = (tokens: readonly Token[], place: Place): readonly Line[] => {
  const lines: Line[] = [];
  let isBlank = false;
  for (const token of tokens) {
    if (isBlank && token.type !== "space" && lines.length > 0) lines.push([]);
    isBlank = token.type === "space" || token.raw.endsWith("\n\n");
    lines.push(...tokenLines(token, place));
  }
  return lines;
};

const tokenLines = (given: Token, place: Place): readonly Line[] => {
  // The other token type is for extensions, and there are none.
  const token = given as MarkedToken;
  switch (token.type) {
    case "space":
      return [];
    case "heading":
      return inlineLines(token.tokens, ["heading"], place).flatMap((text) =>
        laid([{ text: `${"#".repeat(token.depth)} `, roles: ["heading"] }, ...text], place),
      );
    case "paragraph":
      return inlineLines(token.tokens, [], place).flatMap((text) => laid(text, place));
    case "text":
      return inlineLines(token.tokens ?? [token], [], place).flatMap((text) => laid(text, place));
    case "code":
      return [
        ...(token.lang === undefined || token.lang === "" ? [] : laid(line(token.lang, "dim"), place)),
        ...codeLines(token.text, token.lang ?? "", place),
      ];
    case "list":
      return listLines(token, place);
    case "blockquote":
      return tokensLines(token.tokens, { ...place, soft: false, indent: place.indent + 2 }).map((each) => [
        { text: "> ", roles: ["dim"] },
        ...each,
      ]);
    case "table":
      return tableLines(token, place);
    case "hr":
      return [line("---", "dim")];
    default:
      return textLines(token.raw.trimEnd()).flatMap((text) => laid(text, place));
  }
};

const listLines = ({ items, ordered, start, loose }: Tokens.List, place: Place): readonly Line[] =>
  items.flatMap((item, index) => {
    const mark = `${ordered ? `${Number(start) + index}.` : "-"} `;
    const body = itemLines(item, { ...place, indent: place.indent + mark.length });
    const rows = body.length === 0 ? [[]] : body;
    return [
      ...(loose && index > 0 ? [[]] : []),
      ...rows.map((row, nth): Line =>
        nth > 0 && row.length === 0
          ? []
          : [{ text: nth === 0 ? mark : " ".repeat(mark.length), roles: ["dim"] }, ...row],
      ),
    ];
  });

/** Lays out a list item; a task has its box before the first words. */
const itemLines = ({ tokens, task, checked }: Tokens.ListItem, place: Place): readonly Line[] => {
  const box: Line = task ? [{ text: checked === true ? "[x] " : "[ ] ", roles: ["dim"] }] : [];
  const [first, ...rest] = tokens.filter(({ type }) => type !== "checkbox");
  if (box.length === 0 || first === undefined) return [...(first === undefined ? [box] : tokensLines(tokens, place))];
  const inner = first.type === "text" || first.type === "paragraph" ? (first.tokens ?? [first]) : null;
  if (inner === null) return [box, ...tokensLines([first, ...rest], place)];
  const words = inlineLines(
    inner.filter(({ type }) => type !== "checkbox"),
    [],
    place,
  );
  return [
    ...words.flatMap((text, index) => laid(index === 0 ? [...box, ...text] : text, place)),
    ...tokensLines(rest, place),
  ];
};

/** Lays out code without a frame or an indent, so that a copy is exactly the code. */
const codeLines = (source: string, language: string, place: Place): readonly Line[] => {
  const lines = highlighted(source, language);
  return place.soft ? lines : lines.flatMap((each) => wrapped(each, roomOf(place)));
};

/** Lays out a table in columns, narrowed if necessary; if even their words do not fit, each row as a list of cells. */
const tableLines = ({ header, rows, align }: Tokens.Table, place: Place): readonly Line[] => {
  const heads = header.map(({ tokens }) => inlineLines(tokens, ["strong"], place));
  const cells = rows.map((row) => row.map(({ tokens }) => inlineLines(tokens, [], place)));
  const content = heads.map((_, column) => [heads, ...cells].flatMap((row) => row[column] ?? []));
  const widths = narrowed(content, roomOf(place) - between.length * (heads.length - 1));
  if (widths === null)
    return cells.length === 0 ? heads.flat().flatMap((each) => laid(each, place)) : listed(heads, cells, place);
  const below: Line = [{ text: widths.map((each) => "─".repeat(each)).join("─┼─"), roles: ["dim"] }];
  const columns = widths.map((each, index) => ({ width: each, align: align[index] ?? null }));
  return [...rowLines(heads, columns), below, ...cells.flatMap((row) => rowLines(row, columns))];
};

/** Returns the widths of columns of these lines. The widest are narrowed down to their words; null if that is too wide. */
const narrowed = (content: readonly Cell[], room: number): readonly number[] | null => {
  const whole = content.map((lines) => Math.max(...lines.map(lineWidth), 1));
  const least = content.map((lines) => Math.max(...lines.flatMap(wordsOf).map(widthOf), 1));
  const sum = (widths: readonly number[]): number => widths.reduce((all, each) => all + each, 0);
  if (sum(least) > room) return null;
  for (let most = Math.max(...whole); ; most--) {
    const widths = whole.map((each, column) => Math.max(Math.min(each, most), least[column] ?? 1));
    if (sum(widths) <= room) return widths;
  }
};

const wordsOf = (given: Line): readonly string[] => textOfLine(given).split(" ");

type Cell = readonly Line[];

interface Column {
  readonly width: number;
  readonly align: Tokens.TableCell["align"];
}

const between = " │ ";

const rowLines = (given: readonly Cell[], columns: readonly Column[]): readonly Line[] => {
  const row = given.map((cell, nth) => cell.flatMap((each) => wrapped(each, columns[nth]?.width ?? 1)));
  const height = Math.max(...row.map(({ length }) => length), 1);
  return Array.from({ length: height }, (_, index) =>
    columns.flatMap((column, nth): Line => {
      const text = row[nth]?.[index] ?? [];
      const isLast = nth === columns.length - 1;
      return [...aligned(text, column, isLast), ...(isLast ? [] : [{ text: between, roles: ["dim" as const] }])];
    }),
  );
};

const aligned = (text: Line, { width, align }: Column, isLast: boolean): Line => {
  const room = width - lineWidth(text);
  const left = align === "right" ? room : align === "center" ? Math.floor(room / 2) : 0;
  return [...spaces(left), ...text, ...(isLast ? [] : spaces(room - left))];
};

const spaces = (count: number): Line => (count === 0 ? [] : [{ text: " ".repeat(count), roles: [] }]);

const listed = (heads: readonly Cell[], rows: readonly (readonly Cell[])[], place: Place): readonly Line[] =>
  rows.flatMap((row, index) => [
    ...(index === 0 ? [] : [[]]),
    ...row.flatMap((cell, column) => {
      const [first = [], ...rest] = cell;
      const head = (heads[column] ?? []).flat();
      return [[...head, { text: ": ", roles: ["dim" as const] }, ...first], ...rest].flatMap((each) =>
        laid(each, place),
      );
    }),
  ]);

/** The layout options of Markdown. */
export interface MarkdownLook {
  /** The width of the terminal. Rows leave its last column free. */
  readonly columns: number;
  /** A paragraph is one line that the terminal wraps: it reflows on a resize, and a copy has neither line ends nor gaps. */
  readonly soft: boolean;
  /** The terminal opens links, so addresses are not shown after them. Default: they are shown. */
  readonly hyperlinks?: boolean;
}

/** The place of a block, with the number of columns before it. */
interface Place extends MarkdownLook {
  readonly indent: number;
}

const laid = (given: Line, place: Place): readonly Line[] => (place.soft ? [given] : wrapped(given, roomOf(place)));

/** Returns the width, in columns, that is available for a row. */
const roomOf = ({ columns, indent }: Place): number => Math.max(columns - 1 - indent, 1);

/** Converts inline Markdown to lines: one, and another after each hard break. */
const inlineLines = (
  tokens: readonly Token[],
  roles: readonly Role[],
  look: Pick<MarkdownLook, "hyperlinks">,
): readonly Line[] => {
  const lines: Span[][] = [[]];
  for (const span of spansOf(tokens, { ...look, roles })) {
    if (span === lineBreak) lines.push([]);
    else lines.at(-1)?.push(span);
  }
  return lines;
};

interface Inside extends Pick<MarkdownLook, "hyperlinks"> {
  readonly roles: readonly Role[];
  readonly link?: string;
}

const lineBreak: Span = { text: "\n", roles: [] };

const spansOf = (tokens: readonly Token[], inside: Inside): readonly Span[] =>
  tokens.flatMap((token) => tokenSpans(token, inside));

const tokenSpans = (given: Token, inside: Inside): readonly Span[] => {
  // The other token type is for extensions, and there are none.
  const token = given as MarkedToken;
  switch (token.type) {
    case "strong":
      return spansOf(token.tokens, withRole(inside, "strong"));
    case "em":
      return spansOf(token.tokens, withRole(inside, "emphasis"));
    case "del":
      return spansOf(token.tokens, withRole(inside, "struck"));
    case "codespan":
      return spanOf(token.text, withRole(inside, "code"));
    case "br":
      return [lineBreak];
    case "link":
      return linkSpans(token, inside);
    case "image":
      return [...spanOf(`image: ${token.text}`, withRole(inside, "link")), ...addressSpans(token, inside)];
    case "text":
      return token.tokens === undefined ? spanOf(token.text, inside) : spansOf(token.tokens, inside);
    case "escape":
      return spanOf(token.text, inside);
    case "html":
      return /^<br\s*\/?>$/i.test(token.raw) ? [lineBreak] : spanOf(token.raw, inside);
    default:
      return spanOf(token.raw, inside);
  }
};

const withRole = (inside: Inside, role: Role): Inside => ({ ...inside, roles: [...inside.roles, role] });

/** Makes the spans of a text; a line end within a paragraph is a space. */
const spanOf = (text: string, { roles, link }: Inside): readonly Span[] =>
  text === ""
    ? []
    : [{ text: text.replaceAll(/[ \t]*\n[ \t]*/g, " "), roles, ...(link === undefined ? {} : { link }) }];

const linkSpans = (token: Tokens.Link, inside: Inside): readonly Span[] => {
  const { href, text, title } = token;
  const words = spansOf(token.tokens, { ...withRole(inside, "link"), link: href });
  if (isAddress(text, href) && !title) return words;
  return [...words, ...addressSpans(token, inside)];
};

/** Returns whether the text of a link shows its address. */
const isAddress = (text: string, href: string): boolean => [text, `mailto:${text}`, `http://${text}`].includes(href);

/**
 * Returns the address of a link in parentheses. It is shown if the terminal does not open links, or if the text looks
 * like another address.
 */
const addressSpans = ({ href, title, text }: Tokens.Link | Tokens.Image, inside: Inside): readonly Span[] => {
  const isOpened = inside.hyperlinks === true && linkTarget(href) !== null && !/:\/\/|\w\.\w/.test(text);
  const words = [isOpened && text !== "" ? [] : href, title ? `"${title}"` : []].flat().join(" ");
  return words === "" ? [] : [{ text: ` (${words})`, roles: [...inside.roles, "dim"], link: href }];
};
