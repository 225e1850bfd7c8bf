import { Lexer, type MarkedToken, type Token, type Tokens } from "marked";
import { h, type ComponentChild } from "preact";
import { useMemo } from "preact/hooks";
import { div, p } from "./element.ts";
import { LongText, visible } from "./text.ts";

/**
 * Shows Markdown as elements: nothing of it is parsed as HTML, no image is loaded, and a link has an address of a known
 * kind. A text that is too expensive for the lexer is shown as it is.
 */
export const Markdown = ({ text }: { readonly text: string }): ComponentChild => {
  const tokens = useMemo(() => tokensOf(text), [text]);
  return tokens === null ? h(LongText, { text }) : h("div", { class: "markdown", dir: "auto" }, blocks(tokens));
};

const tokensOf = (text: string): readonly Token[] | null => {
  const count = (of: RegExp): number => text.match(of)?.length ?? 0;
  if (text.length > lengthMax || deep.test(text) || count(/[[\]*_~<>`!]/g) > marksMax || count(/\n/g) > linesMax)
    return null;
  try {
    return new Lexer().lex(visible(text));
  } catch {
    // The lexer fails only on deep nesting.
    return null;
  }
};

// The lexer takes quadratic time for some texts of only marks or of many lines, and more for deep nesting.
const deep = /(?:^|\n)(?:[ \t]*(?:[-*+>]|\d{1,9}[.)])){50}/;
const lengthMax = 20_000;
const marksMax = 1_000;
const linesMax = 1_000;

const blocks = (tokens: readonly Token[]): readonly ComponentChild[] => tokens.map(block);

const block = (given: Token): ComponentChild => {
  // The other token type is for extensions, and there are none.
  const token = given as MarkedToken;
  switch (token.type) {
    case "space":
      return null;
    case "heading":
      return p(`heading depth-${token.depth}`, inlines(token.tokens));
    case "paragraph":
      return h("p", null, inlines(token.tokens));
    case "text":
      return inlines(token.tokens ?? [token]);
    case "code":
      return h("pre", { class: "json", title: token.lang }, token.text);
    case "list":
      return h(
        token.ordered ? "ol" : "ul",
        { start: token.start === "" ? undefined : token.start },
        token.items.map(({ tokens }) => h("li", null, blocks(tokens))),
      );
    case "checkbox":
      return token.checked ? "☑ " : "☐ ";
    case "blockquote":
      return h("blockquote", { class: "dim" }, blocks(token.tokens));
    case "table":
      return table(token);
    case "hr":
      return h("hr", null);
    default:
      return h("p", null, token.raw.trimEnd());
  }
};

const table = ({ header, rows }: Tokens.Table): ComponentChild => {
  const cells = (name: "th" | "td", row: readonly Tokens.TableCell[]): ComponentChild =>
    h(
      "tr",
      null,
      row.map(({ tokens, align }) => h(name, { style: { textAlign: align ?? "start" } }, inlines(tokens))),
    );
  return div(
    "table",
    h(
      "table",
      null,
      h("thead", null, cells("th", header)),
      h(
        "tbody",
        null,
        rows.map((row) => cells("td", row)),
      ),
    ),
  );
};

const inlines = (tokens: readonly Token[]): readonly ComponentChild[] => tokens.map(inline);

const inline = (given: Token): ComponentChild => {
  const token = given as MarkedToken;
  switch (token.type) {
    case "strong":
    case "em":
    case "del":
      return h(token.type, null, inlines(token.tokens));
    case "codespan":
      return h("code", null, token.text);
    case "br":
      return h("br", null);
    case "link": {
      const target = token.href;
      if (!/^(?:https?:\/\/|mailto:)/i.test(target) || !URL.canParse(target)) return token.raw;
      return h(
        "a",
        { href: target, title: target, target: "_blank", rel: "noopener noreferrer" },
        inlines(token.tokens),
      );
    }
    case "text":
      return token.tokens === undefined ? token.text : inlines(token.tokens);
    case "escape":
      return token.text;
    case "checkbox":
      return block(token);
    default:
      return token.raw;
  }
};
