export type {
  Found,
  Info,
  Memory,
  MemoryClient,
  MemoryMessage,
  MemoryPage,
  MessageDraft,
} from "./client/memory-client.ts";
export { type MemoryClientOptions, openSearchMemory } from "./client/open-search-memory.ts";
export type { Answer, MemoryProblem } from "./client/problem.ts";
