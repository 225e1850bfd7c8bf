import { describe } from "vitest";
import { fromChatMessages, toChatMessages } from "../../src/interchange/chat-messages.ts";
import { keepsTheLaws } from "./laws.ts";

describe("laws", () => keepsTheLaws({ write: toChatMessages, read: fromChatMessages }));
