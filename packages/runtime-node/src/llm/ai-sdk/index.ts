/** Any model of the AI SDK as the model of a conversation: `@colloquy/runtime-node/ai-sdk`. */
export { aiSdkModel, type AiSdkModelOptions } from "./model.ts";
export type { AiSdkLanguageModel } from "./sdk-model.ts";
