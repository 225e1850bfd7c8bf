/**
 * A server's behaviour at a stop string: it leaves it out, sends it before it ends, or continues as if there were none.
 */
export type StopStrings = "honoured" | "included" | "ignored";

/** A text that comes in pieces and ends at the first stop string, even if that is split across pieces. */
export interface StoppedText {
  /** Adds a piece. Returns the part that may be sent and was not returned before. */
  readonly push: (piece: string) => string;
  /** Returns the part that was held back because it might have begun a stop string. */
  readonly end: () => string;
}

/** Makes a text that stops as the server does. */
export const stoppedText = (stops: readonly string[], how: StopStrings): StoppedText => {
  const watched = how === "ignored" ? [] : stops.filter((stop) => stop !== "");
  let held = "";
  let stopped = false;
  return {
    push: (piece) => {
      if (stopped) return "";
      held += piece;
      const end = endOfText(held, watched, how === "included");
      stopped = end !== undefined;
      const given = held.slice(0, end ?? held.length - beginningOf(held, watched));
      held = stopped ? "" : held.slice(given.length);
      return given;
    },
    end: () => held,
  };
};

/** Returns the index at which a text ends because of its first stop string; undefined if it has none. */
const endOfText = (text: string, stops: readonly string[], included: boolean): number | undefined => {
  const found = stops.flatMap((stop) => {
    const at = text.indexOf(stop);
    return at === -1 ? [] : [{ from: at, to: at + stop.length }];
  });
  found.sort((left, right) => left.from - right.from);
  return included ? found[0]?.to : found[0]?.from;
};

/** Returns the number of characters at the end that may begin a stop string. */
const beginningOf = (text: string, stops: readonly string[]): number => {
  const longest = Math.max(0, ...stops.map((stop) => stop.length - 1));
  for (let length = Math.min(longest, text.length); length > 0; length--) {
    if (stops.some((stop) => stop.length > length && stop.startsWith(text.slice(-length)))) return length;
  }
  return 0;
};
