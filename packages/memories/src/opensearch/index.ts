export type {
  Answer,
  Found,
  Info,
  Memory,
  MemoryClient,
  MemoryMessage,
  MemoryPage,
  MemoryProblem,
  MessageDraft,
} from "./client/memory-client.ts";
export { type MemoryClientOptions, openSearchMemory } from "./client/open-search-memory.ts";
export { importMemory, type MemoryText, memoryTexts } from "./mirror/import-memory.ts";
export { openSearchMirror, type OpenSearchMirror, type OpenSearchMirrorOptions, type Synced } from "./mirror/mirror.ts";
