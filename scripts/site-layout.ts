import { escaped, type SitePage } from "./site-page.ts";

export interface Room {
  readonly name: string;
  /** Titles are HTML. */
  readonly links: readonly { readonly path: string; readonly title: string }[];
}

/** Returns a whole page: its text and the navigation. @param placeOf returns a page's place relative to this one */
export const siteLayout = (
  page: SitePage,
  rooms: readonly Room[],
  placeOf: (path: string) => string,
): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(page.title)} - Colloquy</title>
<style>${style}</style>
<nav>
${rooms.map((room) => roomOf(room, page, placeOf)).join("\n")}
</nav>
<main>
${page.html}
</main>
</html>
`;

const roomOf = ({ name, links }: Room, page: SitePage, placeOf: (path: string) => string): string => {
  const isHere = links.some(({ title }) => title === escaped(page.title));
  const items = links.map(({ path, title }) => `<li><a href="${placeOf(path)}">${title}</a></li>`);
  return `<details${isHere || name === "Begin" ? " open" : ""}><summary>${name}</summary><ul>${items.join("\n")}</ul></details>`;
};

const style = `
:root { color-scheme: light dark; --line: #8884; --link: light-dark(#0550ae, #79b8ff); --code: light-dark(#f4f4f2, #22252a); }
body { margin: 0; display: grid; grid-template-columns: 17rem minmax(0, 1fr); font: 16px/1.55 system-ui, sans-serif; }
nav { border-right: 1px solid var(--line); padding: 1rem; font-size: 0.9em; height: 100vh; overflow: auto; position: sticky; top: 0; box-sizing: border-box; }
nav ul { list-style: none; margin: 0.3rem 0 1rem; padding: 0 0 0 0.6rem; }
nav summary { font-weight: 600; cursor: pointer; }
main { max-width: 56rem; padding: 1rem 2.5rem 5rem; }
a { color: var(--link); text-decoration: none; }
a:hover { text-decoration: underline; }
h1 a, h2 a, h3 a, h4 a { color: inherit; }
pre, .wide { overflow-x: auto; }
pre { background: var(--code); padding: 0.8rem 1rem; border-radius: 6px; }
code { font: 0.9em ui-monospace, monospace; background: var(--code); border-radius: 3px; }
table { border-collapse: collapse; font-size: 0.93em; }
th, td { border: 1px solid var(--line); padding: 0.3rem 0.6rem; text-align: left; vertical-align: top; }
img { max-width: 100%; }
.hljs-comment { opacity: 0.65; }
.hljs-keyword, .hljs-literal { color: light-dark(#8250df, #d2a8ff); }
.hljs-string, .hljs-regexp { color: light-dark(#0a6e31, #7ee787); }
.hljs-number, .hljs-attr { color: light-dark(#953800, #ffa657); }
@media (max-width: 800px) { body { display: block; } nav { position: static; height: auto; border: 0; } main { padding: 1rem; } }
`;
