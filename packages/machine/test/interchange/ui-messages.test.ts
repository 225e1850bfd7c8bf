import { describe } from "vitest";
import { fromUiMessages, toUiMessages } from "../../src/interchange/ui-messages.ts";
import { keepsTheLaws } from "./laws.ts";

describe("laws", () => keepsTheLaws({ write: toUiMessages, read: fromUiMessages }));
