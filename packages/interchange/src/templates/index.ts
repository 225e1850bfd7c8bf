export { answerFilter } from "./answer-filter.ts";
export { promptFormat, type Formatted, type PromptFormat } from "./prompt-format.ts";
export { renderThread, type RenderThreadOptions } from "./render-thread.ts";
export { stopFilter, type StopFilter } from "./stop-filter.ts";
export type { RenderOptions, Template } from "./template/template.ts";
export { templateCounter, type Tokenizer } from "./template-counter.ts";
