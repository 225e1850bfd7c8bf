export type { Encoding } from "./encoding.ts";
export { gptCounter, type GptCounterOptions } from "./gpt-counter.ts";
