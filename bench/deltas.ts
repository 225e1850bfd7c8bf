/** What a streamed reply consists of: a thousand pieces, as tokens are. */
export const deltas: readonly string[] = Array.from({ length: 1000 }, (_, index) => ` tok${index % 97}`);

export const streamedText: string = deltas.join("");
