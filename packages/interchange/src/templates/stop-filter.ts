/** A filter that passes on a streamed text up to its first stop pattern. */
export interface StopFilter {
  /** Returns the text that may be shown now. A tail that may begin a pattern is held back. */
  readonly push: (piece: string) => string;
  /** Returns the held-back text at the end of the stream. */
  readonly end: () => string;
  /** Returns whether a pattern was found. No more text is shown then. */
  readonly stopped: () => boolean;
}

/**
 * Creates a filter for stop patterns in a stream, independent of how it is cut. The shown text is the text before the
 * first pattern, and a part of a pattern is never shown. Only text that may become a pattern is held back. Empty
 * patterns are ignored.
 */
export const stopFilter = (patterns: readonly string[]): StopFilter => {
  const stops = patterns.filter((pattern) => pattern !== "");
  let waiting = "";
  let stopped = false;
  /** Shows the text up to a place, and then stops or holds back the rest. */
  const show = (text: string, until: number, stop: boolean): string => {
    stopped = stop;
    waiting = stop ? "" : text.slice(until);
    return text.slice(0, until);
  };
  return {
    push: (piece) => {
      if (stopped) return "";
      const text = waiting + piece;
      const found = firstOf(stops, text);
      const tail = text.length - tailOf(stops, text);
      // A pattern that begins earlier may still be incomplete.
      return found !== null && found <= tail ? show(text, found, true) : show(text, tail, false);
    },
    end: () => {
      const found = firstOf(stops, waiting);
      return show(waiting, found ?? waiting.length, stopped || found !== null);
    },
    stopped: () => stopped,
  };
};

/** Returns the place of the first pattern. */
const firstOf = (stops: readonly string[], text: string): number | null => {
  const places = stops.map((stop) => text.indexOf(stop)).filter((at) => at >= 0);
  return places.length === 0 ? null : Math.min(...places);
};

/** Returns the length of the tail that may begin a pattern. */
const tailOf = (stops: readonly string[], text: string): number => {
  const longest = Math.max(0, ...stops.map(({ length }) => length - 1));
  for (let length = Math.min(longest, text.length); length > 0; length--) {
    const tail = text.slice(text.length - length);
    if (stops.some((stop) => stop.startsWith(tail))) return length;
  }
  return 0;
};
