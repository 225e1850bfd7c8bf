import { expect, test } from "vitest";
import {
  closed,
  count,
  jsonObject,
  keep,
  list,
  object,
  oneOf,
  optional,
  redactedText,
  text,
  words,
} from "../../../src/conversation/protocol/form.ts";

interface Note {
  readonly kind: "short" | "long";
  readonly title: string;
  readonly pages?: number;
  readonly author?: string;
}

const kind = oneOf("short", "long");
const pages = optional(count);
const author = optional(text);
const note = object<Note>({ kind, title: words, pages, author });
const whole: Note = { kind: "short", title: "A secret", pages: 2, author: "Ada" };

test("a form that its type does not have does not compile", () => {
  const drafts = [
    // @ts-expect-error A member has no form.
    () => object<Note>({ kind, title: words, pages }),
    // @ts-expect-error The type has no such member.
    () => object<Note>({ kind, title: words, pages, author, year: pages }),
    // @ts-expect-error A word of the list is missing.
    () => object<Note>({ kind: oneOf("short"), title: words, pages, author }),
    // @ts-expect-error The list has a word too many.
    () => object<Note>({ kind: oneOf("short", "long", "none"), title: words, pages, author }),
    // @ts-expect-error A required member is optional in the form.
    () => object<Note>({ kind, title: optional(words), pages, author }),
    // @ts-expect-error An optional member is required in the form.
    () => object<Note>({ kind, title: words, pages: count, author }),
    // @ts-expect-error A redaction would drop a required member.
    () => object<Note>({ kind, title: text, pages, author }),
    // @ts-expect-error A redaction would drop the items of a list.
    () => list(jsonObject),
  ];
  expect(drafts).toHaveLength(8);
});

test("a redaction drops texts without a mark, and members that the form does not have", () => {
  expect(note.redact(whole)).toEqual({ kind: "short", title: redactedText, pages: 2 });
  // A later version may have written it.
  const later = { ...whole, remark: "another secret" };
  expect(note.shape(later)).toBeNull();
  expect(note.redact(later)).toEqual({ kind: "short", title: redactedText, pages: 2 });
  expect(keep(note).redact(whole)).toBe(whole);
});

test("a closed form refuses members that it does not have", () => {
  const strict = closed<Note>({ kind, title: words, pages, author });
  expect(strict.shape(whole)).toBeNull();
  expect(strict.shape({ ...whole, remark: "" })).toEqual({ path: [], reason: "has a member remark" });
});

test.each<readonly [string, unknown]>([
  [`"${"a".repeat(40)}"`, "a".repeat(40)],
  [`"${"a".repeat(40)}…"`, "a".repeat(41)],
  ["a list", [1]],
  ["null", null],
  ["an object", { a: 1 }],
  ["a function", () => 1],
  ["a symbol", Symbol("s")],
  ["1", 1n],
  ["true", true],
  ["undefined", undefined],
])("a problem of a value shows it if it is short, and its kind otherwise: %s", (shown, value) => {
  expect(count.shape(value)).toEqual({ path: [], reason: `must be a whole number of 0 or more (got ${shown})` });
});

test("a value outside a list of words is refused with the words that there are", () => {
  expect(kind.shape("long")).toBeNull();
  expect(kind.shape("none")?.reason).toBe('must be one of "short", "long" (got "none")');
  expect(oneOf("short").shape("none")?.reason).toBe('must be "short" (got "none")');
});

test("a closed form refuses an object that lacks a member, and a member of another kind, by the member's name", () => {
  const strict = closed<Note>({ kind, title: words, pages, author });
  expect(strict.shape({ kind: "short" })).toEqual({ path: ["title"], reason: "must be given (got undefined)" });
  expect(strict.shape({ ...whole, pages: -1 })?.path).toEqual(["pages"]);
  expect(strict.shape([])?.reason).toBe("must be an object (got a list)");
});
