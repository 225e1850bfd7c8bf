import { z } from "zod";
import { agentFields } from "./file/agent-fields.ts";

/** The JSON Schema of the file of an agent, for editors; `@colloquy/agents/agent.schema.json` is the same as a file. */
export const agentFileSchema = (): object => z.toJSONSchema(agentFields, { io: "input" });
