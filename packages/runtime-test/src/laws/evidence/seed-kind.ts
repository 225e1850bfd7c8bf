import { kinds } from "@colloquy/host/store";

/** A seed of fast-check, as it reports them: also a negative one. */
export const seedKind: ReturnType<typeof kinds.word> = kinds.word("a whole number", (value) =>
  Number.isSafeInteger(value),
);
