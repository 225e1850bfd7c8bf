// The search of the site. It needs no server and no network: a page loads the texts as a script when its reader begins
// to search.
import { unescaped, type SitePage } from "./site-page.ts";

/** A heading of a page and the text below it. */
export interface Section {
  /** Its address, from the root of the site. */
  readonly place: string;
  readonly page: string;
  readonly heading: string;
  readonly text: string;
}

/** Returns the sections of a page whose place is given from the root of the site. */
export const sectionsOf = (place: string, { title, html }: SitePage): readonly Section[] =>
  html.split(/(?=<h\d id=")/).flatMap((part) => {
    const [whole, anchor, heading = ""] = /^<h\d id="([^"]*)">(.*?)<\/h\d>/.exec(part) ?? [];
    if (whole === undefined) return [];
    const text = textOf(part.slice(whole.length));
    return [{ place: `${place}#${encodeURIComponent(anchor ?? "")}`, page: title, heading: textOf(heading), text }];
  });

const textOf = (html: string): string =>
  unescaped(html.replaceAll(/<[^>]*>/g, " "))
    .replaceAll(/\s+/g, " ")
    .trim();

/**
 * Returns the sections that have all words of a question, the best first: words in headings count most. Runs in the
 * page too, so it uses nothing but its arguments.
 */
export const findSections = (sections: readonly Section[], question: string): readonly Section[] => {
  const common = /^(?:how|do|does|what|when|the|an?|i|my|to|is|are|it|of|in|on|can|with|for|per)$/;
  const all = question.toLowerCase().match(/[\p{L}\p{N}_@-]+/gu) ?? [];
  const rare = all.filter((word) => !common.test(word));
  const words = rare.length > 0 ? rare : all;
  if (words.length === 0) return [];
  const stems = words.map((word) => (word.length > 4 ? word.replace(/(?:ing|es|s|e)$/, "") : word));
  const scored = sections.flatMap((section) => {
    const heading = section.heading.toLowerCase();
    const page = section.page.toLowerCase();
    const all = `${heading} ${page} ${section.text.toLowerCase()}`;
    if (!stems.every((stem) => all.includes(stem))) return [];
    // Answers before guides, guides before references, and short sections before long ones.
    const answer = /how-do-i|troubleshooting/.test(section.place) ? 6 : 0;
    const reference = /decisions|effects|events|house|packages|vectors/.test(section.place) ? 8 : 0;
    const inHeadings = stems.map((stem) => (heading.includes(stem) ? 20 : 0) + (page.includes(stem) ? 6 : 0));
    const score = inHeadings.reduce((sum, each) => sum + each, answer - reference);
    return [{ section, score: score - Math.min(section.text.length / 4_000, 5) }];
  });
  const found = scored.sort((one, other) => other.score - one.score);
  return found.slice(0, 12).map(({ section }) => section);
};

/** Returns the script of a page, which shows what is found as its reader types. Texts never become HTML. */
export const searchScript = (): string => `"use strict";
const findSections = ${findSections.toString()};
const root = document.currentScript.dataset.root, [box, list] = [document.querySelector("#search"), document.querySelector("#found")];
const made = (name, text) => Object.assign(document.createElement(name), { textContent: text });
const show = () => {
  const found = findSections(globalThis.searchSections ?? [], box.value);
  list.replaceChildren(...found.map(({ place, page, heading, text }) => {
    const link = Object.assign(made("a", heading), { href: root + place });
    link.append(made("small", (heading === page ? "" : page + ": ") + text.slice(0, 110)));
    return link;
  }));
  if (box.value !== "" && found.length === 0 && globalThis.searchSections) list.append(made("p", "Nothing has all these words."));
};
const load = () =>
  document.querySelector("#texts") ?? document.head.append(Object.assign(made("script", ""), { id: "texts", src: root + "search-sections.js", onload: show }));
Object.assign(box, { hidden: false, onfocus: load, oninput: () => (load(), show()) });
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && document.activeElement !== box) (event.preventDefault(), box.focus());
  if (event.key === "Escape") ((box.value = ""), show());
  if (event.key === "Enter" && document.activeElement === box) list.querySelector("a")?.click();
});
`;

export const sectionsScript = (sections: readonly Section[]): string =>
  `globalThis.searchSections = ${JSON.stringify(sections)};\n`;
