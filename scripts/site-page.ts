import hljs from "highlight.js";
import { Marked, type Tokens } from "marked";

/** A page of Markdown as it stands in the site. */
export interface SitePage {
  /** The text of its first heading. */
  readonly title: string;
  readonly html: string;
  /** The names that a link may have behind its `#`. */
  readonly anchors: ReadonlySet<string>;
}

/**
 * Makes a page of Markdown.
 *
 * @param placeOf where a link or an image of the page leads in the site; it is asked once for each of them, web addresses
 * aside.
 */
export const pageOfMarkdown = (markdown: string, placeOf: (target: string) => string): SitePage => {
  const anchors = new Set<string>();
  let title = "";
  const marked = new Marked({
    walkTokens: (token) => {
      // `marked` gives its own tokens here.
      const link = token as Tokens.Link | Tokens.Image;
      if (link.type !== "link" && link.type !== "image") return;
      if (!/^[a-z]+:/.test(link.href)) link.href = placeOf(link.href);
    },
    renderer: {
      heading({ tokens, depth, text }) {
        const anchor = freeAnchor(anchorOf(text), anchors);
        anchors.add(anchor);
        if (title === "") title = plain(text);
        return `<h${depth} id="${anchor}"><a href="#${anchor}">${this.parser.parseInline(tokens)}</a></h${depth}>\n`;
      },
      code: ({ text, lang = "" }) => codeBlock(text, lang),
    },
  });
  // A table that is wider than the page is scrolled by itself.
  const html = marked
    .parse(markdown, { async: false })
    .replaceAll("<table>", '<div class="wide"><table>')
    .replaceAll("</table>", "</table></div>");
  return { title, html, anchors };
};

/** A file of the repository that a page leads to, as it is. */
export const pageOfSource = (path: string, text: string): SitePage => ({
  title: path,
  html: `<h1>${escaped(path)}</h1>\n${codeBlock(text, path.split(".").at(-1) ?? "")}`,
  anchors: new Set(),
});

/** A folder that a page leads to: what is in it, by name and by where that is in the site. */
export const pageOfFolder = (path: string, files: readonly (readonly [name: string, place: string])[]): SitePage => ({
  title: path,
  html: `<h1>${escaped(path)}</h1>\n<ul>${files.map(([name, place]) => `<li><a href="${place}">${escaped(name)}</a></li>`).join("\n")}</ul>`,
  anchors: new Set(),
});

/** Text for HTML. */
export const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

/** As GitHub makes it of a heading, so that a link works there and here. */
const anchorOf = (heading: string): string =>
  plain(heading)
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(/\s/g, "-");

const plain = (heading: string): string => heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1").replaceAll(/[`*]/g, "");

const freeAnchor = (anchor: string, taken: ReadonlySet<string>, count = 0): string => {
  const free = count === 0 ? anchor : `${anchor}-${count}`;
  return taken.has(free) ? freeAnchor(anchor, taken, count + 1) : free;
};

const codeBlock = (text: string, language: string): string => {
  const known = hljs.getLanguage(language) !== undefined;
  const code = known ? hljs.highlight(text, { language }).value : escaped(text);
  return `<pre><code>${code}</code></pre>\n`;
};
