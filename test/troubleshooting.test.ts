import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { describe, expect, it } from "vitest";

const root = dirname(import.meta.dirname);
const read = (path: string): string => readFileSync(join(root, path), "utf8");

const sources = globSync("packages/*/src/**/*.ts", { cwd: root }).map(read);

/** Returns the messages that begin an item of a list; `…` stands for what varies. */
const messagesOf = (page: string): readonly string[] =>
  [...page.matchAll(/^- `([^`]+)`: /gm)].map(([, message = ""]) => message);

/** Returns whether one source file has all fixed parts of a message, in order. */
const isInSources = (message: string): boolean => {
  const parts = message.split("…").filter((part) => part.trim() !== "");
  return sources.some((text) => {
    let from = 0;
    return parts.every((part) => {
      const at = text.indexOf(part, from);
      from = at + part.length;
      return at >= 0;
    });
  });
};

describe("docs/troubleshooting.md quotes messages as the packages write them", () => {
  const messages = messagesOf(read("docs/troubleshooting.md"));

  it("quotes enough messages, and none twice", () => {
    expect(messages.length).toBeGreaterThanOrEqual(25);
    expect(new Set(messages).size).toBe(messages.length);
  });

  it.each(messages)("%s", (message) => {
    const fixed = message.split("…").map((part) => part.trim());
    expect(Math.max(...fixed.map(({ length }) => length)), "the longest fixed part").toBeGreaterThanOrEqual(12);
    expect(isInSources(message)).toBe(true);
  });

  it("finds out a message that no package writes", () => {
    expect(messagesOf("- `there is no thread …. Ask nobody`: a typo")).toEqual(["there is no thread …. Ask nobody"]);
    expect(isInSources("there is no thread …. Ask nobody")).toBe(false);
  });
});
