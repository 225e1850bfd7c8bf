import { z } from "zod";
import { agentFields } from "./file/agent-fields.ts";

/**
 * Returns the JSON Schema of an agent's file, for editors; `@colloquy/sessions/agents/agent.schema.json` is the same as a file.
 */
export const agentFileSchema = (): object => z.toJSONSchema(agentFields, { io: "input" });
