import * as cl100k from "gpt-tokenizer/encoding/cl100k_base";
import * as o200k from "gpt-tokenizer/encoding/o200k_base";
import type { Encoding } from "../../src/tokens/index.ts";

/** Encodes a text with gpt-tokenizer itself, with special tokens as text. Takes quadratic time for runs. */
export const plainEncode = (encoding: Encoding, text: string): readonly number[] =>
  (encoding === "o200k_base" ? o200k : cl100k).encode(text, { disallowedSpecial: new Set() });
