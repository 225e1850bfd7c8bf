import fc from "fast-check";
import { shortened } from "../../../src/terminal/text/printable.ts";
import { describe, expect, test } from "vitest";
import { type Line, line, roles } from "../../../src/terminal/text/line.ts";
import {
  painted,
  opensLinks,
  themeNameFor,
  wantsColour,
  themeNamed,
  themes,
} from "../../../src/terminal/text/theme.ts";
import { runs } from "../../../../../test/runs.ts";

const plain = themeNamed("plain");
const dark = themeNamed("dark", {}, true);

describe("painting", () => {
  test.each([
    ["\u001B[2J\u0007", "␛[2J␇"],
    ["a\tb", "a    b"],
    ["a\r\nb", "a␍␊b"],
    ["\u007F\u009B31m", "␡<U+009B>31m"],
    ["\u202Eabc\u2066", "<U+202E>abc<U+2066>"],
    ["\uD800x", "<U+D800>x"],
    ["a\u2028b", "a<U+2028>b"],
    ["Grüße 世界 👩‍👧 می‌خواهم", "Grüße 世界 👩‍👧 می‌خواهم"],
  ])("shows %j as %s", (text, shown) => {
    expect(painted(line(text, "strong"), plain)).toBe(shown);
  });

  test("gives looks by roles, later ones over earlier, and closes them", () => {
    expect(painted([...line("a", "strong", "code"), ...line("b")], dark)).toBe(
      "\u001B[1m\u001B[36ma\u001B[39m\u001B[22mb",
    );
  });

  test("an address is one to open where the theme says so, and where it is safe", () => {
    const link = (address: string): Line => [{ text: "here", roles: [], link: address }];
    expect(painted(link("https://example.com/ä"), dark)).toBe(
      "\u001B]8;;https://example.com/%C3%A4\u0007here\u001B]8;;\u0007",
    );
    expect(painted(link("mailto:ada@example.com"), dark)).toContain("mailto:ada@example.com");
    for (const address of [
      "javascript:alert(1)",
      "file:///etc/passwd",
      "https://a/\u0007\u001B[2J",
      "nowhere",
      "https://a/b\nc",
    ])
      expect(painted(link(address), dark)).toBe("here");
    expect(painted(link("https://example.com"), themeNamed("dark"))).toBe("here");
  });
});

test("for any spans, every sequence is of the small set and closed, and without them nothing controls", () => {
  const text = fc.string({
    unit: fc.oneof(
      fc.constantFrom("\u001B", "[", "]8;;", "m", "\u0007", "\u009D", "\u202E", "\uD800", "\n", "a"),
      fc.string({ unit: "binary", maxLength: 1 }),
    ),
  });
  const span = fc.record(
    {
      text,
      roles: fc.subarray([...roles]),
      link: fc.oneof(
        text,
        text.map((rest) => `https://a/${rest}`),
      ),
    },
    { requiredKeys: ["text", "roles"] },
  );
  const names = fc.constantFrom(...Object.keys(themes));
  fc.assert(
    fc.property(fc.array(span, { maxLength: 4 }), names, fc.boolean(), (given, name, hyperlinks) => {
      const shown = painted(given, themeNamed(name, {}, hyperlinks));
      const sequences = shown.match(allowed) ?? [];
      expect(shown.replaceAll(allowed, "")).not.toMatch(steering);
      const looks = sequences.filter((each) => each.endsWith("m")).map((each) => Number(each.slice(2, -1)));
      for (const [index, code] of looks.entries())
        expect(looks.slice(index)).toContain(
          closers.find(([least, most]) => code >= least && code <= most)?.[2] ?? code,
        );
      const links = sequences.filter((each) => each.startsWith("\u001B]"));
      expect(links.map((each) => each === "\u001B]8;;\u0007")).toEqual(links.map((_, index) => index % 2 === 1));
      expect(name === "plain" && !hyperlinks ? sequences : []).toEqual([]);
    }),
    { seed: 13, numRuns: runs(100) },
  );
});

const steering = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202A-\u202E\u2066-\u2069]/u;

/** Ranges of look codes with the code that ends them. */
const closers = [
  [1, 2, 22],
  [3, 3, 23],
  [4, 4, 24],
  [7, 7, 27],
  [9, 9, 29],
  [30, 37, 39],
  [90, 97, 39],
  [40, 47, 49],
  [100, 107, 49],
] as const;

/** Matches the looks of themes, and web and mail links in ASCII. */
const allowed = new RegExp(
  String.raw`\u001B\[(?:[1-9]|2[2-9]|3[0-79]|4[0-79]|9[0-7]|10[0-7])m|\u001B\]8;;(?:(?:https?://|mailto:)[!-~]+)?\u0007`,
  "g",
);

describe("themes", () => {
  test("can be changed by role", () => {
    const own = themeNamed("light", { heading: ["inverse", "bgRedBright"] });
    expect(painted(line("a", "heading"), own)).toBe("\u001B[7m\u001B[101ma\u001B[49m\u001B[27m");
    expect(own.styles.code).toEqual(themes.light.code);
  });

  test("refuse what they don't know, in words", () => {
    expect(() => themeNamed("drak")).toThrow("there is no theme drak; there are dark, light, monochrome, plain");
    expect(() => themeNamed("toString")).toThrow("there is no theme toString");
    expect(() => themeNamed("dark", { headin: [] })).toThrow(/^there is no role headin; there are plain, strong/);
    expect(() => themeNamed("dark", { code: ["pink\u001B"] })).toThrow(
      /^there is no style "pink\\u001b"; there are reset, bold/,
    );
  });

  test.each([
    [true, {}, true, "dark"],
    [false, {}, false, "plain"],
    [true, { NO_COLOR: "" }, true, "dark"],
    [true, { NO_COLOR: "1" }, false, "monochrome"],
    [true, { TERM: "dumb" }, false, "plain"],
    [true, { FORCE_COLOR: "0" }, false, "monochrome"],
    [false, { FORCE_COLOR: "1", NO_COLOR: "1" }, true, "dark"],
    [true, { COLORFGBG: "0;15" }, true, "light"],
    [true, { COLORFGBG: "15;0" }, true, "dark"],
  ])("a terminal: %s, environment %j", (isTerminal, environment, colour, name) => {
    expect(wantsColour(isTerminal, environment)).toBe(colour);
    expect(themeNameFor(isTerminal, environment)).toBe(name);
  });

  test.each([
    [{}, false],
    [{ TERM_PROGRAM: "WezTerm" }, true],
    [{ TERM_PROGRAM: "WezTerm", TMUX: "/tmp/tmux" }, false],
    [{ TERM: "xterm-kitty" }, true],
    [{ VTE_VERSION: "7600" }, true],
    [{ WT_SESSION: "1" }, true],
  ])("links are opened in %j: %s", (environment, opens) => {
    expect(opensLinks(true, environment)).toBe(opens);
    expect(opensLinks(false, environment)).toBe(false);
  });
});

test("a text is not cut within a character", () => {
  for (const before of [97, 98, 99, 100])
    expect(shortened(`${"x".repeat(before)}${"😀".repeat(9)}`)).toMatch(/^x+(?:😀)*…$/u);
});
