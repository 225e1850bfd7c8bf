import type { MarkedToken, Token, Tokens } from "marked";
import { linkTarget } from "../text/link.ts";
import type { Line, Role, Span } from "../text/line.ts";
import type { MarkdownLook } from "./place.ts";

/** Converts inline Markdown to lines: one, and another after each hard break. */
export const inlineLines = (
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
export const isAddress = (text: string, href: string): boolean =>
  [text, `mailto:${text}`, `http://${text}`].includes(href);

/**
 * Returns the address of a link in parentheses. It is shown if the terminal does not open links, or if the text looks
 * like another address.
 */
const addressSpans = ({ href, title, text }: Tokens.Link | Tokens.Image, inside: Inside): readonly Span[] => {
  const isOpened = inside.hyperlinks === true && linkTarget(href) !== null && !/:\/\/|\w\.\w/.test(text);
  const words = [isOpened && text !== "" ? [] : href, title ? `"${title}"` : []].flat().join(" ");
  return words === "" ? [] : [{ text: ` (${words})`, roles: [...inside.roles, "dim"], link: href }];
};
