/** Lets through a text that comes in pieces, up to the first of its stop patterns. */
export interface StopFilter {
  /** What may be shown now. A tail that may begin a pattern waits for what comes next. */
  readonly push: (piece: string) => string;
  /** What still waited, when nothing more comes. */
  readonly end: () => string;
  /** A pattern has come: nothing is shown any more. */
  readonly stopped: () => boolean;
}

/**
 * Filters stop patterns out of a stream, wherever it is cut: what is shown, put together, is the text before the first
 * pattern, and a piece of a pattern is never shown. No more is held back than what may still become one. Empty
 * patterns are none.
 */
export const stopFilter = (patterns: readonly string[]): StopFilter => {
  const stops = patterns.filter((pattern) => pattern !== "");
  let waiting = "";
  let stopped = false;
  /** Shows the text up to a place, and stops there or keeps the rest. */
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
      // One that begins before the one that was found may still be under way.
      return found !== null && found <= tail ? show(text, found, true) : show(text, tail, false);
    },
    end: () => {
      const found = firstOf(stops, waiting);
      return show(waiting, found ?? waiting.length, stopped || found !== null);
    },
    stopped: () => stopped,
  };
};

/** Where the first pattern begins. */
const firstOf = (stops: readonly string[], text: string): number | null => {
  const places = stops.map((stop) => text.indexOf(stop)).filter((at) => at >= 0);
  return places.length === 0 ? null : Math.min(...places);
};

/** How long the tail is with which a pattern may begin. */
const tailOf = (stops: readonly string[], text: string): number => {
  const longest = Math.max(0, ...stops.map(({ length }) => length - 1));
  for (let length = Math.min(longest, text.length); length > 0; length--) {
    const tail = text.slice(text.length - length);
    if (stops.some((stop) => stop.startsWith(tail))) return length;
  }
  return 0;
};
