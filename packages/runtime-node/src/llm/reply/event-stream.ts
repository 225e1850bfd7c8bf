import { createParser } from "eventsource-parser";

/** What takes the bytes of a server-sent event stream. */
export interface EventStream {
  /** The next bytes, cut anywhere. */
  readonly feed: (bytes: Uint8Array) => void;
  /** No more bytes come: what is left counts, even where its last line break is missing. */
  readonly end: () => void;
}

export interface EventStreamListener {
  /** The data of one event, and its name where it has one. */
  readonly onData: (data: string, name?: string) => void;
  /** A line that the format does not have. Some servers report errors so (`error: {…}`). */
  readonly onUnknownLine?: (line: string) => void;
}

/**
 * Reads server-sent events as they come. However the bytes are cut, the listener gets the same. Comments, ids
 * and lines that mean nothing are passed over; all three line ends are understood. Throws a `RangeError` at a
 * line of more than 67 million characters.
 */
export const eventStream = ({ onData, onUnknownLine }: EventStreamListener): EventStream => {
  const decoder = new TextDecoder();
  const parser = createParser({
    onEvent: (event) => onData(event.data, event.event),
    onError: (error) => {
      if (error.type === "unknown-field") onUnknownLine?.(error.line ?? "");
    },
  });
  // The parser drops an unknown line that it is given in pieces, so it is given whole lines only.
  let pieces: string[] = [];
  let waiting = 0;
  const feedText = (text: string): void => {
    const end = Math.max(text.lastIndexOf("\n"), text.lastIndexOf("\r")) + 1;
    if (end === 0) {
      waiting += text.length;
      if (waiting > lineCharacters)
        throw new RangeError(`a line of the stream is longer than ${lineCharacters} characters`);
      if (text !== "") pieces.push(text);
      return;
    }
    const lines = text.slice(0, end);
    parser.feed(pieces.length === 0 ? lines : pieces.join("") + lines);
    pieces = end === text.length ? [] : [text.slice(end)];
    waiting = text.length - end;
  };
  return {
    feed: (bytes) => feedText(decoder.decode(bytes, { stream: true })),
    end: () => feedText(`${decoder.decode()}\n\n`),
  };
};

/** Far more than a piece of any reply; a line without an end must come to one. */
const lineCharacters = 2 ** 26;
