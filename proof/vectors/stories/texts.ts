import { answered, appended, ask, cancelled, progressed, user } from "./events.ts";
import type { Story } from "./story.ts";

/** Texts and values as digests, lengths and prompts take them. */
export const textStories: readonly Story[] = [
  {
    name: "digests",
    says: "Digests of all kinds of parts: values with their members in order, numbers with as many digits as they need, texts with their controls and quotes.",
    events: [
      ...[0.5, 12.25, -0.05, -3.75, 100, 1200, true, false, null, "x", [], [1, [2]], {}].map((value) =>
        appended([{ type: "data", field: "value", value }]),
      ),
      appended([
        {
          type: "data",
          field: "keys",
          value: { b: 1, a: { "": 2, A: 3 }, "😀": 4, "\uff5e": 5, é: 6, "10": 7, "9": 8 },
        },
      ]),
      appended([{ type: "opaque", value: { '"\\\b\f\n\r\t\u0001\u007f\u2028/': '"\\\b\f\n\r\t\u0001\u007f\u2028/' } }]),
      appended([
        { type: "image", url: "https://example.com/a.png", detail: "low" },
        { type: "image", url: "https://example.com/a.png" },
        { type: "text", text: "é and 👋", provider: { b: 1, a: 2 } },
      ]),
      {
        type: "message.appended",
        message: { ...user("x"), name: "Ada", provider: { cached: true }, metadata: { not: "in it" } },
      },
      { type: "message.appended", message: { role: "developer", content: "x" } },
      ask("a", [
        { type: "text", text: "a" },
        { type: "text", text: "bc" },
      ]),
      cancelled(),
      ask("b", [
        { type: "text", text: "ab" },
        { type: "text", text: "c" },
      ]),
    ],
  },
  {
    name: "halves-of-pairs",
    says: "A text may hold half of a character, where it was cut: the halves that meet are one again, and each that stands alone is U+FFFD in a message.",
    events: [
      ask("a", "1\ud83d "),
      progressed("t/1.1#1", { content: "Hello \ud83d" }),
      progressed("t/1.1#1", { content: "\udc4b!" }),
      cancelled(),
      appended([{ type: "data", field: "\udc4b", value: { "\ud83d": "\ud83d\udc4b\ud83d" } }]),
      ask("b", "\udc4b"),
      answered("t/2.1#1", [
        { type: "text", text: "\ud83d" },
        { type: "text", text: "\udc4b\udc4b" },
      ]),
      { type: "answer.truncated", turn: 2, characters: 1 },
      ask("c"),
    ],
  },
];
