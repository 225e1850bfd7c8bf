import type { JsonObject } from "@colloquy/machine";
import fc from "fast-check";
import { recordOf } from "../../arbitraries/record.ts";

/** The way in which events are written, and their bytes are split. */
export interface Framing {
  readonly lineEnd: "\n" | "\r\n" | "\r";
  readonly mark: "" | "\uFEFF";
  readonly comments: boolean;
  readonly space: "" | " ";
  /** An event is split over several `data:` lines. */
  readonly lines: boolean;
  /** The last event has no empty line after it. */
  readonly isOpen: boolean;
  readonly done: boolean;
  /** The sizes of successive pieces, in bytes, repeated. */
  readonly sizes: readonly number[];
}

export const framings: fc.Arbitrary<Framing> = recordOf<Framing>({
  lineEnd: fc.constantFrom("\n", "\r\n", "\r"),
  mark: fc.constantFrom("", "\uFEFF"),
  comments: fc.boolean(),
  space: fc.constantFrom("", " "),
  lines: fc.boolean(),
  isOpen: fc.boolean(),
  done: fc.boolean(),
  sizes: fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1, maxLength: 6 }),
});

/** Returns the bytes of a stream of these events, in pieces. */
export const framed = (events: readonly JsonObject[], framing: Framing): readonly Uint8Array[] => {
  const { lineEnd, mark, comments, space, isOpen, done, sizes } = framing;
  const written = events.map((event) => JSON.stringify(event, null, framing.lines ? 1 : undefined));
  const texts = [...written, ...(done ? ["[DONE]"] : [])].map((data) =>
    data
      .split("\n")
      .map((line) => `data:${space}${line}`)
      .join(lineEnd),
  );
  const between = `${lineEnd}${lineEnd}${comments ? `: keep-alive${lineEnd}${lineEnd}event: chunk${lineEnd}` : ""}`;
  const bytes = new TextEncoder().encode(mark + texts.join(between) + (isOpen ? "" : lineEnd + lineEnd));
  const pieces: Uint8Array[] = [];
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const size = sizes[turn % sizes.length] ?? bytes.length;
    pieces.push(bytes.subarray(at, at + size));
    at += size;
  }
  return pieces;
};
