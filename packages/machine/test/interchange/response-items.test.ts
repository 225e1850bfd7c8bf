import { describe } from "vitest";
import { fromResponseItems, toResponseItems } from "../../src/interchange/response-items.ts";
import { keepsTheLaws } from "./laws.ts";

describe("laws", () => keepsTheLaws({ write: toResponseItems, read: fromResponseItems }));
