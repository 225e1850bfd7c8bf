import { describe } from "vitest";
import { fromLangChainMessages, toLangChainMessages } from "../../src/langchain/messages.ts";
import { keepsTheLaws } from "../laws.ts";

describe("laws", () => {
  keepsTheLaws({ write: toLangChainMessages, read: fromLangChainMessages });
});
