/** What a server does about a stop string: leaves it out, sends it before it ends, or goes on as though it were none. */
export type StopStrings = "honoured" | "included" | "ignored";

/** A text that comes in pieces, up to the first of the stop strings, whichever way the pieces cut it. */
export interface StoppedText {
  /** What of the text so far may be sent, beyond what was given out before. */
  readonly push: (piece: string) => string;
  /** What was held back, since it might have begun a stop string. */
  readonly end: () => string;
}

/** A text that stops as the server does. */
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

/** Where the text ends that stops at the first of the stop strings. */
const endOfText = (text: string, stops: readonly string[], included: boolean): number | undefined => {
  const found = stops.flatMap((stop) => {
    const at = text.indexOf(stop);
    return at === -1 ? [] : [{ from: at, to: at + stop.length }];
  });
  found.sort((left, right) => left.from - right.from);
  return included ? found[0]?.to : found[0]?.from;
};

/** How many characters at the end may begin a stop string. */
const beginningOf = (text: string, stops: readonly string[]): number => {
  const longest = Math.max(0, ...stops.map((stop) => stop.length - 1));
  for (let length = Math.min(longest, text.length); length > 0; length--) {
    if (stops.some((stop) => stop.length > length && stop.startsWith(text.slice(-length)))) return length;
  }
  return 0;
};
