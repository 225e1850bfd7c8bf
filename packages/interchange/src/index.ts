export {
  type ChatMessage,
  type ChatMessageOptions,
  fromChatMessage,
  replyFromChatMessage,
  toChatMessage,
} from "./chat/message.ts";
export { type ExchangedConversation, fromChatExchanges } from "./chat/exchanges.ts";
export { fromChatMessages, toChatMessages } from "./chat/messages.ts";
export type { Exported } from "./exchange/export.ts";
export type { Imported, ImportOptions } from "./exchange/import-conversation.ts";
export { type JournalOptions, toJournal } from "./exchange/journal.ts";
export type { ImportProblem } from "./exchange/import-problem.ts";
export type { Loss } from "./exchange/reading.ts";
export { fromModelMessages, type ModelMessage, toModelMessages } from "./ai-sdk/model-messages.ts";
export { type ModelReplyOptions, replyFromModelMessages } from "./ai-sdk/reply.ts";
export { fromUiMessages, toUiMessages, type UiMessage } from "./ai-sdk/ui-messages.ts";
export type { UiMessagePart } from "./ai-sdk/ui-tool.ts";
export type { ResponseItem } from "./responses/content.ts";
export { fromResponseItems, toResponseItems } from "./responses/items.ts";
export { replyFromResponseItems } from "./responses/output.ts";
export { fromLangChainMessages, type LangChainMessage, toLangChainMessages } from "./langchain/messages.ts";
export { replyFromLangChainMessage } from "./langchain/reading.ts";
