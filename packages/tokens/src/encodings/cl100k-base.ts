import ranks from "gpt-tokenizer/bpeRanks/cl100k_base";
import { Cl100KBase } from "gpt-tokenizer/encodingParams/cl100k_base";
import { type Tokenizer, tokenizerOf } from "../tokenizer.ts";

export const cl100kBase: Tokenizer = tokenizerOf(Cl100KBase(ranks));
