import { describe } from "vitest";
import { fromModelMessages, toModelMessages } from "../../src/interchange/model-messages.ts";
import { keepsTheLaws } from "./laws.ts";

describe("laws", () => keepsTheLaws({ write: toModelMessages, read: fromModelMessages }));
