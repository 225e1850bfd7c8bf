import { BytePairEncodingCore } from "gpt-tokenizer/BytePairEncodingCore";
import type { EncodingParams } from "gpt-tokenizer/modelParams";

/** A byte-pair encoding, as far as counting needs it. */
export interface Tokenizer {
  /** Cuts a text into its pieces, which no token crosses. Takes time proportional to the text. */
  readonly piecesOf: (text: string) => Iterable<string>;
  /** Returns the tokens of one piece. Special tokens count as text. Takes time quadratic in the piece. */
  readonly encode: (piece: string) => readonly number[];
  /** Returns the text of a token, or its bytes if they are not whole characters. */
  readonly spell: (token: number) => string | Uint8Array;
}

/** Creates the tokenizer of an encoding that gpt-tokenizer describes. */
export const tokenizerOf = (encoding: EncodingParams): Tokenizer => {
  // Its input is cut already. Cutting part of a piece again could cut it at another place.
  const core = new BytePairEncodingCore({ ...encoding, tokenSplitRegex: wholeText, mergeCacheSize: cachedPieces });
  return {
    piecesOf: (text) => matchesOf(text, encoding.tokenSplitRegex),
    encode: (piece) => core.encodeNative(piece),
    spell: (token) => {
      for (const spelt of core.decodeNativeGenerator([token])) return spelt;
      return "";
    },
  };
};

const wholeText = /[^]+/gu;

/** The number of pieces with cached tokens: enough for the words of a language, and at most some megabytes. */
const cachedPieces = 10_000;

function* matchesOf(text: string, pattern: RegExp): Generator<string> {
  for (const [match] of text.matchAll(pattern)) yield match;
}
