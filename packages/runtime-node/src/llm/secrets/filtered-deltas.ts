import type { LlmDelta } from "@colloquy/host";
import type { KeyFilter, KeyPieces, KeyWalk } from "@colloquy/host/runtime";

/** Shows the pieces of a reply without keys. */
export interface FilteredDeltas {
  readonly onDelta: (delta: LlmDelta) => void;
  /** Shows what was held back, since it might have become a key. No more comes. */
  readonly end: () => void;
}

/**
 * Keys are looked for in each text of the reply, in the ids, names and arguments of its calls, and over the bounds of
 * these, however they are cut. `filterOf` gives the filter when the first piece comes: a client may fetch its key when
 * it makes a request.
 */
export const filteredDeltas = (filterOf: () => KeyFilter, onDelta: (delta: LlmDelta) => void): FilteredDeltas => {
  const texts = new Map<string, Shown>();
  let walk: KeyWalk | undefined;
  return {
    onDelta: (delta) => {
      walk ??= filterOf().walk();
      const name = delta.type === "toolCall" ? `call ${delta.index}` : delta.type;
      const before = texts.get(name);
      const last = named(delta, before, walk);
      const text: Shown = { pieces: before?.pieces ?? walk.pieces(), given: delta, last };
      texts.set(name, text);
      const piece = text.pieces.push(textOf(delta));
      if (piece !== "" || delta.type === "toolCall") onDelta(withText(last, piece));
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

/** One text of the reply, or one call, as far as it was shown. */
interface Shown {
  readonly pieces: KeyPieces;
  /** The piece of it that came last, and what was shown of that. */
  readonly given: LlmDelta;
  readonly last: LlmDelta;
}

/** The id and the name come again with each piece, and are read only where they are new. */
const named = (delta: LlmDelta, before: Shown | undefined, { text }: KeyWalk): LlmDelta => {
  if (delta.type !== "toolCall") return delta;
  const [given, last] = [before?.given, before?.last];
  const isKnown = given?.type === "toolCall" && last?.type === "toolCall";
  return {
    ...delta,
    id: isKnown && delta.id === given.id ? last.id : delta.id === null ? null : text(delta.id),
    name: isKnown && delta.name === given.name ? last.name : text(delta.name),
  };
};

const textOf = (delta: LlmDelta): string => (delta.type === "toolCall" ? delta.arguments : delta.text);

const withText = (delta: LlmDelta, text: string): LlmDelta =>
  delta.type === "toolCall" ? { ...delta, arguments: text } : { ...delta, text };
