import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { runs } from "../../../../../test/runs.ts";
import { KeyReader } from "../../../src/terminal/input/key-reader.ts";
import { joined, keysOf, written } from "./keys.ts";

/** The bytes that terminals send, and their keys; empty for no key. */
const table: readonly (readonly [sent: string, keys: string])[] = [
  // Text.
  ["a", '"a"'],
  ["日本 👩‍👩‍👧‍👦", '"日本 👩‍👩‍👧‍👦"'],
  ["hello\r", '"hello" enter'],
  ["a\u009Bb", '"a" "b"'],
  ["\uDC00x", '"\uFFFDx"'],
  // Control characters.
  ["\r", "enter"],
  ["\n", "ctrl+j"],
  ["\t", "tab"],
  ["\x7f", "backspace"],
  ["\b", "backspace"],
  ["\0", "ctrl+space"],
  ["\x01", "ctrl+a"],
  ["\x03", "ctrl+c"],
  ["\x1a", "ctrl+z"],
  ["\x1c", "ctrl+\\"],
  ["\x1d", "ctrl+]"],
  ["\x1e", "ctrl+^"],
  ["\x1f", "ctrl+_"],
  // Escape, and Alt as an escape before.
  ["\x1b", "escape"],
  ["\x1b\x1b", "escape escape"],
  ["\x1b\x1b\x1b", "escape escape escape"],
  ["\x1bb", "alt+b"],
  ["\x1bB", "alt+shift+b"],
  ["\x1b3", "alt+3"],
  ["\x1bé", "alt+é"],
  ["\x1b😀", "alt+😀"],
  ["\x1b ", "alt+space"],
  ["\x1b\r", "alt+enter"],
  ["\x1b\x7f", "alt+backspace"],
  ["\x1b\b", "alt+backspace"],
  ["\x1b\x02", "ctrl+alt+b"],
  ["\x1b[", "alt+["],
  ["\x1bO", "alt+shift+o"],
  ["\x1b]", "alt+]"],
  ["\x1b]\r", "alt+] enter"],
  ["\x1b\x1b[A", "alt+up"],
  ["\x1b\x1bOA", "alt+up"],
  ["\x1b\x1b[", "escape alt+["],
  // Cursor keys and their neighbours, with modifiers.
  ["\x1b[A\x1b[B\x1b[C\x1b[D", "up down right left"],
  ["\x1bOA\x1bOB\x1bOC\x1bOD", "up down right left"],
  ["\x1b[H\x1b[F\x1bOH\x1bOF", "home end home end"],
  ["\x1b[1~\x1b[4~\x1b[7~\x1b[8~", "home end home end"],
  ["\x1b[2~\x1b[3~\x1b[5~\x1b[6~", "insert delete pageup pagedown"],
  ["\x1b[Z", "shift+tab"],
  ["\x1b[1;2A\x1b[1;3B\x1b[1;5C\x1b[1;6D", "shift+up alt+down ctrl+right ctrl+shift+left"],
  ["\x1b[1;7H\x1b[1;8F\x1b[1;9C", "ctrl+alt+home ctrl+alt+shift+end super+right"],
  ["\x1b[3;5~\x1b[3;3~", "ctrl+delete alt+delete"],
  ["\x1bOP\x1bOQ\x1bOR\x1bOS", "f1 f2 f3 f4"],
  ["\x1b[11~\x1b[15~\x1b[17~\x1b[21~\x1b[23~\x1b[24~", "f1 f5 f6 f10 f11 f12"],
  ["\x1bO5A", "ctrl+up"],
  ["\x1bOM\x1bOj", "enter"],
  // kitty.
  ["\x1b[27u", "escape"],
  ["\x1b[13;2u", "shift+enter"],
  ["\x1b[13;3u", "alt+enter"],
  ["\x1b[13;5u", "ctrl+enter"],
  ["\x1b[9;2u", "shift+tab"],
  ["\x1b[127;5u\x1b[127;3u", "ctrl+backspace alt+backspace"],
  ["\x1b[97;5u\x1b[122;5u", "ctrl+a ctrl+z"],
  ["\x1b[97;6u", "ctrl+shift+a"],
  ["\x1b[98;3u\x1b[98;4u", "alt+b alt+shift+b"],
  ["\x1b[99;133u", "ctrl+c"],
  ["\x1b[32;5u", "ctrl+space"],
  ["\x1b[97u\x1b[97;2u\x1b[32;2u", '"a" "A" " "'],
  ["\x1b[49:33;2u", '"!"'],
  ["\x1b[97;2;65u\x1b[0;;229u", '"A" "å"'],
  ["\x1b[57400u\x1b[57414u\x1b[57417;5u\x1b[57413u", '"1" enter ctrl+left "+"'],
  ["\x1b[97;5:1u\x1b[97;5:2u\x1b[97;5:3u", "ctrl+a ctrl+a"],
  ["\x1b[1;1:1A\x1b[1;1:3A", "up"],
  // Keys that old terminals can't tell apart are the same everywhere.
  ["\x1b[105;5u\x1b[109;5u\x1b[104;5u\x1b[91;5u", "tab enter backspace escape"],
  // modifyOtherKeys.
  ["\x1b[27;2;13~\x1b[27;5;9~", "shift+enter ctrl+tab"],
  ["\x1b[27;5;97~\x1b[27;6;65~", "ctrl+a ctrl+shift+a"],
  ["\x1b[27;2;65~\x1b[27;3;120~", '"A" alt+x'],
  // Pastes.
  ["\x1b[200~one\r\ntwo\rthree\nfour\x1b[201~", 'p"one\\ntwo\\nthree\\nfour"'],
  ["\x1b[200~\x1b[31mred\x07\tx\x1b[201~!", 'p"[31mred\\tx" "!"'],
  ["\x1b\x1b[200~x\x1b[201~", 'escape p"x"'],
  ["\x1b[200~\x1b[201~", ""],
  ["\x1b[200~never ended", 'p"never ended"'],
  ["\x1b[201~", ""],
  ["one\rtwo", 'p"one\\ntwo"'],
  ["one\r\n\ttwo\r", 'p"one\\n\\ttwo\\n"'],
  ["one\r\x03", '"one" enter ctrl+c'],
  // Replies, reports and unknown sequences, which are never text.
  ["\x1b[24;80R\x1b[1;2R", ""],
  ["\x1b[?62;22c\x1b[>1;10;0c\x1b[?1u\x1b[?2004;1$y", ""],
  ["\x1b[I\x1b[O", ""],
  ["\x1b[0n\x1b[8;24;80t", ""],
  ["\x1b]11;rgb:1e1e/1e1e/1e1e\x07\x1b]11;rgb:0/0/0\x1b\\x", '"x"'],
  ["\x1bP>|kitty(0.40)\x1b\\\x1b_Gi=31;OK\x1b\\", ""],
  ["\x1b]11;never ended", ""],
  ["\x1b]11;broken\x1b[A", "up"],
  ["\x1b[M abx\x1b[<0;10;10Mx", '"x" "x"'],
  ["\x1b[[Ax", '"x"'],
  ["\x1b[57441;2u\x1b[1114112u\x1b[999~\x1b[1;2W\x1b[!p", ""],
  ["\x1b[5\x03\x1b[1;é", 'ctrl+c "é"'],
  ["\x1b[12;", ""],
];

describe("what a terminal sends", () => {
  test.each(table)("%j is %s", (sent, keys) => expect(written(keysOf(sent))).toBe(keys));

  test("is the same keys when each character comes alone", () => {
    // An unmarked paste can't be recognised then, so its line ends are Enter.
    for (const [sent] of table.filter(([, keys]) => !keys.startsWith('p"one') || keys.includes("four")))
      expect(joined(keysOf(...sent.split("")))).toEqual(joined(keysOf(sent)));
  });
});

/** Inputs without text after a line end, so that no chunk looks like an unmarked paste. */
const inputs = fc
  .array(
    fc.oneof(
      {
        weight: 3,
        arbitrary: fc.constantFrom(...table.map(([sent]) => sent)).filter((sent) => !sent.startsWith("one")),
      },
      fc.string({ unit: "binary", maxLength: 6 }),
      fc.string({
        unit: fc.constantFrom("\x1b", "[", "O", "1", ";", "~", "u", "M", "]", "\\", "P", "\x07"),
        maxLength: 9,
      }),
      fc.string({ unit: "grapheme", maxLength: 40 }).map((text) => `\x1b[200~${text}\r${text}\x1b[201~`),
    ),
  )
  .map((pieces) => pieces.join("").replaceAll(/[\r\n]/g, "$&\x01"));

/** Cuts a text at these places, modulo its length in UTF-16 units. */
const cutAt = (text: string, places: readonly number[]): readonly string[] => {
  const sorted = places.map((place) => place % (text.length + 1)).sort((a, b) => a - b);
  return [...sorted, text.length].map((end, index) => text.slice(sorted[index - 1] ?? 0, end));
};

describe("laws of reading keys", () => {
  test("all cuttings of one input give the same keys", () => {
    fc.assert(
      fc.property(inputs, fc.array(fc.nat()), (input, places) => {
        expect(joined(keysOf(...cutAt(input, places)))).toEqual(joined(keysOf(input)));
      }),
      { numRuns: runs(4000) },
    );
  });

  test("no text has a control character, and no paste one but tabs and line ends", () => {
    fc.assert(
      fc.property(inputs, (input) => {
        for (const key of keysOf(input))
          expect(key.type === "key" ? key.name : key.text).toMatch(
            key.type === "paste" ? /^(?:[\t\n]|\P{Cc})+$/u : /^\P{Cc}+$/u,
          );
      }),
      { numRuns: runs(2000) },
    );
  });

  test("after a flush nothing is left over, whatever came before", () => {
    fc.assert(
      fc.property(inputs, (input) => {
        const reader = new KeyReader();
        reader.read(input);
        reader.flush();
        expect(reader.waitMs).toBeNull();
        expect(written(reader.read("x\x1b[A"))).toBe('"x" up');
      }),
      { numRuns: runs(2000) },
    );
  });
});

describe("pastes of 5,000 characters", () => {
  const text = "Lorem ipsum 日本語 👩‍👩‍👧‍👦\n".repeat(250).slice(0, 5000);

  test("are one key where they are marked, cut anywhere", () => {
    fc.assert(
      fc.property(fc.array(fc.nat()), (places) => {
        const sent = `\x1b[200~${text.replaceAll("\n", "\r")}\x1b[201~`;
        expect(keysOf(...cutAt(sent, places))).toEqual([{ type: "paste", text }]);
      }),
      { numRuns: runs(200) },
    );
  });

  test("are one key where they are not, once a chunk shows that it is one", () => {
    fc.assert(
      fc.property(fc.array(fc.nat()), (places) => {
        const [first = "", ...more] = cutAt(text.replaceAll("\n", "\r"), places).filter((chunk) => chunk !== "");
        fc.pre(/\r[^\r]/.test(first));
        expect(keysOf(first, ...more)).toEqual([{ type: "paste", text }]);
      }),
      { numRuns: runs(200) },
    );
  });
});

test("the reader is asked to wait only if more bytes may follow", () => {
  const reader = new KeyReader();
  const waits = ["a", "\x1b", "[", "A", "\x1b[200~", "text", "\x1b[20", "1~", "\uD83D", "\uDE00", "a\rb"].map(
    (chunk) => {
      reader.read(chunk);
      return reader.waitMs;
    },
  );
  expect(waits).toEqual([null, 50, 50, null, 2000, 2000, 2000, null, null, null, 50]);
});

// A reader that copies all earlier text for each chunk would take minutes.
test.each([
  ["marked", "\x1b[200~", "\x1b[201~"],
  ["not marked", "first\rsecond\r", ""],
])("a paste of 1 MB in chunks of 16 characters is one key where it is %s", (_, start, end) => {
  const reader = new KeyReader();
  const chunk = "0123456789abcde\r";
  const keys = [start, ...Array<string>(65_536).fill(chunk), end].flatMap((each) => reader.read(each));
  const [key, ...more] = [...keys, ...reader.flush()];
  expect(more).toEqual([]);
  expect(key?.type === "paste" && key.text.endsWith(chunk.replace("\r", "\n").repeat(65_536))).toBe(true);
});
