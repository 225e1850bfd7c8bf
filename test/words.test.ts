import { dirname } from "node:path";

import { expect, test } from "vitest";

import { sourcesIn } from "./rules/source.ts";
import { markersIn } from "./rules/words.ts";

const root = dirname(import.meta.dirname);

const repository = sourcesIn(root, [
  "packages/*/{src,test}/**/*.ts",
  "{examples,scripts,proof,bench,test}/**/*.ts",
  "{README,CHANGELOG,CONTRIBUTING,SECURITY}.md",
  "{docs,vectors}/**/*.md",
  "packages/*/*.md",
]);

/** The number of markers after the last change. It may only fall. */
const markersMax = 77;

test("comments and pages have no more hard words than before", () => {
  const found = markersIn(repository);
  const sum = [...found.values()].reduce((total, count) => total + count, 0);
  expect({ sum: Math.max(sum, markersMax), found }).toEqual({ sum: markersMax, found });
});

test("each marker is found in a comment and on a page, and nowhere else", () => {
  const marked = [
    "What is kept.",
    "It is no turn.",
    "Whoever asks.",
    "Begins anew.",
    "Says it in words.",
    "It can't be meant.",
    "It comes to nothing.",
    "It lets go of the thread.",
    "It goes on.",
  ];
  const code = 'const text = "What is kept. It is no turn; it goes on anew, in words.";';
  const sources = [
    { path: "docs/page.md", text: `${marked.join("\n\n")}\n\n\`\`\`ts\n${code}\n\`\`\`\n` },
    { path: "packages/a/src/b.ts", text: `${marked.map((line) => `/**\n * ${line}\n */`).join("\n")}\n${code}\n` },
  ];
  expect([...markersIn(sources).values()]).toEqual(marked.map(() => 2));
  expect([
    ...markersIn([{ path: "c.md", text: "What is kept? It is no longer open. He let it go." }]).values(),
  ]).toEqual(marked.map(() => 0));
});
