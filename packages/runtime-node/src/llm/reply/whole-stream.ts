/** What takes a body and has decoded it in the end. */
interface Decoding<Decoded> {
  readonly feed: (bytes: Uint8Array) => void;
  readonly end: () => void;
  readonly decoded: () => Decoded;
}

/** Feeds a whole body: its bytes, or pieces of them cut anywhere. A source that fails makes the promise fail. */
export const decodedFrom = async <Decoded>(
  { feed, end, decoded }: Decoding<Decoded>,
  source: Uint8Array | AsyncIterable<Uint8Array>,
): Promise<Decoded> => {
  if (source instanceof Uint8Array) feed(source);
  else for await (const bytes of source) feed(bytes);
  end();
  return decoded();
};

/** Decodes a stream that came in one piece: some servers stream whether they were asked to or not. */
export const decodedWhole = <Decoded>({ feed, end, decoded }: Decoding<Decoded>, text: string): Decoded => {
  feed(new TextEncoder().encode(text));
  end();
  return decoded();
};

export const isStream = (text: string): boolean => /^\s*(data:|:|event:)/.test(text);
