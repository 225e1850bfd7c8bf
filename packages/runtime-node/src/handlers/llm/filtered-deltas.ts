import type { LlmDelta } from "@colloquy/host";
import type { KeyFilter, KeyPieces } from "./key-filter.ts";

/** Shows the pieces of a reply without keys. */
export interface FilteredDeltas {
  readonly onDelta: (delta: LlmDelta) => void;
  /** Shows what was held back, since it might have become a key. No more comes. */
  readonly end: () => void;
}

/**
 * Keys are looked for in each text of the reply, and in the arguments of each call, however they are cut. `filterOf`
 * gives the filter when the first piece comes: a client may fetch its key when it makes a request.
 */
export const filteredDeltas = (filterOf: () => KeyFilter, onDelta: (delta: LlmDelta) => void): FilteredDeltas => {
  const texts = new Map<string, { readonly pieces: KeyPieces; last: LlmDelta }>();
  return {
    onDelta: (delta) => {
      const filter = filterOf();
      const name = delta.type === "toolCall" ? `call ${delta.index}` : delta.type;
      const shown = delta.type === "toolCall" ? named(delta, filter) : delta;
      const text = texts.get(name) ?? { pieces: filter.pieces(), last: shown };
      text.last = shown;
      texts.set(name, text);
      const piece = text.pieces.push(textOf(delta));
      if (piece !== "" || delta.type === "toolCall") onDelta(withText(shown, piece));
    },
    end: () => {
      for (const { pieces, last } of texts.values()) {
        const piece = pieces.end();
        if (piece !== "") onDelta(withText(last, piece));
      }
      texts.clear();
    },
  };
};

type CallDelta = Extract<LlmDelta, { readonly type: "toolCall" }>;

const named = (delta: CallDelta, { text }: KeyFilter): CallDelta => ({
  ...delta,
  id: delta.id === null ? null : text(delta.id),
  name: text(delta.name),
});

const textOf = (delta: LlmDelta): string => (delta.type === "toolCall" ? delta.arguments : delta.text);

const withText = (delta: LlmDelta, text: string): LlmDelta =>
  delta.type === "toolCall" ? { ...delta, arguments: text } : { ...delta, text };
