import { escaped, type SitePage } from "./site-page.ts";

export interface Room {
  readonly name: string;
  /** Titles are HTML. */
  readonly links: readonly { readonly path: string; readonly title: string }[];
}

/** A page, its path in the repository, and the way from it to the root of the site. */
export interface PlacedPage {
  readonly page: SitePage;
  readonly path: string;
  readonly root: string;
}

/** Returns a whole page: its text and the navigation. @param placeOf returns a page's place relative to this one */
export const siteLayout = (
  { page, path, root }: PlacedPage,
  rooms: readonly Room[],
  placeOf: (path: string) => string,
): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(page.title)} - Colloquy</title>
<style>${style}</style>
<header>
<a class="name" href="${root}index.html">Colloquy</a>
<input id="search" type="search" placeholder="Search ( / )" aria-label="Search the documentation" autocomplete="off" hidden>
<div id="found" role="region" aria-label="Found" aria-live="polite"></div>
</header>
<details class="menu"><summary>Menu</summary></details>
<nav aria-label="Pages">
${rooms.map((room) => roomOf(room, path, placeOf)).join("\n")}
</nav>
<main>
${page.html}
</main>
${contentsOf(page.html)}
<script src="${root}search.js" data-root="${root}"></script>
</html>
`;

const roomOf = ({ name, links }: Room, here: string, placeOf: (path: string) => string): string => {
  const isHere = links.some(({ path }) => path === here);
  const items = links.map(
    ({ path, title }) =>
      `<li><a href="${placeOf(path)}"${path === here ? ' aria-current="page"' : ""}>${title}</a></li>`,
  );
  return `<details${isHere || /^(Begin|Answers)$/.test(name) ? " open" : ""}><summary>${name}</summary><ul>${items.join("\n")}</ul></details>`;
};

/** Returns the list of a page's second headings; nothing for a short page. */
const contentsOf = (html: string): string => {
  const headings = [...html.matchAll(/<h2 id="([^"]*)"><a [^>]*>(.*?)<\/a><\/h2>/g)];
  const items = headings.map(([, anchor, text]) => `<li><a href="#${anchor}">${text}</a></li>`);
  return items.length < 3
    ? ""
    : `<aside aria-label="On this page"><b>On this page</b><ul>${items.join("\n")}</ul></aside>`;
};

const style = `
:root { color-scheme: light dark; --line: #8883; --link: light-dark(#0550ae, #79b8ff); --code: light-dark(#f6f7f8, #1d2026); --page: light-dark(#fff, #14161a); --soft: light-dark(#57606a, #9aa4b0); scroll-padding-top: 4.5rem; }
body { margin: 0; display: grid; grid-template: auto 1fr / 16rem minmax(0, 1fr) auto; font: 16px/1.6 system-ui, sans-serif; background: var(--page); }
header { grid-column: 1 / -1; position: sticky; top: 0; z-index: 1; display: flex; align-items: center; gap: 1rem; height: 3.5rem; box-sizing: border-box; padding: 0 1.2rem; background: var(--page); border-bottom: 1px solid var(--line); }
.name { font-weight: 700; font-size: 1.1rem; color: inherit; flex: 1; } #search { font: inherit; font-size: 0.95rem; width: min(24rem, 60vw); padding: 0.35rem 0.8rem; border: 1px solid var(--line); border-radius: 8px; background: var(--code); color: inherit; }
#found { position: absolute; right: 1.2rem; top: 3.2rem; width: min(34rem, calc(100vw - 2.4rem)); max-height: 75vh; overflow: auto; background: var(--page); border-radius: 8px; box-shadow: 0 8px 30px #0004; } #found:empty { display: none; } #found > * { display: block; margin: 0; padding: 0.5rem 0.9rem; font-weight: 600; border-bottom: 1px solid var(--line); }
#found small { display: block; font-weight: 400; color: var(--soft); overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
nav, aside { padding: 1.2rem; font-size: 0.9em; height: calc(100vh - 3.5rem); overflow: auto; position: sticky; top: 3.5rem; box-sizing: border-box; } nav { border-right: 1px solid var(--line); } nav ul, aside ul { list-style: none; margin: 0.2rem 0 0.9rem; padding: 0; } nav li a, aside li a { display: block; padding: 0.15rem 0.6rem; border-radius: 6px; color: var(--soft); line-height: 1.4; }
nav a[aria-current] { background: var(--code); color: var(--link); font-weight: 600; } nav summary, aside b { font-weight: 600; cursor: pointer; padding: 0.15rem 0; } aside { width: 13rem; }
.menu { display: none; } main { max-width: 58rem; width: 100%; box-sizing: border-box; margin: 0 auto; padding: 1rem 2.2rem 5rem; overflow-wrap: break-word; }
a { color: var(--link); text-decoration: none; } a:hover { text-decoration: underline; }
h1 { line-height: 1.2; } h2 { margin-top: 2.2rem; padding-bottom: 0.3rem; border-bottom: 1px solid var(--line); line-height: 1.3; } h1 a, h2 a, h3 a, h4 a { color: inherit; }
pre, .wide { overflow-x: auto; } pre { background: var(--code); padding: 0.8rem 1rem; border: 1px solid var(--line); border-radius: 8px; line-height: 1.5; } code { font: 0.88em ui-monospace, monospace; background: var(--code); border-radius: 4px; } pre code { font-size: 0.8em; }
:not(pre) > code { padding: 0.1em 0.3em; }
table { border-collapse: collapse; font-size: 0.93em; } th, td { border: 1px solid var(--line); padding: 0.3rem 0.6rem; text-align: left; vertical-align: top; } img { max-width: 100%; }
.hljs-comment { opacity: 0.65; } .hljs-keyword, .hljs-literal { color: light-dark(#8250df, #d2a8ff); } .hljs-string, .hljs-regexp { color: light-dark(#0a6e31, #7ee787); } .hljs-number, .hljs-attr { color: light-dark(#953800, #ffa657); }
@media (max-width: 1200px) { body { grid-template-columns: 16rem minmax(0, 1fr); } aside { display: none; } } @media (max-width: 800px) { body { display: block; } main { padding: 0.5rem 1rem 4rem; } .menu { display: block; padding: 0.6rem 1.2rem; border-bottom: 1px solid var(--line); font-weight: 600; } nav { display: none; position: static; height: auto; border: 0; } .menu[open] + nav { display: block; } }
`;
