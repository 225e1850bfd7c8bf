import hljs from "highlight.js";
import { Marked, type Token, type Tokens } from "marked";

export interface SitePage {
  /** The text of its first heading. */
  readonly title: string;
  readonly html: string;
  /** The names that a link may have after its `#`. */
  readonly anchors: ReadonlySet<string>;
  /** The problems of a page, each as a sentence that continues after its name. */
  readonly problems: readonly string[];
}

/**
 * Makes a page from Markdown. It may have no HTML except comments, and only links to pages and to the web. Anything
 * else is a problem, shown as text without a link.
 *
 * @param placeOf returns the place of a link's or image's target in the site; called once for each but web addresses.
 */
export const pageOfMarkdown = (markdown: string, placeOf: (target: string) => string): SitePage => {
  const anchors = new Map<string, number>();
  const problems: string[] = [];
  let title = "";
  const marked = new Marked({
    walkTokens: (token) => {
      // Cast: `marked` passes its own tokens.
      const link = token as Tokens.Link | Tokens.Image;
      if (link.type !== "link" && link.type !== "image") return;
      const [, scheme] = /^([a-z][a-z\d+.-]*):/i.exec(link.href) ?? [];
      if (scheme === undefined) link.href = placeOf(link.href);
      else if (!/^(https?|mailto)$/i.test(scheme)) {
        problems.push(`links to ${link.href}: a link leads to a page, or to the web by https:`);
        link.href = "#";
      }
    },
    renderer: {
      heading({ tokens, depth }) {
        const text = textOf(tokens);
        const anchor = freeAnchor(anchorOf(text), anchors);
        if (title === "") title = text.trim();
        return `<h${depth} id="${anchor}"><a href="#${anchor}">${this.parser.parseInline(tokens)}</a></h${depth}>\n`;
      },
      code: ({ text, lang = "" }) => codeBlock(text, lang),
      html: ({ text }) => {
        const shown = text.replaceAll(/<!--[\s\S]*?-->/g, "").trim();
        if (shown !== "") problems.push(`has the HTML ${shown}: write Markdown, or put it between backticks`);
        return escaped(shown);
      },
    },
  });
  // A table that is wider than the page scrolls by itself.
  const html = marked
    .parse(markdown, { async: false })
    .replaceAll("<table>", '<div class="wide"><table>')
    .replaceAll("</table>", "</table></div>");
  return { title, html, anchors: new Set(anchors.keys()), problems };
};

export const pageOfSource = (path: string, text: string): SitePage => ({
  title: path,
  html: `<h1>${escaped(path)}</h1>\n${codeBlock(text, path.split(".").at(-1) ?? "")}`,
  anchors: new Set(),
  problems: [],
});

/** Makes a page of a folder: a list of its files, by name and place in the site. */
export const pageOfFolder = (path: string, files: readonly (readonly [name: string, place: string])[]): SitePage => ({
  title: path,
  html: `<h1>${escaped(path)}</h1>\n<ul>${files.map(([name, place]) => `<li><a href="${escaped(place)}">${escaped(name)}</a></li>`).join("\n")}</ul>`,
  anchors: new Set(),
  problems: [],
});

export const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

/** Makes the anchor of a heading as GitHub does, so that links work there and here. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}\p{Pc} -]/gu, "")
    .replaceAll(" ", "-");

/** Returns the text that a reader sees of the tokens, without pictures. */
const textOf = (tokens: readonly Token[]): string =>
  tokens
    .map((token) => {
      if (token.type === "image" || token.type === "html") return "";
      if ("tokens" in token && token.tokens !== undefined) return textOf(token.tokens);
      if (!("text" in token) || typeof token.text !== "string") return "";
      return token.type === "codespan" ? token.text : unescaped(token.text);
    })
    .join("");

export const unescaped = (text: string): string =>
  text
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&amp;", "&");

/** Takes the anchor, or the first free one with a number. @param taken the last number of each anchor */
const freeAnchor = (anchor: string, taken: Map<string, number>): string => {
  let free = anchor;
  for (let count = taken.get(anchor) ?? 0; taken.has(free); taken.set(anchor, count)) free = `${anchor}-${++count}`;
  taken.set(free, 0);
  return free;
};

const codeBlock = (text: string, language: string): string => {
  const known = hljs.getLanguage(language) !== undefined;
  const code = known ? hljs.highlight(text, { language }).value : escaped(text);
  return `<pre><code>${code}</code></pre>\n`;
};
