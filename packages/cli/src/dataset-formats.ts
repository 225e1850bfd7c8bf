import {
  type Dataset,
  type Linearised,
  pairsOf,
  type PromptsWithoutPairs,
  toDpo,
  toSft,
  toTrl,
  toTrlPreferences,
} from "@colloquy/sessions/datasets";

/** The data set formats for writing, by the values of `--as`. */
export type WrittenDataset = "sft" | "dpo" | "trl" | "trl-messages" | "trl-preferences";

/** Rows; for a format of pairs, also the prompts without a pair. */
export interface WrittenRows {
  readonly dataset: Dataset;
  readonly pairs?: PromptsWithoutPairs;
}

/** Converts examples to rows of a format. */
export const rowsAs = (as: WrittenDataset, { examples }: Linearised): WrittenRows => {
  switch (as) {
    case "sft":
      return { dataset: toSft(examples) };
    case "trl":
      return { dataset: toTrl(examples) };
    case "trl-messages":
      return { dataset: toTrl(examples, { as: "messages" }) };
    case "dpo":
    case "trl-preferences": {
      const { pairs, leftOut } = pairsOf(examples);
      return { dataset: as === "dpo" ? toDpo(pairs) : toTrlPreferences(pairs), pairs: leftOut };
    }
  }
};

/** Returns whether a format consists of pairs, which need other branches. */
export const isOfPairs = (as: WrittenDataset): boolean => as === "dpo" || as === "trl-preferences";

export const writtenDatasets: readonly WrittenDataset[] = ["sft", "dpo", "trl", "trl-messages", "trl-preferences"];

export const isWrittenDataset = (name: string): name is WrittenDataset =>
  writtenDatasets.some((format) => format === name);
