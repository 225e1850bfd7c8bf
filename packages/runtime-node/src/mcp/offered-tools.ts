import type { Client, RequestOptions } from "@modelcontextprotocol/client";
import { problemOfSchema } from "@colloquy/host/store";
import type { Json, JsonObject } from "@colloquy/machine";
import { z } from "zod";

/** A tool as its server lists it: untrusted text. */
export interface OfferedTool {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly inputSchema: { readonly type: "object"; readonly [name: string]: unknown };
  /** The server's hints, such as `readOnlyHint` and `destructiveHint`. Left out unless the server is trusted. */
  readonly annotations?: { readonly readOnlyHint?: boolean | undefined; readonly [name: string]: unknown } | undefined;
}

/** A tool that is left out, with the reason. */
export interface McpToolProblem {
  /** The server's name for it; null if it has none. */
  readonly name: string | null;
  readonly problem: string;
}

/** A server's list: the tools that can be declared, each name once, and those that cannot. */
export interface Offered {
  readonly tools: readonly OfferedTool[];
  readonly problems: readonly McpToolProblem[];
}

/**
 * Reads a server's list, page by page, and checks each tool separately, so that an invalid one does not affect the
 * others.
 *
 * @throws if there are more than 64 pages, or a page is invalid.
 */
export const listTools = async (client: Client, options: RequestOptions): Promise<Offered> => {
  const tools = new Map<string, OfferedTool>();
  const problems: McpToolProblem[] = [];
  let cursor: string | undefined;
  let count = 0;
  for (let pages = 0; pages < pagesMax; pages += 1) {
    const params = cursor === undefined ? {} : { cursor };
    const page = await client.request({ method: "tools/list", params }, pageSchema, options);
    for (const listed of page.tools) {
      if (++count > toolsMax) {
        problems.push({ name: null, problem: `it lists more than ${toolsMax} tools; the others are left out` });
        return { tools: [...tools.values()], problems };
      }
      const tool = readTool(listed, tools);
      if ("problem" in tool) problems.push(tool);
      else tools.set(tool.name, tool);
    }
    cursor = page.nextCursor;
    if (cursor === undefined) return { tools: [...tools.values()], problems };
  }
  throw new Error(`its list of tools has more than ${pagesMax} pages`);
};

const pagesMax = 64;

/** More than any provider supports. */
const toolsMax = 1_000;

const pageSchema = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.string().optional() });

const offeredSchema: z.ZodType<OfferedTool> = z.object({
  name: z.string().min(1),
  title: z.string().optional(),
  description: z.string().optional(),
  inputSchema: z.looseObject({ type: z.literal("object") }),
  annotations: z.looseObject({ readOnlyHint: z.boolean().optional() }).optional(),
});

const readTool = (listed: unknown, before: ReadonlyMap<string, OfferedTool>): OfferedTool | McpToolProblem => {
  const read = offeredSchema.safeParse(listed);
  if (!read.success) {
    const [issue] = read.error.issues;
    const named = z.object({ name: z.string() }).safeParse(listed);
    return { name: named.data?.name ?? null, problem: `${issue?.path.join(".") ?? ""}: ${issue?.message ?? ""}` };
  }
  const { name, inputSchema } = read.data;
  if (before.has(name)) return { name, problem: "it is listed twice; the first one counts" };
  const problem = problemOfSchema(inputSchema);
  return problem === null ? read.data : { name, problem: `inputSchema: ${problem}` };
};

/** Returns the schema of a tool's arguments for the model, which does not need `$schema`. */
export const parametersOf = ({ inputSchema: { $schema: _, ...parameters } }: OfferedTool): JsonObject =>
  // `problemOfSchema` has checked it.
  parameters as { readonly [name: string]: Json };
