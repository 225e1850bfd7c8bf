import { BytePairEncodingCore } from "gpt-tokenizer/BytePairEncodingCore";
import type { EncodingParams } from "gpt-tokenizer/modelParams";

/** A byte-pair encoding, in the steps that counting needs. */
export interface Tokenizer {
  /** Cuts a text into its pieces, which no token crosses. Takes time in proportion to the text. */
  readonly piecesOf: (text: string) => Iterable<string>;
  /** The tokens of one piece, special tokens being text like any other. Takes time quadratic in the piece. */
  readonly encode: (piece: string) => readonly number[];
  /** What a token stands for: a text, or bytes that are no whole characters. */
  readonly spell: (token: number) => string | Uint8Array;
}

/** The tokenizer of an encoding as gpt-tokenizer describes it. */
export const tokenizerOf = (encoding: EncodingParams): Tokenizer => {
  // What is handed to it was cut already: cutting a part of a piece once more could cut it elsewhere.
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

/** Pieces of which the tokens are remembered: enough for the words of a language, and some megabytes at most. */
const cachedPieces = 10_000;

function* matchesOf(text: string, pattern: RegExp): Generator<string> {
  for (const [match] of text.matchAll(pattern)) yield match;
}
