import ranks from "gpt-tokenizer/bpeRanks/o200k_base";
import { O200KBase } from "gpt-tokenizer/encodingParams/o200k_base";
import { type Tokenizer, tokenizerOf } from "../tokenizer.ts";

export const o200kBase: Tokenizer = tokenizerOf(O200KBase(ranks));
